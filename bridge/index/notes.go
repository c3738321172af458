package index

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
)

// NoteInfo describes the view of a note. It is immutable.
type NoteInfo struct {
	Path    model.Path
	ModTime time.Time
	Size    int64 // bytes of the view
	outline.Outline

	terms []uint64 // its terms in the index
}

func NewNoteInfo(p model.Path, v *model.Version) *NoteInfo {
	return &NoteInfo{Path: p, ModTime: v.ModTime(), Size: int64(len(v.Text())), Outline: outline.Of(v.Text())}
}

type NoteIndex struct {
	seed maphash.Seed

	mu    sync.RWMutex // guards the fields below
	notes map[model.Path]*NoteInfo
	list  []*NoteInfo // sorted by path; nil after notes were added or removed
	// terms maps the hash of a folded key and value to the notes that may have the property, sorted by path.
	terms map[uint64][]*NoteInfo
}

func NewNoteIndex() *NoteIndex {
	return &NoteIndex{seed: maphash.MakeSeed(), notes: make(map[model.Path]*NoteInfo), terms: make(map[uint64][]*NoteInfo)}
}

func (x *NoteIndex) add(model.Path) {}

func (x *NoteIndex) set(_ context.Context, p model.Path, v *model.Version) error {
	info := NewNoteInfo(p, v)
	info.terms = x.termsOf(&info.Outline)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.put(info)
	return nil
}

// put sets the info of a note. The caller holds mu for writing.
func (x *NoteIndex) put(info *NoteInfo) {
	if old := x.notes[info.Path]; old != nil {
		x.unlist(old)
		if i, found := find(x.list, info.Path); found {
			x.list[i] = info
		}
	} else {
		x.list = nil
	}
	x.notes[info.Path] = info
	for _, term := range info.terms {
		have := x.terms[term]
		if i, found := find(have, info.Path); !found {
			x.terms[term] = slices.Insert(have, i, info)
		}
	}
}

func (x *NoteIndex) drop(info *NoteInfo) {
	x.unlist(info)
	delete(x.notes, info.Path)
	x.list = nil
}

func (x *NoteIndex) unlist(info *NoteInfo) {
	for _, term := range info.terms {
		have := x.terms[term]
		i, found := find(have, info.Path)
		switch {
		case found && len(have) == 1:
			delete(x.terms, term)
		case found:
			x.terms[term] = slices.Delete(have, i, i+1)
		}
	}
}

func find(list []*NoteInfo, p model.Path) (i int, found bool) {
	return slices.BinarySearchFunc(list, p, func(n *NoteInfo, p model.Path) int { return cmp.Compare(n.Path, p) })
}

func byPath(a, b *NoteInfo) int { return cmp.Compare(a.Path, b.Path) }

func (x *NoteIndex) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, info := range x.under(p) {
		x.drop(info)
	}
}

func (x *NoteIndex) rename(oldPath, newPath model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := x.under(oldPath)
	for _, info := range moved {
		x.drop(info)
	}
	for _, info := range moved {
		there := *info
		there.Path = newPath + info.Path[len(oldPath):]
		x.put(&there)
	}
}

// under returns the notes at or below p. The caller holds mu.
func (x *NoteIndex) under(p model.Path) []*NoteInfo {
	if info := x.notes[p]; info != nil {
		return []*NoteInfo{info}
	}
	var list []*NoteInfo
	for q, info := range x.notes {
		if p.Contains(q) {
			list = append(list, info)
		}
	}
	return list
}

func (x *NoteIndex) Below(under model.Path) []*NoteInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list == nil {
		x.list = slices.SortedFunc(maps.Values(x.notes), byPath)
	}
	if under == "" {
		return slices.Clone(x.list)
	}
	var list []*NoteInfo
	for _, info := range x.list {
		if under.Contains(info.Path) {
			list = append(list, info)
		}
	}
	return list
}
