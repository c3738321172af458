//go:build !windows

package program

import (
	"context"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Of returns the program that makes a FUSE request. Outside of a request it returns the zero Program.
func (t *Table) Of(ctx context.Context) Program {
	caller, ok := fuse.FromContext(ctx)
	if !ok {
		return Program{}
	}
	return t.OfThread(caller.Pid)
}
