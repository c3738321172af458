package schedule

import (
	"fmt"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// reports uses relay-server's extensions on the folder's link. The server reports which documents change, and compares
// many documents by their snapshots, so that one socket is enough for the whole folder.
type reports struct {
	y *Scheduler
	p *replica.Peer

	mu    sync.Mutex // guards the fields below
	asked []string   // names of the documents that are still to be queried
	page  []string   // names of the documents in the unanswered query
}

// start requests events and the snapshots of all notes on a new link. Servers without this extension do not answer.
func (x *reports) start() {
	if !x.y.set.Server.Reports() {
		return
	}
	x.mu.Lock()
	x.page = nil // drops the page of a query on the previous link
	x.mu.Unlock()
	x.p.Send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	x.compare()
}

// compare requests the snapshots of all notes, unless a query is in progress.
func (x *reports) compare() {
	x.y.mu.Lock()
	notes := x.y.notes
	x.y.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.page) > 0 {
		return
	}
	x.asked = x.asked[:0]
	for _, id := range notes {
		x.asked = append(x.asked, transport.DocumentName(x.y.set.Name, string(id)))
	}
	x.query()
}

// query requests the next page of snapshots. The caller holds the lock.
func (x *reports) query() {
	n := min(len(x.asked), ysync.MaxQuerySubdocs)
	x.page, x.asked = x.asked[:n], x.asked[n:]
	if n > 0 {
		x.p.Send(ysync.AppendQuerySubdocs(nil, x.page...))
	}
}

// event and subdocs are the payloads of frames. An event also contains the change, as an array of integers, which the
// decoder skips.
type event struct {
	Type string `cbor:"event_type"`
	Doc  string `cbor:"doc_id"`
}
type subdocs struct {
	Data map[string]struct {
		Snapshot []byte `cbor:"snapshot"`
	} `cbor:"data"`
}

// reportCBOR decodes reports. An event has its change as an array with one element per byte. The limit allows for a
// change that contains a whole note with its marks and the rest of its document.
var reportCBOR = func() cbor.DecMode {
	mode, err := cbor.DecOptions{MaxArrayElements: 4 * model.MaxNote}.DecMode()
	if err != nil {
		panic(err) // cannot happen with constant options
	}
	return mode
}()

// take handles one frame. It records errors but does not return them, because documents are also compared without
// reports.
func (x *reports) take(f ysync.Frame) {
	var err error
	switch f.Type {
	default:
		return
	case ysync.Event:
		err = x.takeEvent(f.Payload)
	case ysync.Subdocs:
		err = x.takeSubdocs(f.Payload)
		x.mu.Lock()
		x.query()
		x.mu.Unlock()
	}
	if err != nil {
		err = fmt.Errorf("%w: invalid report: %v", transport.ErrProtocol, err)
	}
	x.y.set.Problems.Record(model.AboutReports, err)
}

func (x *reports) takeEvent(payload []byte) error {
	var e event
	if err := reportCBOR.Unmarshal(payload, &e); err != nil {
		return err
	}
	if d := x.y.callbacks.Named(e.Doc); d != nil && e.Type == ysync.DocumentUpdated {
		x.y.enqueueIfOffline(d, prioChanged)
	}
	return nil
}

// takeSubdocs queues the documents that lack changes according to the server's snapshots, and the documents without a
// snapshot.
func (x *reports) takeSubdocs(payload []byte) error {
	var answer subdocs
	if err := reportCBOR.Unmarshal(payload, &answer); err != nil {
		return err
	}
	if answer.Data == nil {
		return nil // Lens Relay, a fork, sends state vectors here, which do not show deletions
	}
	x.y.mu.Lock()
	x.y.follows = x
	x.y.mu.Unlock()
	x.mu.Lock()
	page := x.page
	x.mu.Unlock()
	for _, name := range page {
		d := x.y.callbacks.Named(name)
		if d == nil {
			continue
		}
		sub, ok := answer.Data[name]
		if !ok {
			x.y.enqueueIfOffline(d, prioKnown) // the server does not list the document in the folder
			continue
		}
		snapshot, err := ycrdt.DecodeSnapshot(sub.Snapshot)
		if err != nil {
			return fmt.Errorf("snapshot of %q: %w", name, err)
		}
		has, err := d.Contains(snapshot)
		if err != nil {
			return err
		}
		if !has {
			x.y.enqueueIfOffline(d, prioChanged)
		}
	}
	return nil
}
