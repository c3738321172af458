// Random scenarios: several Yjs documents that edit, exchange updates late,
// twice, merged and in any order, and end up with everything. A scenario is
// returned as a log that another engine can replay step by step: see run.
import { createHash } from 'node:crypto'
import * as Y from 'yjs'
import { Random } from './random.mjs'
import { packType, randomForeign, randomText, randomValue, unpack } from './values.mjs'

const hex = bytes => Buffer.from(bytes).toString('hex')

// A Client is one document with what it has sent and what has happened to it
// since the last step.
class Client {
  constructor (id, foreign) {
    this.doc = new Y.Doc()
    this.doc.clientID = id
    this.foreign = foreign // makes changes that only Yjs can make
    this.sent = []
    this.updates = []
    this.text = this.doc.getText('t')
    this.map = this.doc.getMap('m')
    this.array = this.doc.getArray('a')
    this.xml = this.doc.getXmlFragment('x')
    this.doc.on('update', (u, _origin, _doc, tr) => {
      this.updates.push(hex(u))
      if (tr.local) this.sent.push(u)
    })
  }

  // step returns what the last step did, as part of the log.
  step () {
    const state = Y.encodeStateAsUpdate(this.doc)
    const done = {
      u: this.updates,
      h: createHash('sha1').update(state).digest('hex')
    }
    if (this.full || this.foreign) done.s = hex(state)
    this.updates = []
    return done
  }
}

// types lists the shared types of a client that can be edited, with their paths.
function types (client) {
  const found = [[['t'], client.text], [['m'], client.map], [['a'], client.array]]
  for (const [path, type] of found) {
    if (found.length > 12) break
    const children = type instanceof Y.Map
      ? [...type.entries()]
      : type instanceof Y.Array ? type.toArray().map((v, i) => [i, v]) : []
    for (const [key, child] of children) {
      if (child instanceof Y.Text && !(child instanceof Y.XmlText)) found.push([[...path, key], child])
      else if (child instanceof Y.Map && !(child instanceof Y.XmlHook)) found.push([[...path, key], child])
      else if (child instanceof Y.Array) found.push([[...path, key], child])
    }
  }
  return found
}

// units returns the UTF-16 units of a text, with a space for an embed.
const units = text => text.toDelta().map(op => (typeof op.insert === 'string' ? op.insert : ' ')).join('')

// cuts tells whether pos lies inside a surrogate pair.
function cuts (str, pos) {
  const high = str.charCodeAt(pos - 1)
  const low = str.charCodeAt(pos)
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
}

function randomTextOp (rnd, path, text, mayCut) {
  const str = units(text)
  let pos = rnd.below(str.length + 1)
  if (!mayCut && cuts(str, pos)) pos--
  if (rnd.chance(60) || pos === str.length) return ['ti', path, pos, randomText(rnd)]
  let end = Math.min(str.length, pos + 1 + rnd.below(6))
  if (!mayCut && cuts(str, end)) end++
  return ['td', path, pos, end - pos]
}

function randomMapOp (rnd, path, foreign) {
  const key = 'k' + rnd.below(4)
  if (rnd.chance(25)) return ['md', path, key]
  return ['ms', path, key, foreign && rnd.chance(30) ? randomForeign(rnd) : randomValue(rnd)]
}

function randomArrayOp (rnd, path, array, foreign) {
  const pos = rnd.below(array.length + 1)
  if (rnd.chance(35) && pos < array.length) {
    return ['ad', path, pos, Math.min(array.length - pos, 1 + rnd.below(3))]
  }
  const value = () => {
    const v = foreign && rnd.chance(20) ? randomForeign(rnd) : randomValue(rnd, 0, true)
    return v !== null && typeof v === 'object' && '$n' in v ? 1 : v // no bigint in an array
  }
  const values = Array.from({ length: 1 + rnd.below(3) }, value)
  return rnd.chance(20) ? ['ap', path, values] : ['ai', path, pos, values]
}

// randomOp draws an operation. The engine edits formatted text too, but leaves formats without effect there, which Yjs
// removes. So only a foreign client edits such a text.
function randomOp (rnd, client) {
  const [path, type] = rnd.pick(types(client).filter(([, type]) => client.foreign || !type._hasFormatting))
  if (type instanceof Y.Text) return randomTextOp(rnd, path, type, client.foreign)
  if (type instanceof Y.Map) return randomMapOp(rnd, path, client.foreign)
  return randomArrayOp(rnd, path, type, client.foreign)
}

function resolve (client, path) {
  let type = { t: client.text, m: client.map, a: client.array }[path[0]]
  for (const key of path.slice(1)) type = type.get(key)
  return type
}

function perform (client, [kind, path, ...args]) {
  const type = resolve(client, path)
  switch (kind) {
    case 'ti': return type.insert(args[0], args[1])
    case 'td': return type.delete(args[0], args[1])
    case 'ms': return type.set(args[0], unpack(args[1]))
    case 'md': return type.delete(args[0])
    case 'ai': return type.insert(args[0], args[1].map(unpack))
    case 'ap': return type.push(args[0].map(unpack))
    case 'ad': return type.delete(args[0], args[1])
  }
}

const formats = [{ b: true }, { b: null }, { i: true }, { link: { href: 'x' } }, { c: 'red' }, { c: 'blue', b: true }, { n: 1.5 }]

// formatWhole formats a range that cuts no surrogate pair. (A format that turns
// out to change nothing still replaces the halves of a pair that it cuts, and
// tells nobody: Yjs documents diverge then.)
function formatWhole (rnd, text, pos) {
  const str = units(text)
  if (cuts(str, pos)) pos--
  let end = pos + 1 + rnd.below(5)
  if (cuts(str, end)) end++
  text.format(pos, end - pos, rnd.pick(formats))
}

// performForeign makes a change for which the log needs no description.
function performForeign (rnd, client) {
  const text = client.text
  const pos = rnd.below(text.length + 1)
  switch (rnd.below(6)) {
    case 0: return formatWhole(rnd, text, pos)
    case 1: return text.insert(pos, randomText(rnd), rnd.pick(formats))
    case 2: return text.insertEmbed(pos, { img: rnd.below(9) }, rnd.pick(formats))
    case 3: return text.applyDelta([{ retain: pos }, { insert: 'δ' }, { delete: 2 }])
    case 4: {
      const el = new Y.XmlElement('p')
      el.setAttribute('k' + rnd.below(3), randomText(rnd))
      return client.xml.insert(rnd.below(client.xml.length + 1), [el, new Y.XmlText('t')])
    }
    default: return client.xml.length > 0 && client.xml.delete(rnd.below(client.xml.length), 1)
  }
}

function localStep (rnd, clients, c) {
  const client = clients[c]
  const ops = []
  client.doc.transact(() => {
    for (let n = 1 + rnd.below(3); n > 0; n--) {
      if (client.foreign && rnd.chance(50)) {
        performForeign(rnd, client)
      } else {
        const op = randomOp(rnd, client)
        ops.push(op)
        perform(client, op)
      }
    }
  })
  return { k: client.foreign ? 'foreign' : 'local', c, ops: client.foreign ? undefined : ops, ...client.step() }
}

// deliveryStep hands client c something of what another one has sent.
function deliveryStep (rnd, clients, c, reachable) {
  const others = clients.filter((o, i) => i !== c && reachable(i, c) && o.sent.length > 0)
  if (others.length === 0) return null
  const from = rnd.pick(others)
  const client = clients[c]
  const step = { k: 'apply', c }
  let update
  switch (rnd.below(4)) {
    case 0: case 1: update = rnd.pick(from.sent); break
    case 2: {
      const parts = Array.from({ length: 2 + rnd.below(4) }, () => rnd.pick(from.sent))
      update = Y.mergeUpdates(parts)
      step.merge = parts.map(hex)
      break
    }
    default: {
      const sv = Y.encodeStateVector(client.doc)
      update = Y.encodeStateAsUpdate(from.doc, sv)
      step.from = clients.indexOf(from)
      step.sv = hex(sv)
    }
  }
  if (rnd.chance(15)) {
    const sv = Y.encodeStateVector(client.doc)
    step.diff = [hex(update), hex(sv)]
    update = Y.diffUpdate(update, sv)
    delete step.merge
    delete step.from
  }
  Y.applyUpdate(client.doc, update)
  return { ...step, update: hex(update), ...client.step() }
}

// exchange gives everybody everything, one full state after the other.
function exchange (clients, log) {
  for (let round = 0; round < 2; round++) {
    clients.forEach((from, f) => clients.forEach((to, c) => {
      if (f === c) return
      const sv = Y.encodeStateVector(to.doc)
      const update = Y.encodeStateAsUpdate(from.doc, sv)
      Y.applyUpdate(to.doc, update)
      log.push({ k: 'apply', c, from: f, sv: hex(sv), update: hex(update), ...to.step() })
    }))
  }
}

const ids = rnd => {
  switch (rnd.below(4)) {
    case 0: return 1 + rnd.below(300)
    case 1: return Number.MAX_SAFE_INTEGER - rnd.below(1000)
    case 2: return 2 ** 32 + rnd.uint32()
    default: return 1 + rnd.below(2 ** 32 - 1)
  }
}

// run plays the scenario of a seed and returns its log:
//   clients  [{id, foreign}]
//   steps    [{k, c, ...what to do, u: updates emitted, h: hash of the state}],
//            of foreign clients, and with full set of all, also s: the state
//   final    [{json, sv, state, snapshot}] of each client
export function run (seed, { steps = 40, full = false } = {}) {
  const rnd = new Random(seed)
  const clients = []
  const used = new Set()
  for (let n = 2 + rnd.below(4); n > 0; n--) {
    let id = ids(rnd)
    while (used.has(id)) id = ids(rnd)
    used.add(id)
    clients.push(new Client(id, rnd.chance(30)))
    clients.at(-1).full = full
  }
  const log = []
  const partition = rnd.chance(40) ? clients.map(() => rnd.below(2)) : null
  for (let i = 0; i < steps; i++) {
    const apart = partition !== null && i > steps / 4 && i < 3 * steps / 4
    const reachable = (a, b) => !apart || partition[a] === partition[b]
    const c = rnd.below(clients.length)
    const step = rnd.chance(55) ? localStep(rnd, clients, c) : deliveryStep(rnd, clients, c, reachable)
    if (step !== null) log.push(step)
  }
  exchange(clients, log)
  return {
    seed,
    clients: clients.map(c => ({ id: c.doc.clientID, foreign: c.foreign })),
    steps: log,
    final: clients.map(({ doc, text, map, array }) => ({
      json: { t: text.toString(), m: packType(map).$m, a: packType(array).$a },
      sv: hex(Y.encodeStateVector(doc)),
      state: hex(Y.encodeStateAsUpdate(doc)),
      snapshot: hex(Y.encodeSnapshot(Y.snapshot(doc)))
    }))
  }
}
