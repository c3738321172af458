// Package happened remembers what was changed in a workspace, and by whom, so that each session can ask what others
// did since it last did. The lock of a Log protects its list.
package happened

import (
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// kept is how many changes a Log remembers.
const kept = 10_000

// Change is one change that readers see.
type Change struct {
	Kind    model.EventKind
	Path    model.Path
	OldPath model.Path // of a rename
	Dir     bool
	By      string // "" for a person, or a program that works on the vault itself
	Session string // whose change it is; "" like By
}

// Log is what happened.
type Log struct {
	cancel func()

	mu   sync.Mutex // protects the following
	list []Change   // oldest first
	last uint64     // number of the newest, in the order in which they happened, from 1
}

// Follow returns a Log of what happens to ws from now on.
func Follow(ws *bridge.Workspace) *Log {
	x := new(Log)
	x.cancel = ws.Subscribe(x.event)
	return x
}

// Close ends that the Log follows the workspace.
func (x *Log) Close() { x.cancel() }

func (x *Log) event(ev model.Event) {
	switch ev.Kind {
	case model.EventCreated, model.EventRemoved, model.EventRenamed:
	case model.EventChanged:
		if !ev.ViewChanged {
			return
		}
	default:
		return
	}
	c := Change{Kind: ev.Kind, Path: ev.Path, OldPath: ev.OldPath, Dir: ev.Dir, By: ev.By.Name, Session: ev.By.Session}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last++
	if x.list = append(x.list, c); len(x.list) > 2*kept {
		x.list = append([]Change(nil), x.list[kept:]...)
	}
}

// Now returns the number of the newest change.
func (x *Log) Now() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last
}

// Since returns the changes after the one with that number. whole is false if older ones of them are forgotten.
func (x *Log) Since(number uint64) (list []Change, whole bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first := x.last + 1 - uint64(len(x.list)) // the number of the first in the list
	from := max(number+1, first)
	return append([]Change(nil), x.list[from-first:]...), number+1 >= first
}
