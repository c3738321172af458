// Package backup copies what is kept of folders, and puts copies back. A backup is a folder with a manifest,
// the store of each Folder and the attachments of servers, and the checksums of all these files. It has no
// secret: tokens, keys and logins are kept elsewhere.
package backup

import (
	"context"
	"fmt"
	"io"

	"github.com/relayfs/relayfs/bridge/store"
)

// Folder is one whose state is kept here.
type Folder struct {
	Name   string `json:"name"`
	Place  string `json:"place"`  // where its documents come from, for people
	Source string `json:"source"` // as a SOURCE argument
	State  string `json:"state"`  // its state folder
	// Store is what is kept there, in the process that has it open.
	Store *store.Store `json:"-"`
}

// Keeper has the stores of Folders open.
type Keeper interface {
	// Kept returns the Folders.
	Kept(ctx context.Context) ([]Folder, error)
	// Copy writes the store of a Folder as it is now. size is told before.
	Copy(ctx context.Context, folder string, w io.Writer, size func(int64)) error
}

// Kept are the Folders whose stores this process has open.
type Kept []Folder

// Copy writes the store of a Folder as it is now. size is told before.
func (l Kept) Copy(ctx context.Context, folder string, w io.Writer, size func(int64)) error {
	s, err := l.store(folder)
	if err != nil {
		return err
	}
	return s.Copy(interruptible{ctx, w}, size)
}

// Compact makes the store of a Folder smaller.
func (l Kept) Compact(folder string) (store.Gain, error) {
	s, err := l.store(folder)
	if err != nil {
		return store.Gain{}, err
	}
	return s.Compact(func(int, int) {})
}

func (l Kept) store(folder string) (*store.Store, error) {
	for _, f := range l {
		if f.Name == folder {
			return f.Store, nil
		}
	}
	return nil, fmt.Errorf("no folder %q is kept here", folder)
}

// interruptible ends a copy with its context.
type interruptible struct {
	ctx context.Context
	io.Writer
}

func (w interruptible) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}
