package mcpserver

import (
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
)

const maxSubscriptions = 10_000

type subscriptions struct {
	ws *bridge.Workspace
	// notify reports whether the session still exists.
	notify func(session, uri string) bool

	mu        sync.Mutex                       // guards the fields below
	bySession map[string]map[model.Path]string // values: the URI in the session's spelling
}

func newSubscriptions(ws *bridge.Workspace, tell func(session, uri string) bool) *subscriptions {
	return &subscriptions{ws: ws, notify: tell, bySession: make(map[string]map[model.Path]string)}
}

// Add subscribes session to the note at uri, which may be created later.
func (x *subscriptions) Add(session, uri string) {
	p, ok := x.path(uri)
	if !ok {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	uris := x.bySession[session]
	if uris == nil {
		uris = make(map[model.Path]string)
		x.bySession[session] = uris
	}
	if _, known := uris[p]; known || len(uris) < maxSubscriptions {
		uris[p] = uri
	}
}

func (x *subscriptions) path(uri string) (model.Path, bool) {
	readings, err := document.ParseURI(uri)
	if err != nil {
		return "", false
	}
	for _, r := range readings {
		if p, err := x.ws.Resolve(r.Name); err == nil {
			return p, true
		}
	}
	p, err := model.CleanPath(readings[0].Name) // the note may be created later
	return p, err == nil
}

func (x *subscriptions) Remove(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		if delete(x.bySession[session], p); len(x.bySession[session]) == 0 {
			delete(x.bySession, session)
		}
	}
}

func (x *subscriptions) Of(session string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Values(x.bySession[session]))
}

func (x *subscriptions) End(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.bySession, session)
}

func (x *subscriptions) event(ev model.Event) {
	if ev.Kind == model.EventChanged && !ev.ViewChanged {
		return
	}
	for _, p := range []model.Path{ev.Path, ev.OldPath} {
		if p == "" {
			continue
		}
		uris := make(map[string]string) // keys: session IDs
		x.mu.Lock()
		for session, watched := range x.bySession {
			if uri, ok := watched[p]; ok {
				uris[session] = uri
			}
		}
		x.mu.Unlock()
		for session, uri := range uris {
			if !x.notify(session, uri) {
				x.End(session)
			}
		}
	}
}
