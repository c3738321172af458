package replica

import (
	"fmt"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/model"
)

// Access records whether the server accepts changes, by its last answer.
type Access struct {
	o      Options
	locked atomic.Pointer[model.ReadOnlyError]
}

// Locked returns why the server accepts no changes, and the next step; nil if it accepts them.
func (a *Access) Locked() *model.ReadOnlyError { return a.locked.Load() }

func (a *Access) refuse(reason string) {
	text := fmt.Sprintf("%s accepts no changes: %s; %s", a.o.Address, reason, a.o.Address.WriteHint())
	if a.locked.Swap(&model.ReadOnlyError{Reason: text}) == nil {
		a.o.Log.Warn("folder is read-only", model.LogFolder, a.o.Name, "reason", reason)
	}
}

func (a *Access) allow() { a.locked.Store(nil) }
