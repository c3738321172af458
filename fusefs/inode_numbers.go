//go:build !windows

package fusefs

import (
	"hash/fnv"

	"github.com/relayfs/relayfs/bridge/model"
)

// firstInode is the first number that is not a fingerprint. All stay below 2^53, above which
// programs that keep numbers as doubles (Node) would take different files for the same.
const firstInode = 1 << 52

// inodeNumbers has the number of everything that the workspace has an ID for. Programs that compare the numbers of
// files over days (backup tools, tail -F, editors with a session file) get the same one for the same path
// after a restart: it is a fingerprint of the path. A file that is renamed keeps its number
// while the process lives, as on a disk, and what comes to its old path then gets another
// one. A save by rename gives the note a new number, again as on a disk.
type inodeNumbers struct {
	numbers map[uint64]uint64 // by the workspace's ID
	ids     map[uint64]uint64 // the reverse
	last    uint64
}

// newInodeNumbers returns inodeNumbers of nothing.
func newInodeNumbers() inodeNumbers {
	return inodeNumbers{numbers: make(map[uint64]uint64), ids: make(map[uint64]uint64), last: firstInode}
}

// next returns a fresh number.
func (n *inodeNumbers) next() uint64 {
	n.last++
	return n.last
}

// set makes ino the number of what the workspace calls id.
func (n *inodeNumbers) set(id, ino uint64) {
	delete(n.ids, n.numbers[id])
	n.numbers[id], n.ids[ino] = ino, id
}

// drop forgets the number of id.
func (n *inodeNumbers) drop(id uint64) {
	delete(n.ids, n.numbers[id])
	delete(n.numbers, id)
}

// of is the number of what the workspace calls id and has at p.
func (n *inodeNumbers) of(p model.Path, id uint64) uint64 {
	if ino := n.numbers[id]; ino != 0 {
		return ino
	}
	ino := fingerprint(p)
	if _, taken := n.ids[ino]; taken {
		ino = n.next()
	}
	n.set(id, ino)
	return ino
}

// fingerprint is from 2 to firstInode; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(firstInode-2) + 2
}
