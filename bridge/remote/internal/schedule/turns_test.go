package schedule_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// rooms is a server of y-websocket's protocol, one client at a time in each room.
type rooms struct {
	mu   sync.Mutex // protects the following
	docs map[string]*ycrdt.Doc
}

func (s *rooms) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	send := func(frame []byte) { _ = conn.Write(r.Context(), websocket.MessageBinary, frame) }
	s.mu.Lock()
	doc := s.docs[r.URL.Path]
	if doc == nil {
		doc = ycrdt.NewDoc(ycrdt.Options{})
		s.docs[r.URL.Path] = doc
	}
	s.mu.Unlock()
	send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		switch f, err := ysync.Decode(data); {
		case err != nil || f.Type != ysync.Sync:
		case f.Step == ysync.Step1:
			send(ysync.AppendStep2(nil, doc.EncodeStateAsUpdate(f.Payload)))
		default:
			_ = doc.ApplyUpdate(f.Payload)
		}
	}
}

// narrow is a server with room for a few links beside those of the workers.
type narrow struct {
	transport.Server
	links int
}

func (s narrow) Links() int { return schedule.Workers + s.links }

// folder is who the scheduler and the documents are told of.
type folder struct {
	*schedule.Scheduler
}

func (folder) Path(id model.DocID) string                         { return string(id) + ".md" }
func (folder) Changed(*replica.Document)                          {}
func (folder) FolderReceives(*ycrdt.Doc, []byte) (applied func()) { return func() {} }
func (folder) Retry()                                             {}
func (folder) Uploaded(*replica.Document)                         {}
func (folder) Named(string) *replica.Document                     { return nil }

// history is a schedule.Store without one.
type history struct{}

func (history) DocIDs() ([]model.DocID, error)          { return nil, nil }
func (history) Unsent() (map[model.DocID]uint64, error) { return map[model.DocID]uint64{}, nil }
func (history) Sent(model.DocID, uint64) error          { return nil }

// Many notes share few links, so that links end all the time because others need them. No note is
// ever connected twice, and whatever is written in whichever moment is sent soon.
func TestTurnsOfManyNotes(t *testing.T) {
	server := httptest.NewServer(&rooms{docs: make(map[string]*ycrdt.Doc)})
	defer server.Close()
	address, err := transport.ParseAddress("ws" + strings.TrimPrefix(server.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	var log lockedLog
	f := new(folder)
	set := replica.NewSet(replica.Options{
		Address: address, Server: narrow{transport.New(address, "folder", nil, nil, schedule.Workers), 2}, Name: "folder", Store: bridgetest.NewStore(t),
		Client: 1, Resync: replica.DefaultResync, Log: slog.New(slog.DiscardHandler),
		Problems: model.NewProblems(slog.New(slog.NewTextHandler(&log, nil)), address.Explain),
	}, f)
	ctx, cancel := context.WithCancel(t.Context())
	y, err := schedule.New(ctx, set, history{}, nil, f)
	if err != nil {
		t.Fatal(err)
	}
	f.Scheduler = y
	notes := make([]model.DocID, 12)
	for i := range notes {
		notes[i] = model.DocID(fmt.Sprint("note-", i))
	}
	y.SetNotes(notes)
	done := make(chan struct{})
	go func() { y.Run(); close(done) }()
	defer func() { cancel(); <-done }()

	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		i := rng.IntN(len(notes))
		if rng.IntN(2) == 0 { // it is new, and compared
			y.SetNotes(slices.Delete(slices.Clone(notes), i, i+1))
			y.SetNotes(slices.Clone(notes))
		}
		d := set.Document(notes[i])
		if err := d.Change(ctx, &model.Record{}, func(doc *ycrdt.Doc) error {
			doc.Transact(func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, "x") })
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
	}
	for deadline := time.Now().Add(need.Scaled(20 * time.Second)); y.State().Unsent > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d documents are not sent: %v", y.State().Unsent, set.Problems.All())
		}
	}
	if got := log.String(); got != "" {
		t.Errorf("problems: %s", got)
	}
}

// lockedLog is a log that may be read while it is written.
type lockedLog struct {
	mu   sync.Mutex // protects the following
	text strings.Builder
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
