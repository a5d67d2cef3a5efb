// A consumer of the feed (docs/feed.md): npm ci; node consumer.js mqtts://USER:PASSWORD@BROKER ROOT FILE [KEY.pem]
// FILE stands for your database: a line for each message, its topic and its bytes, in order. It is read at each start.
const { createHash, createPublicKey, randomUUID, verify } = require('crypto'); const fs = require('fs')
const CLOSED = /^([^]*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"signature":"([A-Za-z0-9+/]{86}==)")?\}$/
class Fault extends Error {}
const fault = (is, name) => { if (is) throw new Fault(name) }
function read (root, topic, payload, key) { // one message, checked by itself
  let body; try { body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) } catch {}
  fault(payload.length > 65536 || !Number.isSafeInteger(body?.seq) || body.seq < 1, 'malformed')
  const [, content, prev, hash, signature] = CLOSED.exec(payload.toString('latin1')) ?? []
  fault(!content || createHash('sha256').update(content, 'latin1').digest('hex') !== hash, 'edited')
  fault(`wheel/v1/${body.site}/${body.table}` !== root || body.schema !== `${topic}/1`, 'foreign')
  fault('test' in body && body.test !== false, 'test') // a bench table's: never pay it
  const raw = Buffer.from(signature ?? '', 'base64') // and no other spelling of it
  fault(key && (raw.toString('base64') !== signature || !verify(null, Buffer.from(hash), key, raw)), 'signature')
  const lacks = body.gap?.last_seq === body.seq - 1 && body.gap.first_seq > 0 // the wheel has none of these any more
  return { seq: body.seq, topic, payload, body, prev, hash, first: lacks ? body.gap.first_seq : body.seq }
}
class Chain { // what is stored, and whether a message may be stored next
  seq = 0; hash = '0'.repeat(64); known = new Map()
  judge ({ seq, first, prev, hash }) {
    if (seq <= this.seq) { fault((this.known.get(seq) ?? hash) !== hash, 'conflict'); return 'repeat' }
    if (first > this.seq + 1) return 'gap'
    fault(first === seq && prev !== this.hash, 'chain')
    return seq > this.seq + 1 ? 'lost' : 'next'
  }
  stored ({ seq, hash }) { Object.assign(this, { seq, hash }).known.set(seq, hash).delete(seq - 10000) }
}
function run (url, root, path, keyFile) {
  const key = keyFile && createPublicKey(fs.readFileSync(keyFile))
  const file = fs.openSync(path, 'as'); const kept = fs.readFileSync(path); const chain = new Chain() // s: to the disk
  fs.ftruncateSync(file, kept.lastIndexOf(10) + 1) // a power cut may have left half a line
  for (const line of kept.toString('latin1').split('\n').slice(0, -1)) {
    const message = read(root, line.split(' ')[0], Buffer.from(line.slice(line.indexOf(' ') + 1), 'latin1'), key)
    chain.judge(message); chain.stored(message)
  }
  const client = require('mqtt').connect(url); const user = client.options.username ?? 'settlement'
  const now = () => performance.now(); let heardMs = now(); let askedMs = -1e9; let dueMs = 0; let waitMs = 2000
  let wanting = false; let owesAck = false; let asked; let from
  const want = () => { if (!wanting) dueMs = Math.max(now() + 500, askedMs + waitMs); wanting = true }
  function take (message) {
    const verdict = chain.judge(message)
    if (verdict === 'gap') return want()
    owesAck = true // of a repeat too: the wheel has not heard the last ack
    if (verdict === 'repeat') return
    if (verdict === 'lost') console.error(`lost: seq ${chain.seq + 1} to ${message.seq - 1}, settle by other records`)
    fs.writeSync(file, Buffer.concat([Buffer.from(message.topic + ' '), message.payload, Buffer.from('\n')])) // and pay
    chain.stored(message); waitMs = 2000; heardMs = now()
    if (asked) dueMs = now() + 10000 // the answer comes behind all that it brings
  }
  function answered ({ id, user: whose, name, last_seq: last }) {
    if (!asked || id !== asked || whose !== user || name !== 'resend') return
    asked = undefined; dueMs = now() + waitMs
    if (last < from - 1) console.error(`rolled back: ${from - 1} is stored, the wheel's last is ${last}: call a person`)
    if (Number.isSafeInteger(last)) wanting = last > chain.seq
  }
  client.on('error', error => console.error(error.message)).on('connect', () => { wanting = false; want() })
  client.subscribe(['result', 'void', 'ruling', 'table', 'reply'].map(leaf => `${root}/${leaf}`), { qos: 1 }, refused =>
    refused && console.error(`the broker refuses a topic: ${refused.message}`)) // again at each connection, by mqtt
  client.on('message', (topic, payload) => {
    try {
      if (topic === `${root}/reply`) answered(JSON.parse(payload) ?? {})
      else if (payload.length) take(read(root, topic.slice(root.length + 1), payload, key))
    } catch (error) {
      if (!(error instanceof Fault || error instanceof SyntaxError)) throw error // the disk, say: end, and start again
      console.error(`refused: ${error.message}, ${topic}`); want()
    }
  })
  setInterval(() => { // ten times a second: one ack for all that came
    if (owesAck) client.publish(`${root}/ack`, `{"seq":${chain.seq}}`, { qos: 1, retain: true })
    if (now() > heardMs + 600000) { heardMs = now(); want() } // the broker may have kept the last one back
    owesAck = false; if (!wanting || now() < dueMs || !client.connected) return
    askedMs = now(); dueMs = askedMs + Math.max(waitMs, 10000); waitMs = Math.min(waitMs * 2, 300000)
    asked = `feed-${randomUUID()}`; from = chain.seq + 1
    const question = { id: asked, by: 'consumer.js', reason: `is there seq ${from}?`, from_seq: from }
    client.publish(`${root}/cmd/${user}/resend`, JSON.stringify(question), { qos: 1 })
  }, 100)
}
module.exports = { Chain, Fault, read }
if (require.main === module) run(...process.argv.slice(2))
