package remote

import (
	"fmt"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// extras is what relay-server adds to the folder's link: it tells which document
// has changed, and compares many by their snapshots, so that one socket follows
// the whole folder.
type extras struct {
	y *syncer
	p *peer

	mu    sync.Mutex // protects the following
	asked []string   // documents to ask for, by their names
	page  []string   // what the open query asks for
}

func newExtras(y *syncer, p *peer) *extras { return &extras{y: y, p: p} }

// start asks for events, and for the snapshots of all notes that are here.
// Servers without them do not answer.
func (x *extras) start() {
	if !x.y.src.transport.Reports() {
		return
	}
	x.p.link.Send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	x.compare()
}

// compare asks for the snapshots of all notes, unless that is going on.
func (x *extras) compare() {
	x.y.mu.Lock()
	notes := x.y.notes
	x.y.mu.Unlock()
	x.mu.Lock()
	busy := len(x.page) > 0
	if !busy {
		x.asked = x.asked[:0]
		for _, id := range notes {
			x.asked = append(x.asked, transport.DocumentName(x.y.src.o.Folder, string(id)))
		}
	}
	x.mu.Unlock()
	if !busy {
		x.query()
	}
}

// query asks for the next page of snapshots.
func (x *extras) query() {
	x.mu.Lock()
	page := x.asked[:min(len(x.asked), ysync.MaxQuerySubdocs)]
	x.asked = x.asked[len(page):]
	x.page = page
	x.mu.Unlock()
	if len(page) > 0 {
		x.p.link.Send(ysync.AppendQuerySubdocs(nil, page...))
	}
}

// event is what a server reports; subdocs answers a query.
type event struct {
	Type string `cbor:"event_type"`
	Doc  string `cbor:"doc_id"`
}

type subdocs struct {
	Data map[string]struct {
		Snapshot []byte `cbor:"snapshot"`
	} `cbor:"data"`
}

// take handles one frame. Nonsense is logged: the documents themselves are
// compared without it.
func (x *extras) take(f ysync.Frame) {
	var err error
	switch f.Type {
	case ysync.Event:
		err = x.takeEvent(f.Payload)
	case ysync.Subdocs:
		err = x.takeSubdocs(f.Payload)
		x.query()
	}
	if err != nil {
		x.y.src.log.Warn("server reports nonsense", bridge.LogFolder, x.y.src.o.Folder, bridge.LogErr, err)
	}
}

func (x *extras) takeEvent(payload []byte) error {
	var e event
	if err := cbor.Unmarshal(payload, &e); err != nil {
		return err
	}
	if d := x.y.src.named(e.Doc); d != nil && e.Type == ysync.DocumentUpdated {
		x.y.want(d, prioChange)
	}
	return nil
}

// takeSubdocs compares snapshots, and fetches what is behind.
func (x *extras) takeSubdocs(payload []byte) error {
	var answer subdocs
	if err := cbor.Unmarshal(payload, &answer); err != nil {
		return err
	}
	x.y.follow(x)
	x.mu.Lock()
	page := x.page
	x.mu.Unlock()
	for _, name := range page {
		d := x.y.src.named(name)
		if d == nil {
			continue
		}
		sub, told := answer.Data[name]
		if !told {
			x.y.want(d, prioKnown) // the server does not count it to the folder
			continue
		}
		snapshot, err := ycrdt.DecodeSnapshot(sub.Snapshot)
		if err != nil {
			return fmt.Errorf("snapshot of %q: %w", name, err)
		}
		has, err := d.contains(snapshot)
		if err != nil {
			return err
		}
		if !has {
			x.y.want(d, prioChange)
		}
	}
	return nil
}

// named is the note whose document has a name at the server, nil if none has.
func (s *Source) named(name string) *document {
	for _, id := range transport.DocumentIDs(name) {
		s.mu.Lock()
		e := s.byPath[s.paths[bridge.DocID(id)]]
		s.mu.Unlock()
		if id != "" && e.ID == id && transport.DocumentName(s.o.Folder, id) == name {
			return s.document(bridge.DocID(id))
		}
	}
	return nil
}

// contains says whether the document has all that a snapshot has.
func (d *document) contains(snapshot *ycrdt.Snapshot) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return false, err
	}
	return d.doc.Snapshot().Contains(snapshot), nil
}
