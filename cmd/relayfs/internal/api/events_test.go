package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// eventServer serves the events of q until the test ends.
func eventServer(t *testing.T, q *reviewqueue.Queue) *httptest.Server {
	ctx, stop := context.WithCancel(context.Background())
	srv := httptest.NewUnstartedServer(serveEvents(q))
	srv.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	srv.Start()
	t.Cleanup(func() {
		stop()
		srv.Close()
	})
	return srv
}

// openEvents opens a stream behind the event with an id. Close its body.
func openEvents(t *testing.T, srv *httptest.Server, last string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", last)
	for _, h := range header {
		req.Header.Set(h, "same-origin")
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, got)
	}
	return resp
}

var errEnough = errors.New("enough")

// nextEvents reads n of what a stream tells, signs of life included.
func nextEvents(stream io.Reader, n int) (told []reviewqueue.Change) {
	readEvents(stream, 0, func(c reviewqueue.Change) error {
		if told = append(told, c); len(told) == n {
			return errEnough
		}
		return nil
	})
	return told
}

func someNotes(n int) map[string]string {
	notes := make(map[string]string, n)
	for i := range n {
		notes[fmt.Sprintf("N/%03d.md", i)] = "a {++b++}\n"
	}
	return notes
}

// changer returns what changes a note.
func changer(t *testing.T, f *bridgetest.Fixture) func(model.Path) {
	n := 0
	return func(p model.Path) {
		n++
		if _, err := f.Workspace.Write(t.Context(), p, bridge.Write{Text: fmt.Sprintf("a b %d\n", n), By: model.Author{Name: "claude"}}); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that names the last event that it has is told what it has missed, once; one that names none, or one that
// this process does not know, is told everything, once.
func TestEventsGoOn(t *testing.T) {
	f := bridgetest.New(t, someNotes(3))
	change := changer(t, f)
	q := reviewqueue.New(f.Workspace)
	srv := eventServer(t, q)
	resp := openEvents(t, srv, "")
	defer resp.Body.Close()
	all := nextEvents(resp.Body, 1)[0]
	if !slices.Equal(all.Paths, []string{""}) {
		t.Errorf("at first %+v", all)
	}
	change("N/001.md")
	change("N/002.md")
	missed := openEvents(t, srv, fmt.Sprint(all.Now))
	defer missed.Body.Close()
	if d := nextEvents(missed.Body, 1)[0]; !slices.Equal(d.Paths, []string{"N/001.md", "N/002.md"}) {
		t.Errorf("behind %d: %+v", all.Now, d)
	}
	current := openEvents(t, srv, fmt.Sprint(f.Workspace.Last()))
	defer current.Body.Close()
	lines := bufio.NewReader(current.Body)
	for _, want := range []string{"retry: 2000\n", ":\n"} {
		if got, err := lines.ReadString('\n'); got != want {
			t.Errorf("with nothing missed: %q, %v; want %q", got, err, want)
		}
	}
	change("N/000.md")
	if d := nextEvents(lines, 1)[0]; !slices.Equal(d.Paths, []string{"N/000.md"}) {
		t.Errorf("then %+v", d)
	}

	again := bridgetest.New(t, someNotes(3)) // as after a restart
	restarted := eventServer(t, reviewqueue.New(again.Workspace))
	for _, last := range []string{fmt.Sprint(all.Now), fmt.Sprint(again.Workspace.Last() + 1), "1", "-1", "x"} {
		resp := openEvents(t, restarted, last)
		defer resp.Body.Close()
		if d := nextEvents(resp.Body, 1)[0]; !slices.Equal(d.Paths, []string{""}) {
			t.Errorf("behind %s: %+v", last, d)
		}
	}
}

// A client that does not read gets the sum of what it missed when it reads again; one that never does holds up
// nothing: the server's end waits for no stream.
func TestEventsOfAClientThatDoesNotRead(t *testing.T) {
	f := bridgetest.New(t, someNotes(100))
	q, change := reviewqueue.New(f.Workspace), changer(t, f)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	srv := &http.Server{Handler: serveEvents(q), BaseContext: func(net.Listener) context.Context { return ctx }}
	l := &pipes{make(chan net.Conn), make(chan struct{})} // without any buffer: what is not read blocks who writes
	go srv.Serve(l)
	open := func() net.Conn {
		client, server := net.Pipe()
		t.Cleanup(func() { client.Close() })
		l.conns <- server
		fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		return client
	}
	open() // and never reads

	slow := open()
	one := make([]byte, 1)
	if _, err := slow.Read(one); err != nil { // the first delta is made, and waits to be read
		t.Fatal(err)
	}
	for range 3 {
		for p := range someNotes(100) {
			change(model.Path(p))
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(one), slow)), nil)
	if err != nil {
		t.Fatal(err)
	}
	told := nextEvents(resp.Body, 2)
	if told[1].Now != f.Workspace.Last() || len(told[1].Paths) != 100 {
		t.Errorf("%d paths, state %d; want all 100 notes in the state %d", len(told[1].Paths), told[1].Now, f.Workspace.Last())
	}

	idle := open() // waits for a change
	if resp, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil || len(nextEvents(resp.Body, 1)) != 1 {
		t.Fatal(err)
	}
	stop()
	if err := srv.Shutdown(t.Context()); err != nil { // hangs if it waits for one of them
		t.Error(err)
	}
}

// A stream too many is told what it has missed, and ends; it goes on when it comes back and another has ended. Tabs of
// a browser take no place from programs, and leave the browser connections for what they ask.
func TestTooManyEventStreams(t *testing.T) {
	f := bridgetest.New(t, someNotes(1))
	q, change := reviewqueue.New(f.Workspace), changer(t, f)
	srv := eventServer(t, q)
	for _, c := range []struct {
		max    int
		header []string
	}{{maxTabs, []string{"Sec-Fetch-Site"}}, {maxPrograms, nil}} {
		var streams []*http.Response
		for range c.max {
			resp := openEvents(t, srv, "", c.header...)
			defer resp.Body.Close()
			nextEvents(resp.Body, 1)
			streams = append(streams, resp)
		}
		more := openEvents(t, srv, "", c.header...)
		told := nextEvents(more.Body, 2)
		if _, err := more.Body.Read(make([]byte, 1)); len(told) != 1 || err != io.EOF {
			t.Errorf("stream %d is told %+v, and goes on with %v", c.max+1, told, err)
		}
		more.Body.Close()
		streams[0].Body.Close()
		for change("N/000.md"); ; { // until the server has noticed
			resp := openEvents(t, srv, fmt.Sprint(f.Workspace.Last()), c.header...)
			nextEvents(resp.Body, 1)
			change("N/000.md")
			told := nextEvents(resp.Body, 1)
			resp.Body.Close()
			if len(told) == 1 {
				break
			}
		}
	}
}
