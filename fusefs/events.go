package fusefs

import (
	"strings"

	"github.com/relayfs/relayfs/bridge"
)

// changed takes over what the workspace published. It runs on the goroutine that
// made the change, which may be one of our own handlers: it only changes memory
// and queues. The kernel knows already what was asked for through this mount.
func (t *tree) changed(ev bridge.Event) {
	mine := ev.Origin == any(t)
	switch ev.Kind {
	case bridge.EventChanged:
		t.contentChanged(ev, mine)
	case bridge.EventCreated:
		t.namesChanged()
		if !mine {
			t.entryChanged(ev.Path)
		}
	case bridge.EventRemoved:
		t.removed(ev.Path)
		if !mine {
			t.entryChanged(ev.Path)
		}
	case bridge.EventRenamed:
		t.renamed(ev.OldPath, ev.Path)
		if !mine {
			t.entryChanged(ev.OldPath)
			t.entryChanged(ev.Path)
		}
	case bridge.EventOffline, bridge.EventOnline:
		t.namesChanged()
		t.entryChanged(ev.Path)
	}
}

func (t *tree) namesChanged() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
}

func (t *tree) contentChanged(ev bridge.Event, mine bool) {
	t.mu.Lock()
	k := t.nodes[ev.Path]
	t.mu.Unlock()
	if k == nil {
		return
	}
	if f, ok := k.node.(*File); ok {
		f.published(ev.Version, mine, ev.ViewChanged)
		return
	}
	t.inval.content(k.node)
}

// removed forgets the node at p and everything below it. Files that are open go
// on with what they show.
func (t *tree) removed(p bridge.Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	for at, k := range t.below(p) {
		if k.id != 0 {
			t.forget(at, k.node)
		}
	}
}

// renamed moves the node at p and everything below it.
func (t *tree) renamed(p, newPath bridge.Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	moved := t.below(p)
	for at, k := range moved {
		t.forget(at, k.node)
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
		}
	}
}

// below lists the nodes at and below p. mu is held.
func (t *tree) below(p bridge.Path) map[bridge.Path]*known {
	found := make(map[bridge.Path]*known)
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
