package fusefs

import (
	"context"
	"errors"
	"io"

	"github.com/relayfs/relayfs/bridge/model"
)

// poker wakes nobody here: there is no inotify.
type poker struct{}

func newPoker(Options, string, *tree) *poker { return &poker{} }

func (*poker) add(model.Path) {}

func (*poker) run(context.Context) {}

func (*tree) isPoke(context.Context) bool { return false }

// RunPoker fails.
func RunPoker(io.Reader) error { return errors.New("watchers cannot be woken on this system") }
