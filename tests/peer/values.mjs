// Values as they travel in the log of a scenario: JSON, with an object of one
// key that starts with "$" for everything that JSON cannot say.
import * as Y from 'yjs'

const hex = bytes => Buffer.from(bytes).toString('hex')

// pack turns a value that was read from a document into its log form.
export function pack (v) {
  if (v === undefined) return { $u: 1 }
  if (typeof v === 'bigint') return { $n: String(v) }
  if (typeof v === 'number' && (!Number.isFinite(v) || Object.is(v, -0))) {
    return { $f: Object.is(v, -0) ? '-0' : String(v) }
  }
  if (v === null || typeof v !== 'object') return v
  if (v instanceof Uint8Array) return { $b: hex(v) }
  if (v instanceof Y.Doc) return { $d: v.guid }
  if (v instanceof Y.XmlText || v instanceof Y.XmlFragment || v instanceof Y.XmlHook) return { $x: 1 }
  if (v instanceof Y.AbstractType) return packType(v)
  if (Array.isArray(v)) return v.map(pack)
  return Object.fromEntries(Object.entries(v).map(([k, el]) => [k, pack(el)]))
}

// packType returns the content of a shared type.
export function packType (t) {
  if (t instanceof Y.Text) return { $t: t.toString() }
  if (t instanceof Y.Array) return { $a: t.toArray().map(pack) }
  return { $m: Object.fromEntries([...t.entries()].map(([k, v]) => [k, pack(v)])) }
}

// unpack makes the value that a log form stands for, shared types included.
export function unpack (v) {
  if (v === null || typeof v !== 'object') return v
  if (Array.isArray(v)) return v.map(unpack)
  if ('$u' in v) return undefined
  if ('$n' in v) return BigInt(v.$n)
  if ('$f' in v) return Number(v.$f)
  if ('$b' in v) return new Uint8Array(Buffer.from(v.$b, 'hex'))
  if ('$d' in v) return new Y.Doc({ guid: v.$d, autoLoad: v.autoLoad === true, meta: v.meta ?? null })
  if ('$x' in v) return xml(v.$x)
  if ('$t' in v) return new Y.Text(v.$t)
  if ('$a' in v) return Y.Array.from(v.$a.map(unpack))
  if ('$m' in v) return new Y.Map(Object.entries(v.$m).map(([k, el]) => [k, unpack(el)]))
  return Object.fromEntries(Object.entries(v).map(([k, el]) => [k, unpack(el)]))
}

function xml (kind) {
  switch (kind) {
    case 'text': return new Y.XmlText('xml')
    case 'fragment': return new Y.XmlFragment()
    case 'hook': return new Y.XmlHook('hook')
    default: return new Y.XmlElement(kind)
  }
}

const texts = ['a', 'bc', 'hello ', '😀', 'é', '日本語', 'x😀y', '\n', '0123456789', '👩‍👩‍👧', 'ß\u0000z', '']
const numbers = [0, 1, -1, 63, 64, -64, 127, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, 0.5, 0.1, -1.5, 1e300]

export function randomText (rnd) { return rnd.pick(texts) }

// randomValue makes the log form of a value that both engines can store. Yjs
// takes undefined in a map, but not in an array.
export function randomValue (rnd, depth = 0, inArray = false) {
  switch (rnd.below(depth > 2 ? 8 : 13)) {
    case 0: return null
    case 1: return rnd.chance(50)
    case 2: case 3: return rnd.pick(numbers)
    case 4: return randomText(rnd)
    case 5: return { $f: rnd.pick(['-0', 'NaN', 'Infinity', '-Infinity']) }
    case 6: return { $b: hex(Uint8Array.from({ length: rnd.below(4) }, () => rnd.below(256))) }
    case 7: return !inArray && rnd.chance(50) ? { $u: 1 } : { a: rnd.pick(numbers), b: [null, randomText(rnd)] }
    case 8: return { $t: randomText(rnd) }
    case 9: return { $m: { k0: randomValue(rnd, depth + 1), k1: randomValue(rnd, depth + 1) } }
    case 10: return { $a: [randomValue(rnd, depth + 1, true), randomValue(rnd, depth + 1, true)] }
    case 11: return [1, ['x'], {}]
    default: return randomText(rnd)
  }
}

// randomForeign makes the log form of a value that only Yjs can make.
export function randomForeign (rnd) {
  switch (rnd.below(4)) {
    case 0: return { $x: rnd.pick(['p', 'text', 'fragment', 'hook']) }
    case 1: return { $d: 'guid-' + rnd.below(5), autoLoad: rnd.chance(50), meta: rnd.chance(50) ? { a: 1 } : undefined }
    case 2: return { $n: '-9007199254740993' }
    default: return { z: 1, a: { y: [], b: 2.5 }, 5: 'five' }
  }
}
