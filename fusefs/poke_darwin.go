package fusefs

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/relayfs/relayfs/bridge/model"
)

// poker wakes nobody here: there is no inotify.
type poker struct{}

func newPoker([]string, string, *slog.Logger, func(context.Context)) *poker { return &poker{} }

func (*poker) add(model.Path) {}

func (*poker) run(context.Context) {}

func (*poker) process() int { return 0 }

// RunPoker fails.
func RunPoker(io.Reader) error { return errors.New("watchers cannot be woken on this system") }
