// A server of Yjs documents on a free port of 127.0.0.1:
//
//	node server.mjs y-websocket|hocuspocus|hocuspocus-redis [token] [read-only token] [port]
//	node server.mjs y-sweet [auth] [directory or address of s3] [port]
//	node server.mjs s3
//
// prints one line and ends with its standard input. The line is the port; the ports of both nodes of hocuspocus-redis;
// the port and, with auth, the server token of y-sweet; or "missing: " and what is not installed. With tokens,
// Hocuspocus asks for one of them. y-sweet keeps its documents in the directory or in the bucket of s3, the others in memory.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

const [kind, token, readOnlyToken, port] = process.argv.slice(2)
let atEnd = () => {}

// Runs a program until the end of this one at most, and ends with it.
const run = (program, args, env = {}) => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  child.stdout.resume()
  child.on('exit', code => {
    console.error(`${program} ended with ${code}`)
    process.exit(1)
  })
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

// The bucket of s3 that y-sweet uses.
const bucket = 'documents'

// Returns the path of a program that deps.sh has built.
const built = name => {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
  const program = path.join(cache, 'relayfs-tests', 'bin', name)
  if (fs.existsSync(program)) return program
  console.log(`missing: ${program}: run tests/scripts/deps.sh`)
  process.exit(0)
}

const states = new Map() // the database of Hocuspocus
const hocuspocus = async (port, extensions = []) => {
  const { Server } = await import('@hocuspocus/server')
  const Y = await import('yjs')
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
    const { setupWSConnection } = await import('@y/websocket-server/utils')
    const { WebSocketServer } = await import('ws')
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
    const { Redis } = await import('@hocuspocus/extension-redis')
    await until(() => fs.existsSync(socket))
    const node = () => hocuspocus(0, [new Redis({ options: { path: socket } })])
    return `${await node()} ${await node()}`
  },
  s3: async () => {
    const program = built('gofakes3')
    const at = await freePort()
    run(program, ['-host', `127.0.0.1:${at}`, '-backend', 'memory', '-initialbucket', bucket, '-quiet'])
    await until(() => fetch(`http://127.0.0.1:${at}/${bucket}`).then(answer => answer.ok, () => false))
    return at
  },
  'y-sweet': async () => {
    const program = built('y-sweet')
    const keys = token === 'auth' ? JSON.parse(execFileSync(program, ['gen-auth', '--json'])) : {}
    const args = ['serve', '--port', port || '0']
    const s3 = readOnlyToken?.startsWith('http')
    if (readOnlyToken) args.push(s3 ? `s3://${bucket}/y-sweet` : readOnlyToken)
    if (keys.private_key) args.push(`--auth=${keys.private_key}`) // it may begin with -
    const child = run(program, args, {
      // Two threads that open connections to one document at once can spin for ever (Observer::subscribe_with of yrs 0.19).
      TOKIO_WORKER_THREADS: '1',
      ...s3 && { AWS_ENDPOINT_URL_S3: readOnlyToken, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_S3_USE_PATH_STYLE: 'true' }
    })
    atEnd = () => { // it writes what it has not kept yet
      child.removeAllListeners('exit')
      child.kill('SIGINT')
      return once(child, 'exit')
    }
    const at = await new Promise(resolve => {
      let said = ''
      child.stdout.on('data', function look (data) {
        const [, listening] = /Listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(said += data) ?? []
        if (!listening) return
        child.stdout.off('data', look)
        resolve(listening)
      })
    })
    const url = `http://127.0.0.1:${at}`
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${keys.server_token ?? ''}` }
    if (!Number(port)) { // it is not the same server again
      await fetch(url + '/doc/new', { method: 'POST', headers, body: '{"docId": "team"}' }) // the folder of all tests
    }
    return `${at} ${keys.server_token ?? ''}`
  }
}

console.log(await servers[kind]())
process.stdin.resume()
process.stdin.on('end', async () => {
  await atEnd()
  process.exit(0)
})
