package mcpserver

import (
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
)

const maxWatches = 10_000

// watches holds the subscriptions of sessions to notes, and tells the sessions of changes. Its lock protects the subscriptions.
type watches struct {
	ws *bridge.Workspace
	// tell sends a notification to a session. It returns false if the session has ended.
	tell func(session, uri string) bool

	mu        sync.Mutex                       // protects the following
	bySession map[string]map[model.Path]string // to the URI that the session gave
}

// newWatches returns watches that call tell for each change of a note that a session subscribes to. Call event with the
// changes.
func newWatches(ws *bridge.Workspace, tell func(session, uri string) bool) *watches {
	return &watches{ws: ws, tell: tell, bySession: make(map[string]map[model.Path]string)}
}

// Add subscribes session to the note at uri, which need not exist yet.
func (x *watches) Add(session, uri string) {
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
	if _, known := uris[p]; known || len(uris) < maxWatches {
		uris[p] = uri
	}
}

func (x *watches) path(uri string) (model.Path, bool) {
	readings, err := document.ParseURI(uri)
	if err != nil {
		return "", false
	}
	for _, r := range readings {
		if p, err := x.ws.Resolve(r.Name); err == nil {
			return p, true
		}
	}
	p, err := model.CleanPath(readings[0].Name) // of a note that may come
	return p, err == nil
}

// Remove ends a subscription.
func (x *watches) Remove(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		if delete(x.bySession[session], p); len(x.bySession[session]) == 0 {
			delete(x.bySession, session)
		}
	}
}

// Of returns the URIs that session subscribes to.
func (x *watches) Of(session string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Values(x.bySession[session]))
}

// End ends all subscriptions of session.
func (x *watches) End(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.bySession, session)
}

// event tells the sessions that subscribe to the note of a change.
func (x *watches) event(ev model.Event) {
	if ev.Kind == model.EventChanged && !ev.ViewChanged {
		return
	}
	for _, p := range []model.Path{ev.Path, ev.OldPath} {
		if p == "" {
			continue
		}
		uris := make(map[string]string) // by session
		x.mu.Lock()
		for session, watched := range x.bySession {
			if uri, ok := watched[p]; ok {
				uris[session] = uri
			}
		}
		x.mu.Unlock()
		for session, uri := range uris {
			if !x.tell(session, uri) {
				x.End(session)
			}
		}
	}
}
