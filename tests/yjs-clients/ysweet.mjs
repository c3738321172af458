// Drives a server with y-sweet's own SDK and client, as an application does.
//
//   node ysweet.mjs CONNECTION_STRING FOLDER_DOCUMENT
import { DocumentManager } from '@y-sweet/sdk'
import { createYjsProvider } from '@y-sweet/client'
import * as Y from 'yjs'
import { WebSocket, assert, run, until, untilText } from './lib.mjs'

const [connection, folder] = process.argv.slice(2)
const manager = new DocumentManager(connection)

const silent = console.warn
console.warn = () => {} // the client warns where this test wants what it warns of

function open(docId, auth, options = {}) {
  const doc = new Y.Doc()
  const provider = createYjsProvider(doc, docId, auth, { WebSocketPolyfill: WebSocket, showDebuggerLink: false, ...options })
  return { doc, provider, text: doc.getText('contents') }
}

const synced = c => until('synced', () => c.provider.synced, [c.provider, 'sync'], [c.provider, 'connection-status'])
const acknowledged = c => until('acknowledged', () => !c.provider.hasLocalChanges, [c.provider, 'local-changes'])

await run(async () => {
  const out = {}
  assert((await manager.checkStore()).ok, 'checkStore')

  // A new note: its content first, then its entry in the folder document.
  const { docId } = await manager.createDoc('note-of-y-sweet')
  const writer = open(docId, () => manager.getClientToken(docId, { userId: 'ann' }))
  await synced(writer)
  writer.text.insert(0, 'hello 🌍\n')
  await acknowledged(writer)
  const names = open(folder, () => manager.getClientToken(folder))
  await synced(names)
  names.doc.transact(() => {
    names.doc.getMap('docs').set('/New.md', docId)
    names.doc.getMap('filemeta_v0').set('/New.md', { id: docId, version: 0, type: 'markdown' })
  })
  await acknowledged(names)
  out.entries = [...names.doc.getMap('filemeta_v0').keys()].sort()

  // Another reads it, over HTTP and live, and may only read.
  const reader = open(docId, () => manager.getClientToken(docId, { authorization: 'read-only' }))
  await synced(reader)
  await untilText(reader.doc, 'hello 🌍\n')
  const copy = new Y.Doc()
  Y.applyUpdate(copy, await manager.getDocAsUpdate(docId))
  out.asUpdate = copy.getText('contents').toString()
  reader.text.insert(0, 'forbidden ')
  writer.text.insert(0, 'allowed ')
  await acknowledged(writer)
  await until('the reader sees the writer', () => reader.text.toString().includes('allowed'), [reader.doc, 'update'])
  out.afterReadOnlyWrite = writer.text.toString()

  // updateDoc of the SDK.
  const other = new Y.Doc()
  Y.applyUpdate(other, await manager.getDocAsUpdate(docId))
  const before = Y.encodeStateVector(other)
  other.getText('contents').insert(0, 'posted ')
  await manager.updateDoc(docId, Y.encodeStateAsUpdate(other, before))
  await untilText(writer.doc, 'posted allowed hello 🌍\n')

  // Awareness reaches others.
  writer.provider.awareness.setLocalState({ user: { name: 'ann' } })
  await until('the reader sees ann', () => [...reader.provider.awareness.getStates().values()].some(s => s.user?.name === 'ann'), [reader.provider.awareness, 'change'])

  // Offline and back: what both did meanwhile is merged.
  writer.provider.disconnect()
  writer.text.insert(writer.text.length, 'offline\n')
  const third = open(docId, () => manager.getClientToken(docId))
  await synced(third)
  third.text.insert(0, 'meanwhile ')
  await acknowledged(third)
  writer.provider.connect()
  await untilText(writer.doc, 'meanwhile posted allowed hello 🌍\noffline\n')
  await untilText(third.doc, 'meanwhile posted allowed hello 🌍\noffline\n')

  // A token that expires: the connection ends, the client fetches another and goes on.
  let tokens = 0
  const closes = []
  class Watched extends WebSocket {
    constructor(...args) { super(...args); this.on('close', (code, reason) => closes.push([code, reason.toString()])) }
  }
  const short = open(docId, () => { tokens++; return manager.getClientToken(docId, { validForSeconds: 2 }) }, { WebSocketPolyfill: Watched })
  await synced(short)
  await until('a second token', () => tokens > 1 && short.provider.synced, [short.provider, 'connection-status'], [short.provider, 'sync'])
  out.closes = closes[0]
  short.text.insert(0, 'still ')
  await untilText(third.doc, 'still meanwhile posted allowed hello 🌍\noffline\n')

  let refused
  try { await manager.getClientToken('no-such-document') } catch (e) { refused = e.cause.status }
  out.unknown = refused
  const bad = new DocumentManager(connection.replace(/\/\/[^@]*@/, '//nonsense@'))
  try { await bad.createDoc('x') } catch (e) { out.badToken = e.cause.code }
  out.text = third.text.toString()
  return out
})
