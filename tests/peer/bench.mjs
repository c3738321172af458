// The Yjs half of the comparison that BenchmarkYjs prints. Each workload runs
// in a process of its own, so that "cold" means the same for both engines:
//
//   node --expose-gc bench.mjs WORKLOAD DIR
//
// DIR holds what the Go half has written. The result is one JSON object.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Y from 'yjs'

const [, , workload, dir] = process.argv
const read = name => new Uint8Array(readFileSync(join(dir, name)))
const now = () => performance.now()

function time (fn) {
  const start = now()
  fn()
  return now() - start
}

function median (runs, fn) {
  const times = Array.from({ length: runs }, () => time(fn)).sort((a, b) => a - b)
  return times[runs >> 1]
}

// replay makes the edits of a trace, a flat list of [client, position, units
// to delete, character to insert or 0], one transaction each.
function replay (doc, trace) {
  const text = doc.getText('t')
  for (let i = 0; i < trace.length; i += 4) {
    if (doc.clientID !== trace[i]) doc.clientID = trace[i]
    if (trace[i + 2] > 0) text.delete(trace[i + 1], trace[i + 2])
    else text.insert(trace[i + 1], String.fromCharCode(trace[i + 3]))
  }
}

function load (update) {
  const doc = new Y.Doc()
  doc.getText('t')
  Y.applyUpdate(doc, update)
  return doc
}

// collect runs the collector until nothing more comes of it.
async function collect () {
  for (let i = 0; i < 4; i++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

// heapOf returns how much live heap one result of make holds.
async function heapOf (make) {
  const count = 5
  const before = await collect()
  const kept = Array.from({ length: count }, make)
  const after = await collect()
  return kept.length === count ? (after - before) / count : NaN
}

// split cuts a file of length-prefixed (uint32 LE) updates.
function split (file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const out = []
  for (let off = 0; off < file.byteLength;) {
    const n = view.getUint32(off, true)
    out.push(file.subarray(off + 4, off + 4 + n))
    off += 4 + n
  }
  return out
}

const workloads = {
  // edit replays a trace and keeps the state for the other workloads.
  edit (name) {
    const trace = JSON.parse(readFileSync(join(dir, name + '.json')))
    const doc = new Y.Doc({ gc: true })
    const ms = time(() => replay(doc, trace))
    const state = Y.encodeStateAsUpdate(doc)
    writeFileSync(join(dir, name + '.state'), state)
    return { ms, structs: [...doc.store.clients.values()].reduce((n, s) => n + s.length, 0), length: doc.getText('t').length, bytes: state.length }
  },
  encode (name) {
    const doc = load(read(name + '.state'))
    Y.encodeStateAsUpdate(doc)
    return { ms: median(15, () => Y.encodeStateAsUpdate(doc)) }
  },
  load (name) {
    const state = read(name + '.state')
    load(state)
    return { ms: median(15, () => load(state)) }
  },
  async heap (name) {
    const state = read(name + '.state')
    load(state)
    return { bytes: await heapOf(() => load(state)) }
  },
  notes (name) {
    const notes = split(read(name + '.notes'))
    const kept = []
    return { ms: time(() => { for (const n of notes) kept.push(load(n)) }), count: kept.length }
  },
  remote (name) {
    const doc = load(read(name + '.state'))
    const updates = split(read(name + '.updates'))
    return { ms: time(() => { for (const u of updates) Y.applyUpdate(doc, u) }), length: doc.getText('t').length }
  }
}

const [kind, name] = workload.split(':')
console.log(JSON.stringify(await workloads[kind](name)))
