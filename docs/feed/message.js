// Checks one message of the feed by itself, and decides whether it may be stored next (docs/feed.md). Needs only Node.
const { createHash, verify } = require('crypto')
const CLOSED = /^([^]*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"signature":"([A-Za-z0-9+/]{86}==)")?\}$/
class Fault extends Error {}
const fault = (is, name) => { if (is) throw new Fault(name) }
function parse (payload) { // reads JSON; refuses a name that an object has twice, and a text with a NUL
  fault(payload.length > 65536, 'malformed')
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload); let names = -1 // no root
  const body = JSON.parse(text, function (_, value) { names += !Array.isArray(this); return value })
  const strings = text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g) ?? []
  fault(strings.filter(each => each.endsWith(':')).length > names || /(?<!\\)(?:\\\\)*\\u0000/.test(text), 'malformed')
  const isWhole = (name, value, least = 1) => // also in the text: 2.0 is not a whole number
    Number.isSafeInteger(value) && value >= least && RegExp(`"${name}"\\s*:\\s*${value}\\s*[,}]`).test(text)
  return { body, isWhole }
}
function read (root, topic, payload, key) { // checks one message by itself, and returns it
  let body, isWhole; try { ({ body, isWhole } = parse(payload)) } catch {}
  fault(!isWhole?.('seq', body?.seq), 'malformed')
  const { gap, seq } = body
  fault(gap !== undefined && !(isWhole('first_seq', gap?.first_seq) && isWhole('last_seq', gap.last_seq) &&
    gap.first_seq <= gap.last_seq && gap.last_seq === seq - 1), 'malformed')
  const [, content, prev, hash, signature] = CLOSED.exec(payload.toString('latin1')) ?? []
  fault(!content || createHash('sha256').update(content, 'latin1').digest('hex') !== hash, 'edited')
  const own = [...root.split('/').slice(2), `${topic}/1`] // compared as texts: ["a"] is not "a"
  fault([body.site, body.table, body.schema].some((each, n) => each !== own[n]), 'foreign')
  fault('test' in body && body.test !== false, 'test') // from a bench table: never pay it
  const raw = Buffer.from(signature ?? '', 'base64') // below, other spellings of the same bytes are refused
  fault(key && (raw.toString('base64') !== signature || !verify(null, Buffer.from(hash), key, raw)), 'signature')
  fault(topic === 'result' && !(isWhole('number', body.number, 0) && body.number <= 37), 'malformed') // nothing to pay
  const isCoup = isWhole('coup', body.coup, 0) && typeof body.coup_id === 'string'
  fault((topic === 'result' || topic === 'void') && !isCoup, 'malformed')
  return { seq, topic, payload, body, prev, hash, first: gap?.first_seq ?? seq } // the wheel lost those from `first` on
}
class Chain { // knows what is stored, and decides whether a message may be stored next
  seq = 0; hash = '0'.repeat(64); known = new Map()
  judge ({ seq, first, prev, hash }) {
    if (seq <= this.seq) { fault((this.known.get(seq) ?? hash) !== hash, 'conflict'); return 'repeat' }
    if (first > this.seq + 1) return 'gap'
    fault(first === seq && prev !== this.hash, 'chain')
    return seq > this.seq + 1 ? 'lost' : 'next'
  }
  answered (payload, user, id, from) { // returns what a reply says to the open question
    let body, isWhole; try { ({ body, isWhole } = parse(payload)) } catch { return 'drop' }
    if (body?.id !== id || body.user !== user || body.name !== 'resend') return 'drop'
    if ('test' in body && body.test !== false) return 'test'
    if (!isWhole('last_seq', body.last_seq, 0)) return 'refused'
    return body.last_seq < from - 1 ? 'rolled_back' : body.last_seq > this.seq ? 'more' : 'all'
  }
  stored ({ seq, hash }) { Object.assign(this, { seq, hash }).known.set(seq, hash).delete(seq - 10000) }
}
module.exports = { Chain, Fault, read }
