package watch

import (
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/noteuri"
)

// maxWatches bounds how many notes one session may ask about.
const maxWatches = 10_000

// Watches are the notes that sessions want to hear about.
type Watches struct {
	ws *bridge.Workspace
	// tell sends a notification to a session; it reports false when that is gone.
	tell func(session, uri string) bool

	follow sync.Once
	cancel func()

	mu     sync.Mutex                       // protects the following
	byPath map[model.Path]map[string]string // to session to the address it gave
	counts map[string]int                   // of a session's Watches
}

// New has tell called for what sessions want to hear.
func New(ws *bridge.Workspace, tell func(session, uri string) bool) *Watches {
	return &Watches{ws: ws, tell: tell, byPath: make(map[model.Path]map[string]string), counts: make(map[string]int)}
}

// Add has session told when the note at uri changes. An address that names no
// note is never heard of.
func (x *Watches) Add(session, uri string) {
	p, ok := x.path(uri)
	if !ok {
		return
	}
	x.follow.Do(func() { x.cancel = x.ws.Subscribe(x.event) })
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byPath[p] == nil {
		x.byPath[p] = make(map[string]string)
	}
	if _, known := x.byPath[p][session]; !known {
		if x.counts[session] >= maxWatches {
			return
		}
		x.counts[session]++
	}
	x.byPath[p][session] = uri
}

func (x *Watches) path(uri string) (model.Path, bool) {
	name, err := noteuri.Path(uri)
	if err != nil {
		return "", false
	}
	p, err := x.ws.Resolve(name)
	if err != nil {
		p, err = model.CleanPath(name) // it may come
	}
	return p, err == nil
}

// Remove takes one back.
func (x *Watches) Remove(session, uri string) {
	if p, ok := x.path(uri); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.drop(p, session)
	}
}

// drop forgets what session wants to hear of p. mu is held.
func (x *Watches) drop(p model.Path, session string) {
	if _, known := x.byPath[p][session]; !known {
		return
	}
	if delete(x.byPath[p], session); len(x.byPath[p]) == 0 {
		delete(x.byPath, p)
	}
	if x.counts[session]--; x.counts[session] == 0 {
		delete(x.counts, session)
	}
}

// Of lists the addresses that session gave.
func (x *Watches) Of(session string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var uris []string
	for _, who := range x.byPath {
		if uri, ok := who[session]; ok {
			uris = append(uris, uri)
		}
	}
	return uris
}

// End forgets all that session wants to hear.
func (x *Watches) End(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.counts[session] == 0 {
		return
	}
	for _, p := range slices.Collect(maps.Keys(x.byPath)) {
		x.drop(p, session)
	}
}

// Close stops following the workspace.
func (x *Watches) Close() {
	x.follow.Do(func() { x.cancel = func() {} })
	x.cancel()
}

// event tells the sessions that want to hear of what happened.
func (x *Watches) event(ev model.Event) {
	if ev.Kind == model.EventChanged && !ev.ViewChanged {
		return
	}
	for _, p := range []model.Path{ev.Path, ev.OldPath} {
		if p == "" {
			continue
		}
		x.mu.Lock()
		who := maps.Clone(x.byPath[p])
		x.mu.Unlock()
		for session, uri := range who {
			if !x.tell(session, uri) {
				x.End(session)
			}
		}
	}
}
