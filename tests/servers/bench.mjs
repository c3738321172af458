// What yjs's own client takes for what relayfs does, for comparison:
//
//	node bench.mjs seed URL FOLDER COUNT     makes notes of 2 KB, each edited 50 times
//	node bench.mjs sync URL FOLDER           fetches them all; prints ms and KB of memory
//	node bench.mjs type URL FOLDER           types a character each time a line comes in, and says so
//
// A {} in the URL stands for the name of a document.
import readline from 'node:readline'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

globalThis.WebSocket ??= WebSocket
process.setMaxListeners(0) // the provider adds one for each document
const [what, url, folder, count] = process.argv.slice(2)

const open = name => {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(url.replace('{}', name), name, doc, { WebSocketPolyfill: WebSocket, disableBc: true })
  return new Promise(resolve => provider.once('sync', () => resolve({ doc, provider })))
}

const atOnce = 16
const each = async (ids, fn) => {
  const queue = [...ids]
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (queue.length > 0) await fn(queue.shift())
  }))
}

const commands = {
  async seed () {
    const { doc: list } = await open(folder)
    const ids = Array.from({ length: Number(count) }, (_, i) => `note-${i}`)
    await each(ids, async id => {
      const { doc, provider } = await open(id)
      const text = doc.getText('contents')
      text.insert(0, 'The quick brown fox jumps over the lazy dog.\n'.repeat(45))
      for (let i = 0; i < 50; i++) text.insert((i * 37) % text.length, 'edit ')
      await new Promise(resolve => setTimeout(resolve, 5))
      provider.destroy()
    })
    list.transact(() => ids.forEach(id => {
      list.getMap('docs').set(`/${id}.md`, id)
      list.getMap('filemeta_v0').set(`/${id}.md`, { version: 0, id, type: 'markdown' })
    }))
    await new Promise(resolve => setTimeout(resolve, 500))
  },
  async sync () {
    const before = process.memoryUsage().rss
    const start = performance.now()
    const { doc: list } = await open(folder)
    const docs = []
    await each(list.getMap('docs').values(), async id => {
      const { doc, provider } = await open(id)
      docs.push(doc.getText('contents').toString().length)
      provider.disconnect()
    })
    console.log(JSON.stringify({ notes: docs.length, ms: performance.now() - start, kb: (process.memoryUsage().rss - before) / 1024, rss: process.memoryUsage().rss / 1024 }))
  },
  async type () {
    const { doc } = await open('note-0')
    console.log('ready')
    for await (const line of readline.createInterface({ input: process.stdin })) doc.getText('contents').insert(0, line)
  }
}
await commands[what]()
process.exit(0)
