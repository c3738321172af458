package replica

import (
	"encoding/json"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// cursors announces an editor in each document that this process has changed: a name, and a cursor after the last
// insertion of this process.
type cursors struct {
	name   string // if empty, nothing is announced
	client ycrdt.ClientID

	mu    sync.Mutex // guards the field below
	notes map[model.DocID]*cursor
}

type cursor struct {
	state []byte // JSON
	clock uint64 // clock of the last announcement
}

func newPresence(author string, client ycrdt.ClientID) *cursors {
	p := &cursors{client: client, notes: make(map[model.DocID]*cursor)}
	if author != "" {
		p.name = author + " (agent)"
	}
	return p
}

// The colours of the cursor are in the format of y-codemirror.
const (
	presenceColor = "#7b61ff"
	presenceLight = "#7b61ff33"
)

// setCursor moves the cursor in the document to the end of this client's last insertion. clock is the clock after that
// insertion.
func (p *cursors) setCursor(id model.DocID, clock uint64) {
	if p.name == "" || clock == 0 {
		return
	}
	at := map[string]any{
		"type": nil, "tname": "contents", "assoc": -1,
		"item": map[string]any{"client": uint64(p.client), "clock": clock - 1},
	}
	state, _ := json.Marshal(map[string]any{ // plain values encode as JSON
		"user":   map[string]any{"name": p.name, "color": presenceColor, "colorLight": presenceLight},
		"cursor": map[string]any{"anchor": at, "head": at},
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notes[id] == nil {
		p.notes[id] = &cursor{}
	}
	p.notes[id].state = state
}

// announce sends the state again, with a new clock: peers drop a state that is not repeated within 30 seconds.
func (p *cursors) announce(to *Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.notes[to.d.id]; c != nil {
		c.clock++
		to.Send(ysync.AppendAwareness(nil, ysync.EncodeAwareness(p.client, c.clock, c.state)))
	}
}
