// What the drivers share: waiting for events, and a WebSocket for Node.
import WebSocket from 'ws'

export { WebSocket }

process.setMaxListeners(0) // each provider adds one

// A step that hangs fails, with its name, instead of the whole test run.
const patience = 180_000 * (process.env.RELAYFS_TEST_TIMESCALE || 1)

// until resolves once ok() is true, looked at whenever one of the emitters says
// something happened.
export function until(what, ok, ...watched) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => { stop(); reject(new Error(`not in time: ${what}`)) }, patience)
    const look = () => { if (ok()) { stop(); resolve() } }
    const stop = () => { clearTimeout(timer); for (const [emitter, event] of watched) emitter.off(event, look) }
    for (const [emitter, event] of watched) emitter.on(event, look)
    look()
  })
}

export const untilText = (doc, want) =>
  until(`the text is ${JSON.stringify(want)}, it is ${JSON.stringify(doc.getText('contents').toString())}`,
    () => doc.getText('contents').toString() === want, [doc, 'update'])

export function assert(ok, what) {
  if (!ok) throw new Error(what)
}

// run reports the driver's result as one line of JSON.
export async function run(main) {
  try {
    console.log(JSON.stringify(await main()))
    process.exit(0)
  } catch (e) {
    console.error(e.stack)
    process.exit(1)
  }
}
