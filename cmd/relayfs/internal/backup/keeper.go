// Package backup copies what is kept of folders, and puts copies back. A backup is a folder with a manifest,
// the store of each Folder and the attachments of servers, and the checksums of all these files. It has no
// secret: tokens, keys and logins are kept elsewhere.
package backup

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Paths on an owner's socket. Each takes owner.SourceParam too.
const (
	keptPath    = "/kept"
	storePath   = "/kept/store"   // query: folder; the bytes of a store
	compactPath = "/kept/compact" // POST a Folder
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
	// Compact makes the store of a Folder smaller. done is told of each document, where that is possible.
	Compact(ctx context.Context, folder string, done func(n, of int)) (store.Gain, error)
}

// Local keeps Folders in this process.
type Local []Folder

func (l Local) Kept(context.Context) ([]Folder, error) { return l, nil }

func (l Local) Copy(ctx context.Context, folder string, w io.Writer, size func(int64)) error {
	s, err := l.store(folder)
	if err != nil {
		return err
	}
	return s.Copy(interruptible{ctx, w}, size)
}

func (l Local) Compact(_ context.Context, folder string, done func(n, of int)) (store.Gain, error) {
	s, err := l.store(folder)
	if err != nil {
		return store.Gain{}, err
	}
	return s.Compact(done)
}

func (l Local) store(folder string) (*store.Store, error) {
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

// Remote asks a running owner.
type Remote struct{ Client *owner.Client }

func (r Remote) Kept(ctx context.Context) ([]Folder, error) {
	return jsonapi.Get[[]Folder](ctx, r.Client, keptPath, nil)
}

func (r Remote) Copy(ctx context.Context, folder string, w io.Writer, size func(int64)) error {
	return r.Client.Download(ctx, storePath, url.Values{"folder": {folder}}, func(n int64, body io.Reader) error {
		size(n)
		_, err := io.Copy(w, body)
		return err
	})
}

func (r Remote) Compact(ctx context.Context, folder string, _ func(n, of int)) (store.Gain, error) {
	return jsonapi.Post[store.Gain](ctx, r.Client, compactPath, Folder{Name: folder})
}

// Handle serves k to the Remotes of other processes.
func Handle(mux *http.ServeMux, k Keeper) {
	jsonapi.HandleGet(mux, keptPath, func(r *http.Request) (any, error) { return k.Kept(r.Context()) })
	mux.HandleFunc("GET "+storePath, func(w http.ResponseWriter, r *http.Request) {
		begun := false
		err := k.Copy(r.Context(), r.FormValue("folder"), w, func(n int64) {
			begun = true
			w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
		})
		switch {
		case err != nil && begun:
			panic(http.ErrAbortHandler) // the client sees that bytes are missing
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	jsonapi.HandlePost(mux, compactPath, func(ctx context.Context, f Folder) (store.Gain, error) {
		return k.Compact(context.WithoutCancel(ctx), f.Name, func(int, int) {})
	})
}
