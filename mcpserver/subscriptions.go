package mcpserver

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
)

const maxSubscriptions = 10_000

type subscription struct {
	session string
	path    model.Path
}

type subscriptions struct {
	s    *Server
	mu   sync.Mutex              // guards uris
	uris map[subscription]string // URIs in the session's spelling
}

// Add subscribes session to the note at uri, even if the note does not exist yet. It does nothing if uri is invalid or
// there are already maxSubscriptions.
func (x *subscriptions) Add(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		if len(x.uris) < maxSubscriptions {
			x.uris[subscription{session, p}] = uri
		}
	}
}

func (x *subscriptions) path(uri string) (model.Path, bool) {
	p, _, err := document.Resolver{Workspace: x.s.ws}.AtURI(context.Background(), uri)
	if missing, ok := errors.AsType[*document.MissingError](err); ok {
		p, err = model.CleanPath(missing.Name) // the note may be created later
	}
	return p, err == nil
}

func (x *subscriptions) Remove(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.uris, subscription{session, p})
	}
}

func (x *subscriptions) Of(session string) (uris []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for sub, uri := range x.uris {
		if sub.session == session {
			uris = append(uris, uri)
		}
	}
	return uris
}

func (x *subscriptions) End(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.uris, func(sub subscription, _ string) bool { return sub.session == session })
}

func (x *subscriptions) event(ev model.Event) {
	if ev.Kind == model.EventChanged && !ev.ViewChanged {
		return
	}
	changed := make(map[subscription]string)
	x.mu.Lock()
	for sub, uri := range x.uris {
		if sub.path == ev.Path || sub.path == ev.OldPath {
			changed[sub] = uri
		}
	}
	x.mu.Unlock()
	for sub, uri := range changed {
		if !x.s.notifyUpdated(sub.session, uri) {
			x.End(sub.session)
		}
	}
}
