package replica

import (
	"fmt"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/model"
)

// WriteAccess records whether the server accepted changes when it last answered.
type WriteAccess struct {
	o      Options
	locked atomic.Pointer[model.ReadOnlyError]
}

// ReadOnlyErr returns the reason why the server accepts no changes, with the next step. It returns nil if the server
// accepts changes or has not answered yet.
func (a *WriteAccess) ReadOnlyErr() *model.ReadOnlyError { return a.locked.Load() }

func (a *WriteAccess) refuse(reason string) {
	text := fmt.Sprintf("%s accepts no changes: %s; %s", a.o.Address, reason, a.o.Address.WriteHint())
	if a.locked.Swap(&model.ReadOnlyError{Reason: text}) == nil {
		a.o.Log.Warn("folder is read-only", model.LogFolder, a.o.Name, "reason", reason)
	}
}
