//go:build !windows

package fusefs

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
)

// firstInode is the first number that is not a fingerprint. All stay below 2^53, above which
// programs that keep numbers as doubles (Node) would take different files for the same.
const firstInode = 1 << 52

// inodeNumbers has the number of everything that the workspace has an ID for. Programs that compare the numbers of
// files over days (backup tools, tail -F, editors with a session file) get the same one for the same path
// after a restart: it is a fingerprint of the path. A file that is renamed keeps its number,
// as on a disk, and what comes to its old path then gets another
// one. A save by rename gives the note a new number, again as on a disk. The numbers that are not the fingerprints
// of their paths are kept in a file.
type inodeNumbers struct {
	numbers map[uint64]uint64 // by the workspace's ID
	ids     map[uint64]uint64 // the reverse
	last    uint64
	kept    map[model.Path]uint64 // those of an earlier process that are not the path's fingerprints
	keptFor map[uint64]model.Path // the reverse
	changed bool                  // since they were kept
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
	n.changed = n.changed || n.numbers[id] != ino
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
	ino := n.kept[p]
	if ino == 0 {
		ino = fingerprint(p)
	}
	if at, kept := n.keptFor[ino]; kept && at != p || n.ids[ino] != 0 {
		ino = n.next()
	}
	n.set(id, ino)
	return ino
}

// numbersFile is the name of the file in the state folder.
const numbersFile = "inodes.json"

// keepNumbers keeps the numbers that are not the fingerprints of their paths in the file, for the next process.
func (t *tree) keepNumbers(ctx context.Context) error {
	if t.state == "" {
		return nil
	}
	changed := false
	t.update(func(tb *table) { changed, tb.inos.changed = tb.inos.changed, false })
	if !changed {
		return nil
	}
	numbers := make(map[model.Path]uint64)
	err := t.ws.Walk(ctx, "", func(e bridge.Info) error {
		t.update(func(tb *table) {
			ino := tb.inos.numbers[e.ID]
			if ino == 0 {
				ino = tb.inos.kept[e.Path] // nobody has looked at it in this process
			}
			if ino != 0 && ino != fingerprint(e.Path) {
				numbers[e.Path] = ino
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	data, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	return t.state.Replace(numbersFile, data)
}

// read reads the numbers that an earlier process has kept. Without them files have other ones, which does no harm.
func (n *inodeNumbers) read(state owner.Folder) error {
	data, err := state.Read(numbersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept := make(map[model.Path]uint64)
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	n.kept, n.keptFor = kept, make(map[uint64]model.Path)
	for p, ino := range kept {
		n.keptFor[ino] = p
		n.last = max(n.last, ino)
	}
	return nil
}

// fingerprint is from 2 to firstInode; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(firstInode-2) + 2
}
