package replica

import (
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// cursors announces the editor in each note that this process has changed: a name, and a cursor after its last
// insertion.
type cursors struct {
	name   string // "" announces nothing
	client ycrdt.ClientID

	mu    sync.Mutex // guards the field below
	notes map[model.DocID]*ysync.Awareness
}

func newPresence(author string, client ycrdt.ClientID) *cursors {
	p := &cursors{client: client, notes: make(map[model.DocID]*ysync.Awareness)}
	if author != "" {
		p.name = author + " (agent)"
	}
	return p
}

// Colours of the cursor in the format of y-codemirror.
const (
	presenceColor = "#7b61ff"
	presenceLight = "#7b61ff33"
)

// setCursor records that this client has inserted its units before clock in the note.
func (p *cursors) setCursor(id model.DocID, clock uint64) {
	if p.name == "" || clock == 0 {
		return
	}
	at := map[string]any{
		"type": nil, "tname": "contents", "assoc": -1,
		"item": map[string]any{"client": uint64(p.client), "clock": clock - 1},
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.notes[id]
	if a == nil {
		a = ysync.NewAwareness(p.client)
		p.notes[id] = a
	}
	_ = a.SetLocal(map[string]any{ // plain values encode as JSON
		"user":   map[string]any{"name": p.name, "color": presenceColor, "colorLight": presenceLight},
		"cursor": map[string]any{"anchor": at, "head": at},
	})
}

func (p *cursors) announce(to *Peer) {
	if a := p.of(to); a != nil {
		to.Send(ysync.AppendAwareness(nil, a.Encode(p.client)))
	}
}

func (p *cursors) of(peer *Peer) *ysync.Awareness {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes[peer.d.id]
}

// renew sends the state again: peers drop it after 30 seconds.
func (p *cursors) renew(to *Peer) {
	if a := p.of(to); a != nil {
		_ = a.SetLocal(a.Local()) // raw JSON encodes unchanged
		p.announce(to)
	}
}
