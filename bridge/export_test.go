package bridge

import "github.com/relayfs/relayfs/bridge/model"

// Kept returns when the store has what was written to the note at p, or has refused it.
func (w *Workspace) Kept(p model.Path) {
	if n, err := w.note("open", p); err == nil {
		n.lock()
		n.write.Unlock()
	}
}
