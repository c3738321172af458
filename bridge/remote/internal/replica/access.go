package replica

import (
	"fmt"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/model"
)

// Access is whether the server takes changes, by its last word.
type Access struct {
	o      Options
	locked atomic.Pointer[model.ReadOnlyError]
}

// Locked returns why the server takes no changes and what to do; nil if it does.
func (a *Access) Locked() *model.ReadOnlyError { return a.locked.Load() }

// refuse records that the server takes no changes.
func (a *Access) refuse(reason string) {
	text := fmt.Sprintf("%s takes no changes: %s; %s", a.o.Address, reason, a.o.Address.WriteHint())
	if a.locked.Swap(&model.ReadOnlyError{Reason: text}) == nil {
		a.o.Log.Warn("folder is read-only", model.LogFolder, a.o.Name, "reason", reason)
	}
}

func (a *Access) allow() { a.locked.Store(nil) }
