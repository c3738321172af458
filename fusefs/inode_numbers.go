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

// firstInode is the first number that is not a fingerprint. All numbers stay below 2^53, because programs that store
// them as doubles (Node) would confuse files with larger numbers.
const firstInode = 1 << 52

// inodeNumbers has the numbers of the nodes that have an ID in the workspace and were looked up. The number of a file
// is usually a fingerprint of its path. So programs that compare the numbers of files over days (backup tools, tail -F,
// editors with a session file) get the same number for the same path after a restart. As on a disk, a renamed file
// keeps its number, a new file at its old path gets another number, and a save by rename gives the note a new number.
// numbersFile stores the numbers that are not the fingerprints of their paths.
type inodeNumbers struct {
	numbers map[uint64]uint64 // by ID in the workspace
	ids     map[uint64]uint64 // the inverse of numbers
	last    uint64
	kept    map[model.Path]uint64 // numbers of an earlier process that are not the fingerprints of their paths
	keptFor map[uint64]model.Path // the inverse of kept
	changed bool                  // a number was set since keepNumbers last ran
}

func newInodeNumbers() inodeNumbers {
	return inodeNumbers{numbers: make(map[uint64]uint64), ids: make(map[uint64]uint64), last: firstInode}
}

func (n *inodeNumbers) next() uint64 {
	n.last++
	return n.last
}

func (n *inodeNumbers) set(id, ino uint64) {
	n.changed = n.changed || n.numbers[id] != ino
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

const numbersFile = "inodes.json"

// keepNumbers stores the numbers that are not fingerprints of their paths, for the next process.
func (t *tree) keepNumbers(ctx context.Context) error {
	if t.state == "" {
		return nil
	}
	changed := false
	t.update(func(tb *tableState) { changed, tb.inos.changed = tb.inos.changed, false })
	if !changed {
		return nil
	}
	numbers := make(map[model.Path]uint64)
	err := t.ws.Walk(ctx, "", func(e bridge.Info) error {
		t.update(func(tb *tableState) {
			ino := tb.inos.numbers[e.ID]
			if ino == 0 {
				ino = tb.inos.kept[e.Path] // this process has not looked up the node
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

// read reads the numbers that an earlier process has stored. If it fails, files get other numbers, which does no harm.
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

// fingerprint returns a number from 2 up to, but not including, firstInode; 1 is the root.
func fingerprint(p model.Path) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p))
	return h.Sum64()%(firstInode-2) + 2
}
