import * as Y from 'yjs'
import { readFileSync } from 'node:fs'
const base = new Uint8Array(Buffer.from(process.argv[2],'hex')), upd = new Uint8Array(Buffer.from(process.argv[3],'hex'))
const show = (n,d)=>{ console.log(n, Buffer.from(Y.encodeStateAsUpdate(d)).toString('hex'));
 for (const [c,ss] of d.store.clients) console.log('  client',c, ss.map(s=>`${s.id.clock}+${s.length}${s.deleted?'D':''}:${s.content?s.content.constructor.name:'GC'} par=${s.parent&&s.parent._item?s.parent._item.id.client+':'+s.parent._item.id.clock:''} sub=${s.parentSub} o=${s.origin?s.origin.client+':'+s.origin.clock:'-'} r=${s.rightOrigin?s.rightOrigin.client+':'+s.rightOrigin.clock:'-'}`).join('\n    '))
 console.log('  snapshot', Buffer.from(Y.encodeSnapshot(Y.snapshot(d))).toString('hex'), 'pending', !!d.store.pendingStructs, !!d.store.pendingDs)}
const d = new Y.Doc(); d.clientID=1
d.getText('t');d.getMap('m');d.getArray('a')
Y.applyUpdate(d,base); Y.applyUpdate(d,upd); show('yjs',d)
const e = new Y.Doc(); Y.applyUpdate(e, Y.encodeStateAsUpdate(d)); show('copy',e)
