package remote_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/tests/need"
)

// serversDir holds the servers and clients of npm.
const serversDir = "../../tests/servers"

// patience bounds every wait of these tests; machines that run many tests are slow.
var patience = need.Scaled(90 * time.Second)

func TestMain(m *testing.M) {
	need.Waiting() // for servers, and for periods of the product
	code := m.Run()
	for _, s := range shared.servers {
		s.stop()
	}
	os.Exit(code)
}

// node starts a program of serversDir.
func node(t testing.TB, args ...string) (io.WriteCloser, *bufio.Reader, *exec.Cmd) {
	t.Helper()
	need.Programs(t, "node")
	if _, err := os.Stat(filepath.Join(serversDir, "node_modules", "yjs")); err != nil {
		need.Missing(t, "no servers: run npm ci in tests/servers: %v", err)
	}
	cmd := exec.Command("node", args...)
	cmd.Dir = serversDir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	noError(t, err)
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	return in, bufio.NewReaderSize(out, 1<<20), cmd
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is a running server.
type server struct {
	t     testing.TB
	kind  string
	args  []string
	port  string
	in    io.WriteCloser
	cmd   *exec.Cmd
	own   *relaytest.Server // instead of a program of npm
	keys  []*token.Key      // of own
	types []token.ScopeKind // likewise
	// folder is the name of the folder's document for relayfs, and room that for
	// persons.
	folder, room string
}

// startServer runs a server of the given kind until the test ends. args are its
// tokens.
func startServer(t testing.TB, kind string, args ...string) *server {
	t.Helper()
	s := &server{t: t, kind: kind, args: append(args, make([]string, 2-min(2, len(args)))...), folder: "team", room: "team"}
	s.start("0")
	t.Cleanup(func() { s.stop() })
	return s
}

// shared are the running servers of sharedServer, by kind.
var shared = struct {
	mu      sync.Mutex // guards the fields below
	servers map[string]*server
	folders int
}{servers: make(map[string]*server)}

// sharedServer returns a server that the test must not stop. Its folder is the test's own. Servers that are programs of
// npm run until all tests have ended.
func sharedServer(t testing.TB, kind string) *server {
	t.Helper()
	if kind == "relay-server" {
		return startServer(t, kind)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.servers[kind] == nil {
		s := &server{t: t, kind: kind, args: make([]string, 2)}
		s.start("0")
		shared.servers[kind] = s
	}
	s := *shared.servers[kind]
	shared.folders++
	s.t, s.folder = t, fmt.Sprint("team", shared.folders)
	s.room = s.folder
	return &s
}

func (s *server) start(port string) {
	s.t.Helper()
	if s.kind == "relay-server" {
		o := relaytest.Options{Keys: s.keys, Types: s.types}
		if port != "0" {
			o.Port = port
		}
		s.own = relaytest.New(s.t, o)
		s.own.Put(s.t, s.folder, model.EmptyUpdate())
		_, s.port, _ = strings.Cut(strings.TrimPrefix(s.own.Address(), "ys://"), ":")
		return
	}
	in, out, cmd := node(s.t, append([]string{"server.mjs", s.kind}, append(s.args, port)...)...)
	line, err := out.ReadString('\n')
	noError(s.t, err)
	s.in, s.cmd = in, cmd
	if what, missing := strings.CutPrefix(line, "missing: "); missing {
		s.stop()
		need.Missing(s.t, "%s", what)
	}
	s.port = strings.TrimSpace(line)
}

// stop ends the server; start with its port brings another, empty one.
func (s *server) stop() {
	if s.own != nil {
		s.own.Close()
	}
	if s.cmd != nil {
		s.in.Close()
		s.cmd.Wait()
		s.cmd = nil
	}
}

// lose stops the server and waits until the clients have noticed that. It returns the port for another start.
func (s *server) lose(clients ...*client) (port string) {
	s.t.Helper()
	s.stop()
	for _, c := range clients {
		c.awaitLoss()
	}
	return s.port
}

// url is what clients of npm connect to, and address what relayfs does.
func (s *server) url() string { return "ws://127.0.0.1:" + s.port }

func (s *server) address() string {
	switch s.kind {
	case "hocuspocus":
		return "hocuspocus+" + s.url()
	case "relay-server", "y-sweet":
		return "ys://127.0.0.1:" + s.port
	}
	return s.url()
}

// person is a client of npm, with the rules of the Obsidian plugin.
type person struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *server) person(token ...string) *person {
	s.t.Helper()
	kind := s.kind
	if kind == "relay-server" {
		kind = "y-sweet" // the same API
	}
	in, out, cmd := node(s.t, append([]string{"client.mjs", kind, s.url(), s.room}, token...)...)
	s.t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &person{s.t, in, out}
}

// args are those of a person's command.
type args map[string]any

// do has the person do something and decodes what came of it.
func (p *person) do(cmd string, a args, result ...any) {
	p.t.Helper()
	line := args{"cmd": cmd}
	for k, v := range a {
		line[k] = v
	}
	data, err := json.Marshal(line)
	noError(p.t, err)
	_, err = p.in.Write(append(data, '\n'))
	noError(p.t, err)
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	reply, err := p.out.ReadBytes('\n')
	noError(p.t, err)
	noError(p.t, json.Unmarshal(reply, &answer))
	if answer.Error != "" {
		p.t.Fatalf("person cannot %s %v: %s", cmd, a, answer.Error)
	}
	if len(result) > 0 {
		noError(p.t, json.Unmarshal(answer.Result, result[0]))
	}
}

// clean fails the test if the person saw what the plugin would take amiss.
func (p *person) clean() {
	p.t.Helper()
	var seen []string
	p.do("violations", nil, &seen)
	if len(seen) > 0 {
		p.t.Errorf("%d violations of the data model, such as %q", len(seen), seen[:min(5, len(seen))])
	}
}

// client is a relayfs on a folder "Team" of a server.
type client struct {
	*bridge.Workspace
	t        testing.TB
	source   *remote.Source
	store    *store.Store
	stop     func()
	events   chan model.Event
	patience time.Duration // bounds its waits
	killed   bool          // its store refuses what is left at the end
}

// open makes a client with its store in dir. It runs until stop or the end of
// the test.
func open(t testing.TB, address, folder, dir string, change ...func(*remote.Options, *bridge.Options)) (*client, error) {
	t.Helper()
	a, err := transport.ParseAddress(address)
	noError(t, err)
	st, err := store.Open(filepath.Join(dir, "store.db"), store.Options{})
	noError(t, err)
	ro := remote.Options{Address: a, Folder: folder, Store: st, Attachments: owner.Folder(dir).Sub("attachments"), NewFolder: true}
	bo := bridge.Options{Structure: bridge.StructureDirect}
	for _, fn := range change {
		fn(&ro, &bo)
	}
	source, err := remote.Open(ro)
	noError(t, err)
	bo.Roots = []bridge.RootSource{{Name: "Team", Source: source, Store: st}}
	ws, err := bridge.New(bo)
	noError(t, err)
	c := &client{Workspace: ws, t: t, source: source, store: st, events: make(chan model.Event, 10000), patience: patience}
	if err := ws.Start(t.Context()); err != nil {
		return nil, errors.Join(err, source.Close(), st.Close())
	}
	ws.Subscribe(func(ev model.Event) {
		ev.Version = nil // thousands of texts would wait here
		select {
		case c.events <- ev:
		default:
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- ws.Run(ctx) }()
	stopped := false
	c.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ran, source.Close(), st.Close()); err != nil && !c.killed {
			t.Error(err)
		}
	}
	t.Cleanup(c.stop)
	return c, nil
}

func mustOpen(t testing.TB, s *server, change ...func(*remote.Options, *bridge.Options)) *client {
	t.Helper()
	c, err := open(t, s.address(), s.folder, t.TempDir(), change...)
	noError(t, err)
	return c
}

func direct(_ *remote.Options, o *bridge.Options) { o.Mode = bridge.Direct }

// await waits until cond holds, looking again after every event.
func (c *client) await(what string, cond func() bool) {
	c.t.Helper()
	deadline := time.After(c.patience)
	tick := time.NewTicker(100 * time.Millisecond) // the status has no events
	defer tick.Stop()
	for !cond() {
		select {
		case <-c.events:
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("waited in vain for %s; status %+v", what, c.source.SyncStatus())
		}
	}
}

// awaitText waits until the note at p reads text.
func (c *client) awaitText(p model.Path, text string) {
	c.t.Helper()
	var got string
	defer func() {
		if got != text {
			c.t.Logf("%s is %q", p, got)
		}
	}()
	c.await("the text of "+string(p), func() bool {
		v, err := c.Open(c.t.Context(), p)
		if err != nil {
			got = err.Error()
			return false
		}
		got = v.Raw()
		return got == text
	})
}

func (c *client) awaitLoss() {
	c.t.Helper()
	c.await("the loss of the server", func() bool { return !c.source.SyncStatus().Connected })
}

// awaitSent waits until the server has acknowledged everything.
func (c *client) awaitSent() {
	c.t.Helper()
	c.await("acknowledgement", func() bool {
		st := c.source.SyncStatus()
		return st.Connected && st.Unsent == 0
	})
}

func (c *client) write(p model.Path, fn func(string) string) {
	c.t.Helper()
	_, err := c.Update(c.t.Context(), p, model.Author{Name: "ai", Session: "s"}, nil, func(current *model.Version) (string, error) {
		return fn(current.Text()), nil
	})
	noError(c.t, err)
}

func (c *client) create(p model.Path, text string) {
	c.t.Helper()
	_, err := c.Create(c.t.Context(), p, bridge.Write{Text: text, By: model.Author{Name: "ai"}})
	noError(c.t, err)
}

func (c *client) rename(from, to model.Path) {
	c.t.Helper()
	_, err := c.Rename(c.t.Context(), from, to, bridge.ChangeRequest{})
	noError(c.t, err)
}

func (c *client) remove(p model.Path) {
	c.t.Helper()
	_, err := c.Remove(c.t.Context(), p, bridge.ChangeRequest{})
	noError(c.t, err)
}
