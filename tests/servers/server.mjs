// A server of Yjs documents on a free port of 127.0.0.1:
//
//	node server.mjs y-websocket|hocuspocus|hocuspocus-redis [token] [read-only token] [port]
//	node server.mjs y-sweet [auth] [directory] [port]
//
// prints one line and ends with its standard input. The line is the port; the ports of both nodes of hocuspocus-redis;
// the port and, with auth, the server token of y-sweet; or "missing: " and what is not installed. With tokens,
// Hocuspocus asks for one of them. y-sweet keeps its documents in the directory, the others in memory.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Redis } from '@hocuspocus/extension-redis'
import { Server } from '@hocuspocus/server'
import { setupWSConnection } from '@y/websocket-server/utils'
import { WebSocketServer } from 'ws'
import * as Y from 'yjs'

const [kind, token, readOnlyToken, port] = process.argv.slice(2)
let atEnd = () => {}

// Runs a program until the end of this one at most.
const run = (program, args) => {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}

const until = async condition => {
  while (!await condition()) await new Promise(resolve => setTimeout(resolve, 20))
}

const freePort = async () => {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  return port
}

const states = new Map() // the database of Hocuspocus
const hocuspocus = async (port, extensions = []) => {
  const server = new Server({
    quiet: true,
    address: '127.0.0.1',
    port: Number(port || 0),
    stopOnSignals: false,
    debounce: 0,
    extensions,
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

const servers = {
  'y-websocket': async () => {
    const server = http.createServer()
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', setupWSConnection)
    await new Promise(resolve => server.listen(Number(port || 0), '127.0.0.1', resolve))
    return server.address().port
  },
  hocuspocus: () => hocuspocus(port),
  // Two nodes with one database, which tell each other through Redis what changes.
  'hocuspocus-redis': async () => {
    try {
      execFileSync('redis-server', ['--version'])
    } catch {
      return 'missing: redis-server: run tests/scripts/deps.sh'
    }
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'relayfs-redis-'))
    process.on('exit', () => fs.rmSync(dir, { recursive: true }))
    const socket = path.join(dir, 'socket')
    run('redis-server', ['--port', '0', '--unixsocket', socket, '--dir', dir, '--save', '', '--logfile', path.join(dir, 'log')])
    await until(() => fs.existsSync(socket))
    const node = () => hocuspocus(0, [new Redis({ options: { path: socket } })])
    return `${await node()} ${await node()}`
  },
  'y-sweet': async () => {
    const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
    const program = path.join(cache, 'relayfs-tests', 'bin', 'y-sweet') // where deps.sh has built it
    if (!fs.existsSync(program)) return `missing: ${program}: run tests/scripts/deps.sh`
    const at = Number(port) || await freePort()
    const keys = token === 'auth' ? JSON.parse(execFileSync(program, ['gen-auth', '--json'])) : {}
    const args = ['serve', '--port', at]
    if (readOnlyToken) args.push(readOnlyToken)
    if (keys.private_key) args.push('--auth', keys.private_key)
    const child = run(program, args)
    atEnd = () => { // it writes what it has not kept yet
      child.kill('SIGINT')
      return once(child, 'exit')
    }
    const url = `http://127.0.0.1:${at}`
    await until(() => fetch(url + '/ready').then(answer => answer.ok, () => false))
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${keys.server_token ?? ''}` }
    await fetch(url + '/doc/new', { method: 'POST', headers, body: '{"docId": "team"}' }) // the folder of all tests
    return `${at} ${keys.server_token ?? ''}`
  }
}

console.log(await servers[kind]())
process.stdin.resume()
process.stdin.on('end', async () => {
  await atEnd()
  process.exit(0)
})
