//go:build !windows

package fusefs

import (
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// changed takes over what the workspace published. It runs on the goroutine that
// made the change, which may be one of our own handlers: it only changes memory
// and queues. The kernel knows already what was asked for through this mount.
func (t *tree) changed(ev model.Event) {
	mine := t.isMine(ev.Origin)
	if !mine {
		defer t.wakeWatchers(ev)
	}
	switch ev.Kind {
	case model.EventChanged:
		t.contentChanged(ev)
	case model.EventCreated:
		t.namesChanged()
		if !mine {
			t.entryChanged(ev.Path)
		}
	case model.EventRemoved:
		t.removed(ev.Path)
		if !mine {
			t.entryChanged(ev.Path)
		}
	case model.EventRenamed:
		t.renamed(ev.OldPath, ev.Path)
		if !mine {
			t.entryChanged(ev.OldPath)
			t.entryChanged(ev.Path)
		}
	case model.EventOffline, model.EventOnline:
		t.namesChanged()
		t.entryChanged(ev.Path)
	}
}

// wakeWatchers has programs woken that watch what changed.
func (t *tree) wakeWatchers(ev model.Event) {
	k := t.poker.Load()
	if ev.Kind != model.EventChanged || ev.ViewChanged {
		k.add(ev.Path)
	}
	if ev.Kind == model.EventRenamed {
		k.add(ev.OldPath)
	}
}

func (t *tree) namesChanged() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
}

// isMine says whether a change was asked for through this mount: its origin is
// the tree, or the file that was written.
func (t *tree) isMine(origin any) bool {
	f, ok := origin.(*File)
	return origin == any(t) || ok && f.t == t
}

func (t *tree) contentChanged(ev model.Event) {
	t.mu.Lock()
	k := t.nodes[ev.Path]
	files := slices.Clone(t.retired[ev.Path])
	save := t.adopting[ev.Path]
	t.mu.Unlock()
	if save != nil && ev.Origin == any(save) {
		return // the inodes there are about to lose the name to the one that saved
	}
	if k != nil {
		if f, ok := k.node.(*File); ok {
			files = append(files, f)
		} else {
			t.inval.content(k.node)
		}
	}
	for _, f := range files {
		f.published(ev, ev.Asked && !t.isMine(ev.Origin))
	}
}

// removed forgets the node at p and everything below it. Files that are open go
// on with what they show.
func (t *tree) removed(p model.Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	t.lose(p)
	for at := range maps.Clone(t.parked) {
		if p.Contains(at) {
			t.unpark(at) // what is gone does not come back
		}
	}
}

// lose is removed for callers that hold mu.
func (t *tree) lose(p model.Path) {
	for at, k := range t.below(p) {
		if k.id == 0 {
			continue
		}
		t.forget(at, k.node)
		t.dropIno(k.id)
		switch n := k.node.(type) {
		case *File:
			n.gone = true
		case *Attachment:
			n.gone = true
		}
	}
	for at, files := range t.retired {
		if p.Contains(at) {
			delete(t.retired, at)
			for _, f := range files {
				f.gone = true
			}
		}
	}
}

// renamed moves the node at p and everything below it.
func (t *tree) renamed(p, newPath model.Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	t.lose(newPath) // what was there is replaced
	moved := t.below(p)
	for at, k := range moved {
		t.forget(at, k.node)
	}
	for at, pk := range maps.Clone(t.parked) {
		if p.Contains(at) {
			t.unpark(at)
			t.parkAt(newPath+at[len(p):], pk)
		}
	}
	for at, files := range maps.Clone(t.retired) {
		if p.Contains(at) {
			delete(t.retired, at)
			to := newPath + at[len(p):]
			t.retired[to] = files
			for _, f := range files {
				f.path = to
			}
		}
	}
	for at, k := range moved {
		to := newPath + at[len(p):]
		t.put(to, k.node, k.id)
		switch n := k.node.(type) {
		case *Dir:
			n.path = to
		case *File:
			n.path = to
		case *Attachment:
			n.path = to
		case *Link:
			n.path = to
		}
	}
}

// below lists the nodes at and below p. mu is held.
func (t *tree) below(p model.Path) map[model.Path]*known {
	found := make(map[model.Path]*known)
	if k := t.nodes[p]; k != nil {
		found[p] = k
		if _, ok := k.node.(*Dir); !ok {
			return found
		}
	}
	for at, k := range t.nodes {
		if strings.HasPrefix(string(at), string(p)+"/") {
			found[at] = k
		}
	}
	return found
}
