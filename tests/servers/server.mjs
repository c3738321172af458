// A server of Yjs documents on a free port of 127.0.0.1, in memory:
//
//	node server.mjs y-websocket|hocuspocus [token] [read-only token] [port]
//
// prints its port as one line and ends with its standard input. With tokens,
// Hocuspocus asks for one of them.
import http from 'node:http'
import { Server } from '@hocuspocus/server'
import { setupWSConnection } from '@y/websocket-server/utils'
import { WebSocketServer } from 'ws'
import * as Y from 'yjs'

const [kind, token, readOnlyToken, port] = process.argv.slice(2)

const servers = {
  'y-websocket': async () => {
    const server = http.createServer()
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', setupWSConnection)
    await new Promise(resolve => server.listen(Number(port || 0), '127.0.0.1', resolve))
    return server.address().port
  },
  hocuspocus: async () => {
    const states = new Map()
    const server = new Server({
      quiet: true,
      address: '127.0.0.1',
      port: Number(port || 0),
      stopOnSignals: false,
      debounce: 0,
      async onAuthenticate ({ token: given, connectionConfig }) {
        connectionConfig.readOnly = Boolean(readOnlyToken) && given === readOnlyToken
        if (token && given !== token && !connectionConfig.readOnly) throw new Error('unknown token')
      },
      async onLoadDocument ({ documentName, document }) {
        if (states.has(documentName)) Y.applyUpdate(document, states.get(documentName))
      },
      async onStoreDocument ({ documentName, document }) {
        states.set(documentName, Y.encodeStateAsUpdate(document))
      }
    })
    await server.listen()
    return server.address.port
  }
}

console.log(await servers[kind]())
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
