package replica

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Access is whether the server takes changes, by its last word.
type Access struct {
	address transport.Address
	folder  string
	log     *slog.Logger

	mu     sync.Mutex // protects the following
	reason string     // why it takes none, "" if it does
}

// ReadOnly reports whether the server takes no changes.
func (a *Access) ReadOnly() bool { return a.Reason() != "" }

// Locked returns why the server takes no changes and what to do; nil if it does.
func (a *Access) Locked() error {
	if text := a.Reason(); text != "" {
		return &model.ReadOnlyError{Reason: text}
	}
	return nil
}

// Reason returns the error of Locked as a sentence, or "".
func (a *Access) Reason() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reason == "" {
		return ""
	}
	return fmt.Sprintf("%s takes no changes: %s; set RELAYFS_TOKEN to one that may write and start again, if that is wanted", a.address, a.reason)
}

// refuse records that the server takes no changes.
func (a *Access) refuse(reason string) {
	a.mu.Lock()
	was := a.reason
	a.reason = reason
	a.mu.Unlock()
	if was == "" {
		a.log.Warn("folder is read-only", model.LogFolder, a.folder, "reason", reason)
	}
}

func (a *Access) allow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reason = ""
}
