// The Yjs side of the differential tests. It reads one JSON request per line
// and answers each with one line:
//   {"cmd":"scenario","seed":n}               the log of a random scenario
//   {"cmd":"load","updates":[hex, ...]}       the content of a new document
import { createInterface } from 'node:readline'
import * as Y from 'yjs'
import { run } from './scenario.mjs'
import { packType } from './values.mjs'

const bytes = hex => new Uint8Array(Buffer.from(hex, 'hex'))
const hex = b => Buffer.from(b).toString('hex')

// load applies updates to a new document, typed roots and all, and returns
// what it then holds.
function load (updates) {
  const doc = new Y.Doc()
  const [text, map, array] = [doc.getText('t'), doc.getMap('m'), doc.getArray('a')]
  for (const u of updates) Y.applyUpdate(doc, bytes(u))
  return {
    json: { t: text.toString(), m: packType(map).$m, a: packType(array).$a },
    sv: hex(Y.encodeStateVector(doc))
  }
}

function answer (request) {
  switch (request.cmd) {
    case 'scenario': return run(request.seed, request)
    case 'load': return load(request.updates)
    default: throw new Error(`unknown command ${request.cmd}`)
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let out
  try {
    out = answer(JSON.parse(line))
  } catch (err) {
    out = { error: String(err.stack) }
  }
  process.stdout.write(JSON.stringify(out) + '\n')
}
