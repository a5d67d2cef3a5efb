// One message of the feed, checked by itself, and what may be stored next (docs/feed.md). It needs nothing but Node.
const { createHash, verify } = require('crypto')
const CLOSED = /^([^]*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"signature":"([A-Za-z0-9+/]{86}==)")?\}$/
class Fault extends Error {}
const fault = (is, name) => { if (is) throw new Fault(name) }
function parse (payload) { // JSON in which no name stands twice in one object, and no text holds a NUL
  fault(payload.length > 65536, 'malformed')
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload); let names = -1 // the root's
  const body = JSON.parse(text, function (_, value) { names += !Array.isArray(this); return value })
  const strings = text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g) ?? []
  fault(strings.filter(each => each.endsWith(':')).length > names || /(?<!\\)(?:\\\\)*\\u0000/.test(text), 'malformed')
  const isWhole = (name, value, least = 1) => // also as it is written: 2.0 is none
    Number.isSafeInteger(value) && value >= least && RegExp(`"${name}"\\s*:\\s*${value}\\s*[,}]`).test(text)
  return { body, isWhole }
}
function read (root, topic, payload, key) { // one message, checked by itself
  let body, isWhole; try { ({ body, isWhole } = parse(payload)) } catch {}
  fault(!isWhole?.('seq', body?.seq), 'malformed')
  const { gap, seq } = body
  fault(gap !== undefined && !(isWhole('first_seq', gap?.first_seq) && isWhole('last_seq', gap.last_seq) &&
    gap.first_seq <= gap.last_seq && gap.last_seq === seq - 1), 'malformed')
  const [, content, prev, hash, signature] = CLOSED.exec(payload.toString('latin1')) ?? []
  fault(!content || createHash('sha256').update(content, 'latin1').digest('hex') !== hash, 'edited')
  const own = [...root.split('/').slice(2), `${topic}/1`] // compared as texts: ["a"] is not "a"
  fault([body.site, body.table, body.schema].some((each, n) => each !== own[n]), 'foreign')
  fault('test' in body && body.test !== false, 'test') // a bench table's: never pay it
  const raw = Buffer.from(signature ?? '', 'base64') // and no other spelling of it
  fault(key && (raw.toString('base64') !== signature || !verify(null, Buffer.from(hash), key, raw)), 'signature')
  fault(topic === 'result' && !(isWhole('number', body.number, 0) && body.number <= 37), 'malformed') // nothing to pay
  const isCoup = isWhole('coup', body.coup, 0) && typeof body.coup_id === 'string'
  fault((topic === 'result' || topic === 'void') && !isCoup, 'malformed')
  return { seq, topic, payload, body, prev, hash, first: gap?.first_seq ?? seq } // it has none of these any more
}
class Chain { // what is stored, and whether a message may be stored next
  seq = 0; hash = '0'.repeat(64); known = new Map()
  judge ({ seq, first, prev, hash }) {
    if (seq <= this.seq) { fault((this.known.get(seq) ?? hash) !== hash, 'conflict'); return 'repeat' }
    if (first > this.seq + 1) return 'gap'
    fault(first === seq && prev !== this.hash, 'chain')
    return seq > this.seq + 1 ? 'lost' : 'next'
  }
  answered (payload, user, id, from) { // what a reply says to the question that is open
    let body, isWhole; try { ({ body, isWhole } = parse(payload)) } catch { return 'drop' }
    if (body?.id !== id || body.user !== user || body.name !== 'resend') return 'drop'
    if ('test' in body && body.test !== false) return 'test'
    if (!isWhole('last_seq', body.last_seq, 0)) return 'refused'
    return body.last_seq < from - 1 ? 'rolled_back' : body.last_seq > this.seq ? 'more' : 'all'
  }
  stored ({ seq, hash }) { Object.assign(this, { seq, hash }).known.set(seq, hash).delete(seq - 10000) }
}
module.exports = { Chain, Fault, read }
