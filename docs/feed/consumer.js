// A consumer of the feed (docs/feed.md): npm ci; node consumer.js mqtts://USER:PASSWORD@BROKER ROOT FILE [KEY.pem]
// FILE is in place of your database: a line for each message, its topic and its bytes, in order. Each start reads it.
const { createPublicKey, randomUUID } = require('crypto'); const fs = require('fs')
const { Chain, Fault, read } = require('./message.js')
function run (url, root, path, keyFile) {
  const key = keyFile && createPublicKey(fs.readFileSync(keyFile))
  const file = fs.openSync(path, 'as'); const kept = fs.readFileSync(path); const chain = new Chain() // s: to the disk
  fs.ftruncateSync(file, kept.lastIndexOf(10) + 1) // a power cut may have left half a line
  for (const line of kept.toString('latin1').split('\n').slice(0, -1)) {
    const message = read(root, line.split(' ')[0], Buffer.from(line.slice(line.indexOf(' ') + 1), 'latin1'), key)
    chain.judge(message); chain.stored(message)
  }
  const client = require('mqtt').connect(url); const user = client.options.username ?? 'settlement'
  const now = () => performance.now(); let storedMs = 0; let askedMs = -1e9; let waitMs = 10000; let tries = 0
  let unsure = false; let beyond = 0; let owesAck = false; let firstMs; let asked; let from = 0
  const laterMs = () => Math.max(askedMs, storedMs) + waitMs
  const dueMs = () => {
    if (firstMs ?? asked) return firstMs ?? laterMs() // if a question is open then, its reply is missing
    if (beyond > chain.seq && chain.seq >= from) return askedMs + 1000 // the last question brought messages
    return unsure || beyond > chain.seq ? laterMs() : Math.max(askedMs, storedMs) + 600000
  }
  function take (message) {
    const verdict = chain.judge(message)
    if (verdict === 'gap') { beyond = Math.max(beyond, message.seq); return }
    owesAck = true // also for a repeat: the wheel has not heard the last ack
    if (verdict === 'repeat') return
    if (verdict === 'lost') console.error(`lost: seq ${chain.seq + 1} to ${message.seq - 1}, settle by other records`)
    fs.writeSync(file, Buffer.concat([Buffer.from(message.topic + ' '), message.payload, Buffer.from('\n')])) // and pay
    chain.stored(message); storedMs = now(); waitMs = 10000; tries = 0
  }
  function answered (payload) {
    const finds = asked ? chain.answered(payload, user, asked, from) : 'drop'
    if (finds === 'drop') return
    asked = undefined; unsure ||= finds === 'test' || finds === 'refused'
    if (finds === 'more') beyond = Math.max(beyond, chain.seq + 1)
    if (finds === 'all') { waitMs = 10000; tries = 0 }
    if (finds !== 'all' && finds !== 'more') console.error(`the reply to seq ${from}: ${finds}`) // tell a person
  }
  client.on('error', error => console.error(error.message))
  client.on('connect', () => { asked = undefined; tries = 0; firstMs = now() + 500; owesAck = chain.seq > 0 })
  client.subscribe(['result', 'void', 'ruling', 'table', 'reply'].map(leaf => `${root}/${leaf}`), { qos: 1 }, refused =>
    refused && console.error(`the broker refuses a topic: ${refused.message}`)) // mqtt repeats this for each connection
  client.on('message', (topic, payload) => {
    try {
      if (topic === `${root}/reply`) answered(payload)
      else take(read(root, topic.slice(root.length + 1), payload, key))
    } catch (error) {
      if (!(error instanceof Fault)) throw error // for example the disk failed: end, and start again
      console.error(`refused: ${error.message}, ${topic}`)
      unsure ||= error.message !== 'conflict'
    }
  })
  setInterval(() => { // ten times a second; one ack covers all messages that came
    if (owesAck) client.publish(`${root}/ack`, `{"seq":${chain.seq}}`, { qos: 1, retain: true })
    owesAck = false; if (now() < dueMs() || !client.connected) return
    if (asked) console.error(`no reply to seq ${from}`)
    waitMs = Math.min(10000 * 2 ** tries++, 300000); askedMs = now(); unsure = false; beyond = 0; firstMs = undefined
    asked = `feed-${randomUUID()}`; from = chain.seq + 1
    const question = { id: asked, by: 'consumer.js', reason: `is there seq ${from}?`, from_seq: from }
    client.publish(`${root}/cmd/${user}/resend`, JSON.stringify(question), { qos: 1 })
  }, 100)
}
run(...process.argv.slice(2))
