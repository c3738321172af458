//go:build !windows

package fusefs

import (
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// changed applies an event of the workspace. It runs on the goroutine of the change, which may be one of our own
// handlers, so it only changes memory and queues. The kernel already has the renames and removals that were requested
// through this mount.
func (t *tree) changed(ev model.Event) {
	f, ok := ev.Origin.(*File)
	mine := ev.Origin == any(t) || ok && f.t == t // this mount requested the change, for the tree or for a file
	if !mine {
		defer t.wakeWatchers(ev)
	}
	switch ev.Kind {
	case model.EventChanged:
		t.contentChanged(ev, mine)
		return
	case model.EventRemoved:
		t.removed(ev.Path)
	case model.EventRenamed:
		t.renamed(ev)
		if !mine {
			t.entryChanged(ev.OldPath)
		}
	case model.EventCreated, model.EventOffline, model.EventOnline:
		t.update(func(tb *tableState) { tb.epoch++ })
	default:
		return
	}
	if !mine || ev.Kind == model.EventOffline || ev.Kind == model.EventOnline {
		t.entryChanged(ev.Path)
	}
}

func (t *tree) wakeWatchers(ev model.Event) {
	k := t.watchNotifier
	if ev.Kind != model.EventChanged || ev.ViewChanged {
		k.add(ev.Path)
	}
	if ev.Kind == model.EventRenamed {
		k.add(ev.OldPath)
	}
}

func (t *tree) contentChanged(ev model.Event, mine bool) {
	if save, ok := ev.Origin.(*File); ok && mine && (!save.lifeState().IsNote() || save.path() != ev.Path) {
		return // a save by rename: save is about to become the inode at this name
	}
	var k *nodeEntry
	var replaced []*File
	t.update(func(tb *tableState) { k, replaced = tb.nodes[ev.Path], slices.Clone(tb.replaced[ev.Path]) })
	for _, f := range replaced {
		f.published(ev, mine)
	}
	if k == nil {
		return
	}
	f, ok := k.node.(*File)
	if !ok {
		t.inval.content(k.node)
	}
	for ; f != nil; f = f.successor() { // another inode may just have taken the name
		f.published(ev, mine)
	}
}

// removed forgets the node at p and everything below it. Open files keep their text.
func (t *tree) removed(p model.Path) {
	t.update(func(tb *tableState) {
		tb.epoch++
		tb.loseName(p)
		for at := range maps.Clone(tb.deferred) {
			if p.Contains(at) {
				tb.cancelUnlink(at) // a removed note cannot be shown again
			}
		}
	})
}

// renamed moves the node and everything below it. A note that a user has moved since its unlink stays.
func (t *tree) renamed(ev model.Event) {
	p, newPath := ev.OldPath, ev.Path
	byUser := ev.Origin == nil && ev.By == model.Author{}
	t.update(func(tb *tableState) {
		tb.epoch++
		tb.move(p, newPath)
		for at, du := range maps.Clone(tb.deferred) {
			if p.Contains(at) {
				tb.cancelUnlink(at)
				if !byUser || at != p {
					t.deferAt(tb, newPath+at[len(p):], du)
				}
			}
		}
	})
}
