package main

import (
	"context"
	"slices"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// client is a connection to the room.
type client struct{ ws *websocket.Conn }

// connect returns when the client is in step with the server.
func (s *server) connect(ctx context.Context) (*client, error) {
	ws, _, err := websocket.Dial(ctx, s.room, nil)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	c := &client{ws}
	if err := c.send(ctx, ysync.AppendStep1(nil, []byte{0})); err != nil {
		return nil, err
	}
	return c, c.until(ctx, ysync.Step2, 1)
}

// connectAll connects n clients.
func (s *server) connectAll(ctx context.Context, n int) ([]*client, error) {
	clients := make([]*client, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(50)
	for i := range clients {
		g.Go(func() (err error) {
			clients[i], err = s.connect(ctx)
			return err
		})
	}
	return clients, g.Wait()
}

func closeAll(clients []*client) {
	for _, c := range clients {
		if c != nil {
			_ = c.ws.CloseNow()
		}
	}
}

func (c *client) send(ctx context.Context, frame []byte) error {
	return c.ws.Write(ctx, websocket.MessageBinary, frame)
}

// until reads until n sync frames of that step have come.
func (c *client) until(ctx context.Context, step ysync.Step, n int) error {
	for n > 0 {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		if len(data) > 1 && data[0] == byte(ysync.Sync) && data[1] == byte(step) {
			n--
		}
	}
	return nil
}

// typist makes the updates of one who types a character at a time.
type typist struct {
	doc  *ycrdt.Doc
	text *ycrdt.Text
	pos  int
}

func newTypist() *typist {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	return &typist{doc: doc, text: doc.Text("contents")}
}

// tap is the frame of the next character.
func (t *typist) tap() []byte {
	before := t.doc.EncodeStateVector()
	t.doc.Transact(nil, func(txn *ycrdt.Txn) { t.text.Insert(txn, t.pos, "x") })
	t.pos++
	return ysync.AppendUpdate(nil, t.doc.EncodeStateAsUpdate(before))
}

// memory connects idle clients and returns the KB of the server's memory that
// each takes.
func (s *server) memory(ctx context.Context, n int) (float64, error) {
	warm, err := s.connectAll(ctx, 20)
	if err != nil {
		return 0, err
	}
	defer closeAll(warm)
	before, err := s.residentKB()
	if err != nil {
		return 0, err
	}
	clients, err := s.connectAll(ctx, n)
	defer closeAll(clients)
	if err != nil {
		return 0, err
	}
	after, err := s.residentKB()
	return (after - before) / float64(n), err
}

// keystroke times single characters from one client to another.
func (s *server) keystroke(ctx context.Context, n int) (time.Duration, error) {
	pair, err := s.connectAll(ctx, 2)
	defer closeAll(pair)
	if err != nil {
		return 0, err
	}
	t := newTypist()
	times := make([]time.Duration, n)
	for i := range times {
		frame, start := t.tap(), time.Now()
		if err := pair[0].send(ctx, frame); err != nil {
			return 0, err
		}
		if err := pair[1].until(ctx, ysync.Update, 1); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[n/2], nil
}

// fanOut has one client type, as fast as the server takes it, and returns how
// many updates a second have reached all others together.
func (s *server) fanOut(ctx context.Context, clients, updates int) (float64, error) {
	all, err := s.connectAll(ctx, clients)
	defer closeAll(all)
	if err != nil {
		return 0, err
	}
	t := newTypist()
	frames := make([][]byte, updates)
	for i := range frames {
		frames[i] = t.tap()
	}
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for _, c := range all[1:] {
		g.Go(func() error { return c.until(ctx, ysync.Update, updates) })
	}
	g.Go(func() error {
		for _, f := range frames {
			if err := all[0].send(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	err = g.Wait()
	return float64(updates*(clients-1)) / time.Since(start).Seconds(), err
}
