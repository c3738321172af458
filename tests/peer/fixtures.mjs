// Writes the fixtures of the engine to standard output: small histories made
// by Yjs that cover every kind of content, one JSON object per line.
//
//   node fixtures.mjs > ../../bridge/ycrdt/testdata/yjs-13.6.33.jsonl
//
// name     what it shows
// updates  the update events, in order
// state    encodeStateAsUpdate of the document
// sv       its state vector
// snapshot its snapshot
// json     content of the text "t", the map "m" and the array "a", in log form
import * as Y from 'yjs'
import { packType, unpack } from './values.mjs'

const hex = bytes => Buffer.from(bytes).toString('hex')

function document (id) {
  const doc = new Y.Doc()
  doc.clientID = id
  return { doc, t: doc.getText('t'), m: doc.getMap('m'), a: doc.getArray('a'), x: doc.getXmlFragment('x') }
}

// fixture records what the steps do to one document, one transaction each.
function fixture (name, ...steps) {
  const d = document(7)
  const updates = []
  d.doc.on('update', u => updates.push(hex(u)))
  for (const step of steps) d.doc.transact(() => step(d))
  emit(name, d, updates)
}

function emit (name, d, updates) {
  console.log(JSON.stringify({
    name,
    updates,
    state: hex(Y.encodeStateAsUpdate(d.doc)),
    sv: hex(Y.encodeStateVector(d.doc)),
    snapshot: hex(Y.encodeSnapshot(Y.snapshot(d.doc))),
    json: { t: d.t.toString(), m: packType(d.m).$m, a: packType(d.a).$a }
  }))
}

const values = {
  undefined: { $u: 1 },
  null: null,
  true: true,
  false: false,
  'int 0': 0,
  'int -0': { $f: '-0' },
  'int 63': 63,
  'int 64': 64,
  'int -64': -64,
  'int 2^31-1': 2 ** 31 - 1,
  'float 2^31': 2 ** 31,
  'float -2^31': -(2 ** 31),
  'float 2^32': 2 ** 32,
  'float 2^53-1': 2 ** 53 - 1,
  'float 0.5': 0.5,
  'float 0.1': 0.1,
  'float 1e300': 1e300,
  'float 5e-324': 5e-324,
  NaN: { $f: 'NaN' },
  Infinity: { $f: 'Infinity' },
  '-Infinity': { $f: '-Infinity' },
  bigint: { $n: '9007199254740993' },
  'string empty': '',
  'string ascii': 'hello',
  'string emoji': '👩‍👩‍👧 😀',
  'string with zero': 'a\u0000b',
  'string long': 'long '.repeat(100),
  'binary empty': { $b: '' },
  binary: { $b: '00ff7f80' },
  'array empty': [],
  'array nested': [[[]], [1, [2, [3]]]],
  'object empty': {},
  'object in its order': { z: 1, a: { y: null, b: [true] } },
  'object with undefined': { a: 1, b: { c: [] } },
  'text empty': { $t: '' },
  text: { $t: 'inner 😀' },
  'map empty': { $m: {} },
  map: { $m: { k: 1, t: { $t: 'deep' } } },
  'array type empty': { $a: [] },
  'array type': { $a: [1, { $a: ['x'] }, { $m: { k: { $t: 'z' } } }] },
  subdoc: { $d: 'guid-1' },
  'subdoc with options': { $d: 'guid-2', autoLoad: true, meta: { a: 1, b: [null] } },
  'xml element': { $x: 'p' },
  'xml text': { $x: 'text' },
  'xml fragment': { $x: 'fragment' },
  'xml hook': { $x: 'hook' }
}

for (const [name, v] of Object.entries(values)) {
  fixture(`map value ${name}`, d => d.m.set('key', unpack(v)))
  fixture(`map value ${name} replaced`, d => d.m.set('key', unpack(v)), d => d.m.set('key', 1))
  if (name === 'undefined' || name === 'bigint') continue
  fixture(`array element ${name}`, d => d.a.insert(0, [1, unpack(v), 2]))
  fixture(`array element ${name} deleted`, d => d.a.insert(0, [unpack(v), unpack(v), 2]), d => d.a.delete(0, 1))
}

for (const s of ['a', 'hello', 'é', '日本語', '😀', 'a😀b', '\n\r\n', '\ufeffbom', 'x'.repeat(300)]) {
  fixture(`text ${JSON.stringify(s).slice(0, 20)}`, d => d.t.insert(0, s))
  fixture(`text ${JSON.stringify(s).slice(0, 20)} appended and cut`, d => d.t.insert(0, s), d => d.t.insert(s.length, s), d => d.t.delete(s.length - 1, 2))
}

for (let pos = 0; pos <= 4; pos++) {
  fixture(`text insert at ${pos} of a😀b`, d => d.t.insert(0, 'a😀b'), d => d.t.insert(pos, 'X'))
  if (pos < 4) fixture(`text delete 1 at ${pos} of a😀b`, d => d.t.insert(0, 'a😀b'), d => d.t.delete(pos, 1))
}

const bold = { b: true }
fixture('format', d => d.t.insert(0, 'bold text'), d => d.t.format(0, 4, bold))
fixture('format removed', d => d.t.insert(0, 'bold text', bold), d => d.t.format(2, 4, { b: null }))
fixture('format with object', d => d.t.insert(0, 'link', { link: { href: 'x', z: [1] } }))
fixture('format nested', d => d.t.insert(0, 'abcdef'), d => d.t.format(0, 6, { i: true }), d => d.t.format(2, 2, { b: 1.5 }))
fixture('formatted text typed into', d => d.t.insert(0, 'ab', bold), d => d.t.insert(1, 'x'), d => d.t.insert(3, 'y'))
fixture('formatted text deleted', d => d.t.insert(0, 'abcd'), d => d.t.format(1, 2, bold), d => d.t.delete(0, 4))
fixture('embed', d => d.t.insertEmbed(0, { img: 'x', n: null }), d => d.t.insert(1, 'after'))
fixture('embed string', d => d.t.insertEmbed(0, { s: '😀\u0000' }, bold))
fixture('embed deleted', d => d.t.insertEmbed(0, { img: 1 }), d => d.t.delete(0, 1))
fixture('embedded type', d => d.t.applyDelta([{ insert: 'a' }, { insert: new Y.Map([['k', 1]]) }]))
fixture('text attribute', d => d.t.setAttribute('lang', 'en'), d => d.t.setAttribute('lang', 'de'))
fixture('delta', d => d.t.applyDelta([{ insert: 'hello' }, { insert: ' world', attributes: bold }]), d => d.t.applyDelta([{ retain: 3 }, { delete: 4 }, { insert: '!' }]))

fixture('xml', d => { const p = new Y.XmlElement('p'); p.setAttribute('class', 'c'); d.x.insert(0, [p, new Y.XmlText('t')]); p.insert(0, [new Y.XmlText('in')]) })
fixture('xml deleted', d => d.x.insert(0, [new Y.XmlElement('p'), new Y.XmlElement('q')]), d => d.x.delete(0, 1))
fixture('xml hook attribute', d => { const h = new Y.XmlHook('hook'); d.x.insert(0, [h]); h.set('k', 1) })

fixture('key deleted', d => d.m.set('k', 1), d => d.m.delete('k'))
fixture('key set again after deletion', d => d.m.set('k', 1), d => d.m.delete('k'), d => d.m.set('k', 2))
fixture('many keys', d => { for (let i = 0; i < 50; i++) d.m.set('key' + i, i) })
fixture('key overwritten often', ...Array.from({ length: 20 }, (_, i) => d => d.m.set('k', i)))
fixture('nested type filled and deleted', d => d.m.set('k', unpack({ $m: { a: { $t: 'text' }, b: { $a: [1, 2, 3] } } })), d => d.m.get('k').get('b').delete(1, 1), d => d.m.delete('k'))
fixture('array push behind deleted', d => d.a.push([1, 2, 3]), d => d.a.delete(2, 1), d => d.a.push([4]), d => d.a.insert(2, [5]))
fixture('typing', ...[...'hello world'].map((c, i) => d => d.t.insert(i, c)))
fixture('typing backwards', ...[...'hello world'].map(c => d => d.t.insert(0, c)))
fixture('backspace', d => d.t.insert(0, 'hello'), ...[4, 3, 2].map(i => d => d.t.delete(i, 1)))
fixture('delete forward', d => d.t.insert(0, 'hello'), ...[1, 1, 1].map(i => d => d.t.delete(i, 1)))
fixture('insert and delete at once', d => { d.t.insert(0, 'abc'); d.t.delete(1, 1); d.a.push([1]); d.a.delete(0, 1) })

// legacy: content that current Yjs keeps, but no longer makes
fixture('legacy JSON content', d => d.doc.transact(tr => {
  const item = new Y.Item(Y.createID(7, 0), null, null, null, null, d.a, null, new Y.ContentJSON([1, 'two', { three: [3] }, undefined, null]))
  item.integrate(tr, 0)
}), d => d.a.delete(1, 2))

// several clients
for (const [first, second] of [[1, 2], [2, 1], [300, 5], [2 ** 32, 2 ** 53 - 1], [2 ** 31, 2 ** 32 - 1]]) {
  const base = document(first)
  const updates = []
  base.doc.on('update', u => updates.push(hex(u)))
  base.t.insert(0, '__')
  base.m.set('k', 'base')
  base.a.push([1, 2])
  const other = document(second)
  Y.applyUpdate(other.doc, Y.encodeStateAsUpdate(base.doc))
  const sent = []
  other.doc.on('update', u => sent.push(u))
  other.t.insert(1, 'other')
  other.m.set('k', 'other')
  other.a.insert(1, ['o'])
  base.t.insert(1, 'base')
  base.m.set('k', 'again')
  base.a.delete(0, 2)
  other.t.delete(0, 2)
  for (const u of sent.reverse()) Y.applyUpdate(base.doc, u)
  emit(`clients ${first} and ${second}`, base, updates)
}

// what waits for something that is missing
const writer = document(7)
const written = []
writer.doc.on('update', u => written.push(u))
writer.t.insert(0, 'one ')
writer.t.insert(4, 'two ')
writer.m.set('k', 1)
writer.t.delete(0, 3)
for (const [name, kept] of [['first', [1, 2, 3]], ['second', [0, 2, 3]], ['third', [0, 1, 3]], ['all but the deletion', [3]]]) {
  const d = document(8)
  const updates = kept.map(i => written[i])
  for (const u of updates) Y.applyUpdate(d.doc, u)
  emit(`missing: ${name}`, d, updates.map(hex))
  const merged = Y.mergeUpdates(updates)
  const e = document(8)
  Y.applyUpdate(e.doc, merged)
  emit(`missing, merged: ${name}`, e, [hex(merged)])
}
