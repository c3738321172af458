package main

import (
	"errors"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/fusefs"
)

// hintFor returns what to do about an error, "" if that is not known.
func hintFor(err error) string {
	if setup, ok := errors.AsType[*fusefs.SetupError](err); ok && api.Hint(err) == "" {
		return setup.Hint
	}
	return api.Hint(err)
}
