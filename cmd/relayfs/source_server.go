package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/relay"
	"github.com/relayfs/relayfs/bridge/relay/token"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/fusefs"
)

// serverFolder is a shared folder of a server.
type serverFolder struct {
	address relay.Address
	folder  string // the name of its folder document
}

// Where secrets come from: never from a command line, which everybody can read.
const (
	tokenVariable = "RELAYFS_TOKEN"
	keyVariable   = "RELAYFS_SERVER_KEY"
)

// parseServer reads the address of a server, whose folders stand in folders or,
// one of them, behind a '#' in the address.
func parseServer(arg string, folders []string) ([]source, error) {
	arg, named, found := strings.Cut(arg, "#")
	if found {
		folders = []string{named}
	}
	address, err := relay.ParseAddress(arg)
	if err != nil {
		return nil, clierr.Usagef("SOURCE: %v", err)
	}
	if address.Token == "" {
		address.Token = os.Getenv(tokenVariable)
	}
	if len(folders) == 0 {
		return nil, clierr.Usagef("no folder of %s is named: --folder NAME=ID, with the id of its folder document", address)
	}
	var list []source
	for _, f := range folders {
		name, id, ok := strings.Cut(f, "=")
		if !ok || id == "" {
			return nil, clierr.Usagef("--folder %q is not NAME=ID", f)
		}
		if err := bridge.CheckName(name); err != nil {
			return nil, clierr.Usagef("folder name %q: %v", name, err)
		}
		list = append(list, source{name: name, server: &serverFolder{address, id}})
	}
	return list, nil
}

// openServer opens a folder of a server.
func (s *session) openServer(src source, state string, f *workspaceFlags) (bridge.FolderSource, error) {
	key, err := serverKey()
	if err != nil {
		return bridge.FolderSource{}, err
	}
	st, err := store.Open(filepath.Join(state, "store.db"), store.Options{Logger: s.log})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, st.Close)
	o := relay.Options{Address: src.server.address, Folder: src.server.folder, Store: st, Key: key, Logger: s.log, Attachments: filepath.Join(state, "attachments")}
	if f.presence {
		o.Author = f.author
	}
	if output.Stderr.TakesLines() {
		o.Progress = progressLine(src.name)
	}
	folder, err := relay.Open(o)
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, folder.Close)
	return bridge.FolderSource{Name: src.name, Source: folder, Store: st}, nil
}

// serverKey is the key that tokens are made with, nil if none is given.
func serverKey() (*token.Key, error) {
	text := os.Getenv(keyVariable)
	if text == "" {
		return nil, nil
	}
	id, secret, named := strings.Cut(text, ".")
	if !named {
		id, secret = "", text
	}
	key, err := token.ParsePrivateKey(id, secret)
	if err != nil {
		return nil, clierr.Usagef("%s: %v", keyVariable, err)
	}
	return key, nil
}

// progressLine shows on the terminal how many notes have been fetched.
func progressLine(name string) func(relay.Progress) {
	var mu sync.Mutex // protects the following
	var start, shown time.Time
	first, done := 0, false
	return func(p relay.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if start.IsZero() {
			start, first, done = now, p.Fetched, p.Fetched == p.Notes
		}
		finished := p.Fetched == p.Notes
		if done || !finished && now.Sub(shown) < time.Second/4 {
			return
		}
		shown, done = now, finished
		output.Stderr.Show(output.OneLine(progressText(name, p, p.Fetched-first, now.Sub(start))), finished)
	}
}

// progressText says how many notes are there, and, of fetched ones in a time, how
// fast that goes and how long the rest takes.
func progressText(name string, p relay.Progress, fetched int, in time.Duration) string {
	line := fmt.Sprintf("%s: %d of %d notes", name, p.Fetched, p.Notes)
	if fetched <= 0 || in <= 0 {
		return line
	}
	rate := float64(fetched) / in.Seconds()
	line += fmt.Sprintf(", %.0f a second", rate)
	if left := p.Notes - p.Fetched; left > 0 {
		line += fmt.Sprintf(", %s left", time.Duration(math.Ceil(float64(left)/rate))*time.Second)
	}
	return line
}

// examineServer connects to the server of a folder once.
func examineServer(ctx context.Context, src source) fusefs.Finding {
	f := fusefs.Finding{Name: "server of " + src.name}
	key, err := serverKey()
	var found relay.Finding
	if err == nil {
		found, err = relay.Probe(ctx, relay.Options{Address: src.server.address, Folder: src.server.folder, Key: key})
	}
	switch {
	case err != nil:
		f.Severity, f.Detail, f.Mend = fusefs.Fail, fmt.Sprintf("%s: %v", src.server.address, err), relay.Hint(err)
	case found.Entries == 0:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s has nothing under the folder id %q", src.server.address, src.server.folder)
		f.Mend = "check the folder's id in --folder NAME=ID, unless the folder is new"
	case found.ReadOnly:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s lets this token read only", src.server.address)
		f.Mend = "set " + tokenVariable + " to a token that may write, if that is wanted"
	default:
		f.Severity, f.Detail = fusefs.OK, fmt.Sprintf("%s answers, with %d entries", src.server.address, found.Entries)
	}
	return f
}
