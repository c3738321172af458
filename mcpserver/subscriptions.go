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

// subscriptions holds the subscriptions of sessions to notes, and tells the sessions of changes. Its lock protects the subscriptions.
type subscriptions struct {
	ws *bridge.Workspace
	// notify sends a notification to a session. It returns false if the session has ended.
	notify func(session, uri string) bool

	mu        sync.Mutex                       // protects the following
	bySession map[string]map[model.Path]string // to the URI that the session gave
}

// newSubscriptions returns watches that call tell for each change of a note that a session subscribes to. Call event with the
// changes.
func newSubscriptions(ws *bridge.Workspace, tell func(session, uri string) bool) *subscriptions {
	return &subscriptions{ws: ws, notify: tell, bySession: make(map[string]map[model.Path]string)}
}

// Add subscribes session to the note at uri, which need not exist yet.
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
	p, err := model.CleanPath(readings[0].Name) // of a note that may come
	return p, err == nil
}

// Remove ends a subscription.
func (x *subscriptions) Remove(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		if delete(x.bySession[session], p); len(x.bySession[session]) == 0 {
			delete(x.bySession, session)
		}
	}
}

// Of returns the URIs that session subscribes to.
func (x *subscriptions) Of(session string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Values(x.bySession[session]))
}

// End ends all subscriptions of session.
func (x *subscriptions) End(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.bySession, session)
}

// event tells the sessions that subscribe to the note of a change.
func (x *subscriptions) event(ev model.Event) {
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
			if !x.notify(session, uri) {
				x.End(session)
			}
		}
	}
}
