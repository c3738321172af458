package ycrdt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// networkOptions say what a random history is like: documents that edit apart and
// exchange updates late, twice, merged and in any order. It depends only on its seed. Zero values choose defaults.
type networkOptions struct {
	Peers int // documents; 2 to 5 by the seed
	Steps int // edits and deliveries; 30
	// Verify is called with a document after each step that changed it.
	Verify func(*ycrdt.Doc) error
}

// converge plays the history of a seed: a third of the time in two parts that cannot reach each other, and at the end
// everybody gets everything. It returns an error, which names the seed, if an update is refused, Verify fails, or the
// documents differ in content, state vector or deletions.
func converge(seed uint64, opts networkOptions) error {
	n := newNetwork(seed, opts)
	for step := range n.opts.Steps {
		if err := n.step(step); err != nil {
			return fmt.Errorf("seed %d, step %d: %w", seed, step, err)
		}
	}
	if err := n.exchange(); err != nil {
		return fmt.Errorf("seed %d, exchange: %w", seed, err)
	}
	if err := n.compare(); err != nil {
		return fmt.Errorf("seed %d, end: %w", seed, err)
	}
	return nil
}

// A network is a set of peers.
type network struct {
	rand  *rand.Rand
	opts  networkOptions
	peers []*peer
}

// A peer is a document and the updates that it has sent.
type peer struct {
	doc  *ycrdt.Doc
	sent [][]byte
}

func newNetwork(seed uint64, opts networkOptions) *network {
	n := &network{rand: rand.New(rand.NewPCG(seed, 0)), opts: opts}
	if n.opts.Peers == 0 {
		n.opts.Peers = 2 + n.rand.IntN(4)
	}
	if n.opts.Steps == 0 {
		n.opts.Steps = 30
	}
	if n.opts.Verify == nil {
		n.opts.Verify = func(*ycrdt.Doc) error { return nil }
	}
	for i := range n.opts.Peers {
		p := &peer{doc: ycrdt.NewDoc(ycrdt.Options{ClientID: ycrdt.ClientID(i + 1)})}
		p.doc.Text("text")
		p.doc.Map("map")
		p.doc.Array("array")
		p.doc.OnUpdate(func(update []byte) { p.sent = append(p.sent, update) })
		n.peers = append(n.peers, p)
	}
	return n
}

func (n *network) step(step int) error {
	to := n.rand.IntN(len(n.peers))
	if n.rand.IntN(3) > 0 {
		n.edit(n.peers[to].doc)
		return n.opts.Verify(n.peers[to].doc)
	}
	from := n.rand.IntN(len(n.peers))
	third := n.opts.Steps / 3
	apart := step >= third && step < 2*third
	if from == to || len(n.peers[from].sent) == 0 || (apart && from%2 != to%2) {
		return nil
	}
	return n.deliver(n.peers[from], n.peers[to].doc)
}

// deliver hands something of what from has sent to doc.
func (n *network) deliver(from *peer, doc *ycrdt.Doc) error {
	switch n.rand.IntN(3) {
	case 0:
		return n.apply(doc, from.sent[n.rand.IntN(len(from.sent))])
	case 1:
		merged, err := ycrdt.MergeUpdates(from.sent[n.rand.IntN(len(from.sent)):]...)
		if err != nil {
			return err
		}
		return n.apply(doc, merged)
	default:
		return n.apply(doc, from.doc.EncodeStateAsUpdate(doc.EncodeStateVector()))
	}
}

func (n *network) apply(doc *ycrdt.Doc, update []byte) error {
	if err := doc.ApplyUpdate(update); err != nil {
		return fmt.Errorf("update %x: %w", update, err)
	}
	return n.opts.Verify(doc)
}

// exchange gives every peer the whole state of every other one.
func (n *network) exchange() error {
	for _, from := range n.peers {
		for _, to := range n.peers {
			if err := n.apply(to.doc, from.doc.EncodeStateAsUpdate(to.doc.EncodeStateVector())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *network) compare() error {
	first := n.peers[0].doc
	want, err := json.Marshal(ycrdt.Content(first))
	if err != nil {
		return err
	}
	for i, p := range n.peers[1:] {
		got, err := json.Marshal(ycrdt.Content(p.doc))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("content of peer %d differs:\n got %s\nwant %s", i+2, got, want)
		}
		if !p.doc.Snapshot().Equal(first.Snapshot()) {
			return fmt.Errorf("snapshot of peer %d differs", i+2)
		}
	}
	return nil
}
