// A person's client of a shared folder, with yjs and the provider that belongs
// to the server. It keeps the rules of the Relay data model as the Obsidian
// plugin does, and watches whether others keep them.
//
//	node client.mjs y-websocket|hocuspocus|y-sweet URL FOLDER [token]
//
// takes one JSON command per line on standard input and answers each with one
// line: {"result": ...} or {"error": "..."}.
import { randomUUID } from 'node:crypto'
import readline from 'node:readline'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

globalThis.WebSocket ??= WebSocket // y-websocket wants its constants
process.setMaxListeners(0) // the provider adds one for each document
const input = readline.createInterface({ input: process.stdin })
const lines = input[Symbol.asyncIterator]() // collects from now on
input.on('close', () => process.exit(0)) // also while a command waits for a server that is gone
const [kind, url, folderName, token] = process.argv.slice(2)
// The provider closes a socket that takes too long to open, after it has removed its listeners: ws then ends the
// process with an error that nobody listens to.
class Socket extends WebSocket {
  constructor(...args) {
    super(...args)
    this.on('error', () => {})
  }
}
const socket = kind === 'hocuspocus' ? new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: Socket }) : null
const open = new Map() // name -> {doc, provider}
const violations = []
let online = true

// y-sweet: makes a document, unless it is there, and returns what opens it. The token is the server's.
const admitted = async name => {
  const post = async (path, body) => {
    const headers = { 'Content-Type': 'application/json', ...token && { Authorization: `Bearer ${token}` } }
    const answer = await fetch(url.replace(/^ws/, 'http') + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return answer.json()
  }
  for (let tries = 1; ; tries++) {
    try {
      await post('/doc/new', { docId: name })
      const { token: forDocument } = await post(`/doc/${name}/auth`, {})
      return forDocument ? { token: forDocument } : {}
    } catch (err) { // a server without a disk drops a document that nobody opens soon
      if (tries === 20) throw err
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}

const connect = (name, doc) => {
  if (socket) {
    const provider = new HocuspocusProvider({ websocketProvider: socket, name, document: doc, token: token ?? '' })
    provider.attach()
    return provider
  }
  if (kind === 'y-sweet') { // a socket below each document, which is made before
    const provider = new WebsocketProvider(`${url}/d/${name}/ws`, name, doc, { WebSocketPolyfill: WebSocket, disableBc: true, resyncInterval: 5000, connect: false })
    admitted(name).then(params => {
      provider.params = params
      provider.connect()
    })
    return provider
  }
  return new WebsocketProvider(url, name, doc, { WebSocketPolyfill: WebSocket, disableBc: true, resyncInterval: 5000, connect: online })
}

// Resolves when cond holds, looking again at each event.
const when = (emitter, event, cond) => new Promise(resolve => {
  const look = () => {
    if (!cond()) return
    emitter.off(event, look)
    resolve()
  }
  emitter.on(event, look)
  look()
})

const synced = provider => when(provider, socket ? 'synced' : 'sync', () => provider.synced)

// Front matter with one property on each line, whose values are JSON or words.
const frontMatter = text => /^---\n([^]*?)(?<=\n)---(?:\n|$)/.exec(text) ?? ['', '']
const properties = text => Object.fromEntries([...frontMatter(text)[1].matchAll(/^(\w+): ?(.*)$/gm)].map(([, key, value]) => {
  try { return [key, JSON.parse(value)] } catch { return [key, value] }
}))
const writeProperties = (contents, values) => {
  const yaml = Object.entries(values).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
  const [old] = frontMatter(contents.toString())
  const now = `---\n${yaml.join('')}---\n`
  let from = 0
  let same = 0
  while (from < Math.min(old.length, now.length) && old[from] === now[from]) from++
  while (same < Math.min(old.length, now.length) - from && old.at(-1 - same) === now.at(-1 - same)) same++
  contents.delete(from, old.length - same - from)
  contents.insert(from, now.slice(from, now.length - same))
}

// The document has a mirror of the front matter, property -> JSON. The plugin writes its values over the text when
// another client has changed it, and takes out of it what the text lacks.
const watchProperties = (name, doc) => {
  const contents = doc.getText('contents')
  const mirror = doc.getMap('frontmatter')
  let had = '{}'
  let size = 0
  doc.on('afterTransaction', transaction => {
    const values = properties(contents.toString())
    const changed = [JSON.stringify(values) !== had, transaction.changed.has(mirror)]
    if (!transaction.local && size > 0 && changed[0] !== changed[1]) violations.push(`front matter and mirror of ${name} were not changed in one transaction`)
    had = JSON.stringify(values)
    size = mirror.size
    if (transaction.local || !changed[1]) return
    const old = Object.keys(values).filter(key => mirror.has(key) && mirror.get(key) !== JSON.stringify(values[key]))
    if (old.length > 0) {
      violations.push(`${old} of ${name} is what it was`)
      for (const key of old) values[key] = JSON.parse(mirror.get(key))
      doc.transact(() => writeProperties(contents, values))
    }
    doc.transact(() => {
      for (const key of [...mirror.keys()]) if (!(key in values)) mirror.delete(key)
    })
  })
}

const opened = async name => {
  if (!open.has(name)) {
    const doc = new Y.Doc()
    doc.clientID = (doc.clientID | 2 ** 31) >>> 0 // never as low as an id of relayfs
    watchProperties(name, doc)
    open.set(name, { doc, provider: connect(name, doc) })
  }
  const { doc, provider } = open.get(name)
  if (online) await synced(provider)
  return doc
}

const folder = await opened(folderName)
const docs = folder.getMap('docs')
const meta = folder.getMap('filemeta_v0')

// What the plugin would take for a deletion, a torn rename, an empty note or a
// reason to loop.
const gone = new Set() // ids that had an entry and have none
const entered = new Set()
const checks = []
const transactions = [] // of others: the keys that each has changed in both maps
const anchors = new Map() // path -> relative position

const check = async id => {
  const doc = await opened(documentName(id))
  if (Y.encodeStateVector(doc).length <= 1) violations.push(`document ${id} was entered empty`)
}

const watch = transaction => {
  for (const key of [...docs.keys(), ...meta.keys()]) {
    if (!key.startsWith('/') || key.length < 2 || key.split('/').slice(1).some(part => part === '')) violations.push(`key ${JSON.stringify(key)}`)
  }
  const ids = new Set()
  for (const [path, entry] of meta) {
    ids.add(entry.id)
    if (entry.type === 'markdown' && docs.get(path) !== entry.id) violations.push(`${path} has no twin in docs`)
    if (entry.type === 'markdown' && !entered.has(entry.id)) {
      if (!transaction.local) checks.push(check(entry.id))
      entered.add(entry.id)
    }
    if (gone.delete(entry.id)) violations.push(`${path} came back under its id: a rename in two steps`)
  }
  for (const id of entered) if (!ids.has(id)) gone.add(id)
  if (transaction.local) return
  transactions.push({ docs: [...transaction.changed.get(docs) ?? []].sort(), meta: [...transaction.changed.get(meta) ?? []].sort() })
  for (const key of transaction.changed.get(docs) ?? []) {
    if (docs.has(key) && !meta.has(key)) violations.push(`${key} is in docs only`)
  }
}
folder.on('afterTransaction', watch)

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const documentName = id => folderName.length === 73 && uuid.test(id) ? folderName.slice(0, 37) + id : id
const idAt = path => meta.get('/' + path)?.id ?? docs.get('/' + path)
const docAt = async path => {
  const id = idAt(path)
  if (!id) throw new Error(`nothing at ${path}`)
  return opened(documentName(id))
}
const textAt = async path => (await docAt(path)).getText('contents')

// Waits for cond to hold, looking again whenever a document changes.
const until = (doc, cond, ms = 60_000 * (process.env.RELAYFS_TEST_TIMESCALE || 1)) => new Promise((resolve, reject) => {
  let timer = null
  const look = () => {
    if (!cond()) return
    doc.off('update', look)
    clearTimeout(timer)
    resolve(true)
  }
  timer = setTimeout(() => { doc.off('update', look); reject(new Error('waited in vain')) }, ms)
  doc.on('update', look)
  look()
})

let typing = null
let typed = 0

let seed = 1
const random = n => {
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 8) % n
}

// y-sweet ends when a client parts the two halves of a character: its engine counts them otherwise than yjs.
const whole = (text, at) => kind === 'y-sweet' && /^[\uDC00-\uDFFF]/.test(text.toString().slice(at)) ? at + 1 : at

const randomEdit = text => {
  const length = text.length
  if (length > 20 && random(3) === 0) {
    const at = whole(text, random(length - 4))
    text.delete(at, whole(text, at + 1 + random(4)) - at)
  } else {
    text.insert(whole(text, random(length + 1)), ['a', 'Bc ', '🦊', 'é\n', '0123456789 '][random(5)])
  }
}

const move = (from, to) => folder.transact(() => {
  for (const map of [docs, meta]) {
    for (const key of [...map.keys()]) {
      if (key !== '/' + from && !key.startsWith('/' + from + '/')) continue
      map.set('/' + to + key.slice(from.length + 1), map.get(key))
      map.delete(key)
    }
  }
})

// A canvas as Obsidian writes it.
const canvasFile = doc => {
  const list = name => {
    const lines = [...doc.getMap(name)].map(([id, item]) => {
      const text = item.type === 'text' ? doc.getText(id).toString() : ''
      return '\n\t\t' + JSON.stringify(text ? { ...item, text } : item)
    })
    return `[${lines.join(',')}${lines.length ? '\n\t' : ''}]`
  }
  return `{\n\t"nodes":${list('nodes')},\n\t"edges":${list('edges')}\n}`
}

const setNode = (doc, node) => {
  const { text = '', ...rest } = node
  doc.getMap('nodes').set(node.id, node.type === 'text' ? { ...rest, text: '' } : node)
  if (node.type === 'text' && text) doc.getText(node.id).insert(0, text)
}

const commands = {
  async create ({ path, text, id = randomUUID() }) {
    const doc = await opened(documentName(id))
    doc.getText('contents').insert(0, text)
    folder.transact(() => {
      docs.set('/' + path, id)
      meta.set('/' + path, { version: 0, id, type: 'markdown' })
    })
    return id
  },
  async legacy ({ path, text }) {
    const id = randomUUID()
    const doc = await opened(documentName(id))
    doc.getText('contents').insert(0, text)
    docs.set('/' + path, id)
    return id
  },
  rename ({ from, to }) { move(from, to) },
  remove ({ path }) {
    folder.transact(() => {
      for (const map of [docs, meta]) {
        for (const key of [...map.keys()]) if (key === '/' + path || key.startsWith('/' + path + '/')) map.delete(key)
      }
    })
  },
  async insert ({ path, at, text }) { (await textAt(path)).insert(at, text) },
  async edit ({ path }) { if (idAt(path)) randomEdit(await textAt(path)) }, // it may be gone
  async remove_text ({ path, at, length }) { (await textAt(path)).delete(at, length) },
  async text ({ path }) { return (await textAt(path)).toString() },
  list: () => [...new Set([...docs.keys(), ...meta.keys()])].sort().map(key => ({ path: key.slice(1), id: idAt(key.slice(1)), type: meta.get(key)?.type ?? 'legacy' })),
  async has ({ path }) { return until(folder, () => idAt(path) !== undefined) },
  async gone ({ path }) { return until(folder, () => idAt(path) === undefined) },
  // Types letters in front of a mark, 40 a second, and takes some of them back, until stopTyping, which tells how many stay.
  async type ({ path, mark }) {
    const text = await textAt(path)
    let keys = 0
    typed = 0
    typing = setInterval(() => {
      const end = text.toString().indexOf(mark)
      if (keys++ % 50 < 40) text.insert(end, String.fromCharCode(97 + typed++ % 26))
      else { text.delete(end - 1, 1); typed-- }
    }, 25)
  },
  stopTyping () {
    clearInterval(typing)
    return typed
  },
  async awaitText ({ path, text, includes }) {
    await until(folder, () => idAt(path) !== undefined)
    const doc = await docAt(path)
    const contents = doc.getText('contents')
    return until(doc, () => includes === undefined ? contents.toString() === text : contents.toString().includes(includes))
  },
  async random ({ paths, count, from }) {
    seed = from
    for (let i = 0; i < count; i++) {
      randomEdit(await textAt(paths[random(paths.length)]))
      if (i % 10 === 9) await new Promise(resolve => setTimeout(resolve, 1))
    }
  },
  async createCanvas ({ path, nodes = [], edges = [], id = randomUUID() }) {
    const doc = await opened(documentName(id))
    doc.transact(() => {
      doc.getMap('relay').set('v', 0)
      for (const node of nodes) setNode(doc, node)
      for (const edge of edges) doc.getMap('edges').set(edge.id, edge)
    })
    meta.set('/' + path, { version: 0, id, type: 'canvas' })
  },
  async setNode ({ path, node }) { const doc = await docAt(path); doc.transact(() => setNode(doc, node)) },
  async insertInNode ({ path, id, at, text }) { (await docAt(path)).getText(id).insert(at, text) },
  async removeNode ({ path, id }) { (await docAt(path)).getMap('nodes').delete(id) },
  async canvas ({ path }) { return canvasFile(await docAt(path)) },
  async awaitCanvas ({ path, file }) {
    await until(folder, () => idAt(path) !== undefined)
    const doc = await docAt(path)
    return until(doc, () => canvasFile(doc) === file)
  },
  async users ({ path }) { return (await docAt(path)).getMap('users').toJSON() },
  async awareness ({ path, name }) {
    await docAt(path)
    const { provider } = open.get(documentName(idAt(path)))
    const states = () => [...provider.awareness.getStates().values()]
    await when(provider.awareness, 'change', () => states().some(s => s.user?.name === name))
    return states().find(s => s.user?.name === name)
  },
  // What the folder's document is to hold, right or wrong.
  raw ({ map, key, value }) { folder.getMap(map).set(key, value) },
  transactions: () => transactions.splice(0),
  async anchor ({ path, at }) { anchors.set(path, Y.createRelativePositionFromTypeIndex(await textAt(path), at)) },
  async anchored ({ path }) { return Y.createAbsolutePositionFromRelativePosition(anchors.get(path), await docAt(path)).index },
  async setMap ({ path, map, key, value }) { (await docAt(path)).getMap(map).set(key, value) },
  // A property that is set in Obsidian.
  async property ({ path, key, value }) {
    const doc = await docAt(path)
    const contents = doc.getText('contents')
    doc.transact(() => {
      writeProperties(contents, { ...properties(contents.toString()), [key]: value })
      doc.getMap('frontmatter').set(key, JSON.stringify(value))
    })
  },
  async map ({ path, map }) { return (await docAt(path)).getMap(map).toJSON() },
  offline () {
    online = false
    socket ? socket.disconnect() : open.forEach(({ provider }) => provider.disconnect())
  },
  async online () {
    online = true
    socket ? socket.connect() : open.forEach(({ provider }) => provider.connect())
    await Promise.all([...open.values()].map(({ provider }) => synced(provider)))
  },
  // What was seen so far that the plugin would have taken amiss.
  async violations () {
    for (const entry of meta.values()) if (entry.type === 'markdown') checks.push(check(entry.id))
    await Promise.all(checks)
    return violations
  }
}

for await (const line of lines) {
  const { cmd, ...args } = JSON.parse(line)
  try {
    console.log(JSON.stringify({ result: await commands[cmd](args) ?? null }))
  } catch (err) {
    console.log(JSON.stringify({ error: String(err?.message ?? err) }))
  }
}
