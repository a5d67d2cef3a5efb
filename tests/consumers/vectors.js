// The JavaScript consumer on the cases of docs/feed-vectors.json: node vectors.js KEY.pem < JSON, a finding a line.
const { createPublicKey } = require('crypto'); const fs = require('fs')
const { Chain, Fault, read } = require('../../docs/feed/message.js')
const { root, messages, cases, question, replies } = JSON.parse(fs.readFileSync(0, 'utf8'))
const bytes = one => Buffer.from(one.payload ?? one.base64, one.base64 && 'base64')
const key = createPublicKey(fs.readFileSync(process.argv[2]))
for (const one of cases) {
  const chain = new Chain()
  for (const message of messages.slice(0, one.stored)) chain.stored(message)
  try {
    console.log(chain.judge(read(root, one.topic, bytes(one), one.key && key)))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.log(error.message)
  }
}
for (const one of replies) {
  const chain = Object.assign(new Chain(), { seq: one.stored })
  const id = one.asked_again ? 'another' : question.id
  console.log(chain.answered(bytes(one), question.user, id, question.from_seq))
}
