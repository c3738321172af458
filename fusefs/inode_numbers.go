//go:build !windows

package fusefs

import (
	"hash/fnv"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// firstInode is the first number that is not a fingerprint. All numbers stay below 2^53, because programs that store
// them as doubles (Node) would confuse files with larger numbers.
const firstInode = 1 << 52

// inodeNumbers has the numbers of the nodes that have an ID in the workspace and were looked up. The number of a file is
// a fingerprint of its path, so it is the same after a restart. As on a disk, a renamed file keeps its number, a new
// file at its old path gets another number, and a save by rename gives the note a new number. These numbers, too, are
// fingerprints after the next start of relayfs.
type inodeNumbers struct {
	numbers map[uint64]uint64 // by ID in the workspace
	ids     map[uint64]uint64 // the inverse of numbers
	last    uint64
}

func newInodeNumbers() inodeNumbers {
	return inodeNumbers{
		numbers: make(map[uint64]uint64), ids: make(map[uint64]uint64),
		last: firstInode + uint64(time.Now().UnixMicro()), // no earlier process has used greater numbers
	}
}

func (n *inodeNumbers) next() uint64 {
	n.last++
	return n.last
}

func (n *inodeNumbers) set(id, ino uint64) {
	delete(n.ids, n.numbers[id])
	n.numbers[id], n.ids[ino] = ino, id
}

func (n *inodeNumbers) drop(id uint64) {
	delete(n.ids, n.numbers[id])
	delete(n.numbers, id)
}

func (n *inodeNumbers) of(p model.Path, id uint64) uint64 {
	if ino := n.numbers[id]; ino != 0 {
		return ino
	}
	ino := fingerprint(p)
	if n.ids[ino] != 0 {
		ino = n.next()
	}
	n.set(id, ino)
	return ino
}

// fingerprint returns a number from 2 up to, but not including, firstInode; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(firstInode-2) + 2
}
