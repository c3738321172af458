// Drives a server with y-websocket: rooms are the notes' names.
//
//   node ywebsocket.mjs URL TOKEN ROOM COMMAND [ARGUMENT...]
//
// Commands, each of which prints one line of JSON:
//   edit TEXT      types TEXT at the start, waits until a second client has it
//   wait TEXT      waits until the room's text is TEXT
//   watch          prints the text after each change, as lines, until stdin ends
//   crowd N        N clients type a word each, and wait until all have all
//   storm N        as crowd, but each types when the server has gone, and all come
//                  back at once; prints "ready" when all are there
//   units          prints the text and how many units were ever inserted into it
//   type N         types N lines, one after the other, and prints each once the
//                  server has acknowledged it
//   keys MARK      types letters in front of MARK, 40 a second, and takes some of
//                  them back, until stdin ends; prints "ready", then how many stay
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import * as encoding from 'lib0/encoding'
import * as decoding from 'lib0/decoding'
import { WebSocket, run, until, untilText } from './lib.mjs'

const [url, token, room, command, argument] = process.argv.slice(2)

const providers = []

function open() {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(url, room, doc, { WebSocketPolyfill: WebSocket, params: { token }, disableBc: true })
  providers.push(provider)
  return { doc, provider, text: doc.getText('contents') }
}

const synced = c => until('synced', () => c.provider.synced, [c.provider, 'sync'])

const acknowledgement = 102

// acknowledged resolves when the server has echoed a frame that is sent now.
function acknowledged(c) {
  return new Promise(resolve => {
    c.provider.messageHandlers[acknowledgement] = (_encoder, decoder) => { decoding.readVarUint8Array(decoder); resolve() }
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, acknowledgement)
    encoding.writeVarUint8Array(encoder, new Uint8Array([1]))
    c.provider.ws.send(encoding.toUint8Array(encoder))
  })
}

// words has each of a crowd type a word, and returns when all have all of them.
async function words(crowd) {
  crowd.forEach((c, i) => c.text.insert(0, `w${i} `))
  const count = c => (c.text.toString().match(/w\d+ /g) ?? []).length
  await Promise.all(crowd.map(c => until('all words', () => count(c) === crowd.length, [c.doc, 'update'])))
  const texts = new Set(crowd.map(c => c.text.toString()))
  await acknowledged(crowd[0])
  return { words: count(crowd[0]), different: texts.size, text: crowd[0].text.toString() }
}

const commands = {
  async edit() {
    const [a, b] = [open(), open()]
    await Promise.all([synced(a), synced(b)])
    a.text.insert(0, argument)
    await until('the other has it', () => b.text.toString().includes(argument), [b.doc, 'update'])
    await acknowledged(a)
    return b.text.toString()
  },
  async wait() {
    const c = open()
    await untilText(c.doc, argument)
    return c.text.toString()
  },
  async watch() {
    const c = open()
    await synced(c)
    console.log(JSON.stringify(c.text.toString()))
    c.doc.on('update', () => console.log(JSON.stringify(c.text.toString())))
    await new Promise(resolve => process.stdin.on('end', resolve).resume())
    return null
  },
  async crowd() {
    const crowd = Array.from({ length: Number(argument) }, open)
    await Promise.all(crowd.map(synced))
    return words(crowd)
  },
  async storm() {
    const crowd = Array.from({ length: Number(argument) }, open)
    await Promise.all(crowd.map(synced))
    console.log('"ready"')
    await Promise.all(crowd.map(c => until('the server has gone', () => !c.provider.wsconnected, [c.provider, 'status'])))
    return words(crowd)
  },
  async units() {
    const c = open()
    await synced(c)
    const units = [...Y.decodeStateVector(Y.encodeStateVector(c.doc)).values()].reduce((a, b) => a + b, 0)
    return { text: c.text.toString(), units }
  },
  async type() {
    const c = open()
    await synced(c)
    for (let i = 0; i < Number(argument); i++) {
      c.text.insert(c.text.length, `typed ${i}\n`)
      await acknowledged(c)
      console.log(JSON.stringify(i))
    }
    return null
  },
  async keys() {
    const c = open()
    await synced(c)
    let ended = false, typed = 0
    process.stdin.on('end', () => { ended = true }).resume()
    console.log('"ready"')
    for (let i = 0; !ended; i++) {
      const end = c.text.toString().indexOf(argument)
      if (i % 50 < 40) c.text.insert(end, String.fromCharCode(97 + typed++ % 26))
      else { c.text.delete(end - 1, 1); typed-- }
      await new Promise(resolve => setTimeout(resolve, 25))
    }
    await acknowledged(c)
    return typed
  },
}

await run(commands[command])
