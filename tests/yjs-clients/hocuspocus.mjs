// Drives a server with Hocuspocus's own provider: all documents on one websocket.
//
//	node hocuspocus.mjs URL SERVER_TOKEN FOLDER
//
// FOLDER has the notes Plan.md, "one", and Other.md, "two".
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import * as Y from 'yjs'
import { WebSocket, run, until, untilText } from './lib.mjs'

const [url, token, folder] = process.argv.slice(2)

// clientToken asks the server for a token for one document, as a backend does.
async function clientToken(id, request) {
  const answer = await fetch(`${url.replace(/^ws/, 'http')}/doc/${id}/auth`,
    { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify(request) })
  return (await answer.json()).token
}

const connection = options =>
  new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: WebSocket, ...options })

function open(websocketProvider, name, options = {}) {
  const document = new Y.Doc()
  const provider = new HocuspocusProvider({ websocketProvider, name, document, token, ...options })
  provider.attach()
  return { doc: document, provider, text: document.getText('contents') }
}

const saved = c => until('saved', () => c.provider.synced && !c.provider.hasUnsyncedChanges, [c.provider, 'unsyncedChanges'], [c.provider, 'synced'])
const once = (emitter, event) => new Promise(resolve => emitter.on(event, resolve))

await run(async () => {
  const out = {}
  const socket = connection(), another = connection()

  // Two notes and the folder document over one websocket.
  const plan = open(socket, `${folder}/Plan.md`)
  const other = open(socket, `${folder}/Other.md`)
  const names = open(socket, folder)
  await Promise.all([saved(plan), saved(other), saved(names)])
  out.entries = [...names.doc.getMap('filemeta_v0').keys()].sort()
  const planID = names.doc.getMap('filemeta_v0').get('/Plan.md').id
  const readOnlyToken = await clientToken(planID, { authorization: 'read-only' })
  out.scope = plan.provider.authorizedScope
  plan.text.insert(0, 'typed 🌍 ')
  other.text.insert(0, 'also ')
  await Promise.all([saved(plan), saved(other)])

  // Another websocket, and one that may only read.
  const friend = open(another, `${folder}/Plan.md`)
  await untilText(friend.doc, 'typed 🌍 one\n')
  friend.text.delete(0, 6)
  await untilText(plan.doc, '🌍 one\n')
  plan.provider.setAwarenessField('user', { name: 'ann' })
  await until('the friend sees ann', () => [...friend.provider.awareness.getStates().values()].some(s => s.user?.name === 'ann'), [friend.provider.awareness, 'change'])
  const reader = open(connection(), `${folder}/Plan.md`, { token: readOnlyToken })
  await saved(reader)
  out.readerScope = reader.provider.authorizedScope
  reader.text.insert(0, 'forbidden ')
  plan.text.insert(0, 'allowed ')
  await saved(plan)
  await until('the reader sees it', () => reader.text.toString().includes('allowed'), [reader.doc, 'update'])
  out.readerUnsaved = reader.provider.hasUnsyncedChanges

  // Refused: a token for another document, and nonsense. The others go on.
  const refused = open(socket, `${folder}/Nope.md`, { token: readOnlyToken })
  const nonsense = open(socket, 'some-id', { token: 'nonsense' })
  out.refused = await Promise.all([refused, nonsense].map(async c => (await once(c.provider, 'authenticationFailed')).reason))
  refused.provider.destroy()
  nonsense.provider.destroy()

  // Offline and back.
  socket.disconnect()
  await until('offline', () => socket.status === 'disconnected', [socket, 'status'])
  plan.text.insert(plan.text.length, 'offline\n')
  friend.text.insert(0, 'meanwhile ')
  await saved(friend)
  socket.connect()
  await untilText(friend.doc, 'meanwhile allowed 🌍 one\noffline\n')
  await untilText(plan.doc, 'meanwhile allowed 🌍 one\noffline\n')

  // A document is closed and opened again on the same websocket.
  other.provider.destroy()
  const again = open(socket, `${folder}/Other.md`)
  await untilText(again.doc, 'also two\n')

  // A token that expires: the websocket is closed, and the provider asks for another.
  const closes = []
  class Watched extends WebSocket {
    constructor(...args) { super(...args); this.on('close', (code, reason) => closes.push([code, reason.toString()])) }
  }
  let asked = 0
  const short = open(connection({ WebSocketPolyfill: Watched }), `${folder}/Plan.md`, { token: () => asked++ === 0 ? clientToken(planID, { validForSeconds: 2 }) : token })
  await until('a second token', () => asked > 1 && short.provider.synced, [short.provider, 'synced'], [short.provider, 'authenticated'])
  out.closes = closes[0]
  short.text.insert(0, 'still ')
  await saved(short)
  await untilText(plan.doc, 'still meanwhile allowed 🌍 one\noffline\n')
  out.text = plan.text.toString()
  return out
})
