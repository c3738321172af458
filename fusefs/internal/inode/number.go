// Package inode numbers inodes. Programs that compare the numbers of files over days
// (backup tools, tail -F, editors with a session file) get the same one for the same path
// after a restart: it is a fingerprint of the path. A file that is renamed keeps its number
// while the process lives, as on a disk, and what comes to its old path then gets another
// one. A save by rename gives the note a new number, again as on a disk.
package inode

import (
	"hash/fnv"

	"github.com/relayfs/relayfs/bridge/model"
)

// first is the first number that is not a fingerprint. All stay below 2^53, above which
// programs that keep numbers as doubles (Node) would take different files for the same.
const first = 1 << 52

// Numbers knows the number of everything that the workspace has an ID for.
type Numbers struct {
	of   map[uint64]uint64 // by the workspace's ID
	ids  map[uint64]uint64 // the reverse
	last uint64
}

// NewNumbers returns Numbers of nothing.
func NewNumbers() Numbers {
	return Numbers{of: make(map[uint64]uint64), ids: make(map[uint64]uint64), last: first}
}

// Next returns a fresh number.
func (n *Numbers) Next() uint64 {
	n.last++
	return n.last
}

// Set makes ino the number of what the workspace calls id.
func (n *Numbers) Set(id, ino uint64) {
	delete(n.ids, n.of[id])
	n.of[id], n.ids[ino] = ino, id
}

// Drop forgets the number of id.
func (n *Numbers) Drop(id uint64) {
	delete(n.ids, n.of[id])
	delete(n.of, id)
}

// Of is the number of what the workspace calls id and has at p.
func (n *Numbers) Of(p model.Path, id uint64) uint64 {
	if ino := n.of[id]; ino != 0 {
		return ino
	}
	ino := fingerprint(p)
	if _, taken := n.ids[ino]; taken {
		ino = n.Next()
	}
	n.Set(id, ino)
	return ino
}

// fingerprint is from 2 to first; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(first-2) + 2
}
