package bridge

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// What a note asks of its node; see note.Node.

func (n *node) Place() note.Place {
	w := n.folder.names.ws
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return note.Place{Path: n.path(), Rel: n.rel(), Offline: n.folder.offline.Load()}
}

func (n *node) PeoplesPath() model.Path {
	w := n.folder.names.ws
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return n.peoplesPath()
}

func (n *node) Shown() bool {
	w := n.folder.names.ws
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return n.shown()
}

func (n *node) Attached() bool {
	w := n.folder.names.ws
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	d := n
	for ; d.parent != nil; d = d.parent {
		if d.parent.children[d.name] != d {
			return false
		}
	}
	return d == w.root || d.hidden()
}
