//go:build !windows

package fusefs

import (
	"hash/fnv"

	"github.com/relayfs/relayfs/bridge/model"
)

// Programs that compare inode numbers over days (backup tools, tail -F, editors
// with a session file) get the same one for the same path after a restart: it is
// a fingerprint of the path. A file that is renamed keeps its number while the
// process lives, as on a disk, and what comes to its old path then gets another
// one. A save by rename gives the note a new number, again as on a disk.

// firstIno is the first number given out in turn; fingerprints lie below. All
// stay below 2^53, above which programs that keep numbers as doubles (Node) would
// take different files for the same.
const firstIno = 1 << 52

// newIno returns a fresh inode number. mu is held.
func (t *tree) newIno() uint64 {
	t.nextIno++
	return t.nextIno
}

// setIno makes ino the number of what the workspace calls id. mu is held.
func (t *tree) setIno(id, ino uint64) {
	delete(t.idOfIno, t.inos[id])
	t.inos[id], t.idOfIno[ino] = ino, id
}

// dropIno forgets the number of what is gone. mu is held.
func (t *tree) dropIno(id uint64) {
	delete(t.idOfIno, t.inos[id])
	delete(t.inos, id)
}

// inoOf is the inode number of what the workspace calls id and has at p. mu is held.
func (t *tree) inoOf(p model.Path, id uint64) uint64 {
	if k := t.nodes[p]; k != nil && (k.id == 0 || k.id == id) {
		return k.node.EmbeddedInode().StableAttr().Ino
	}
	if ino := t.inos[id]; ino != 0 {
		return ino
	}
	ino := fingerprint(p)
	if _, taken := t.idOfIno[ino]; taken {
		ino = t.newIno()
	}
	t.setIno(id, ino)
	return ino
}

// fingerprint is from 2 to firstIno; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(firstIno-2) + 2
}
