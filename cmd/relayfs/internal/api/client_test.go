package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// A command without an owner asks a handler of its own process as it asks an owner: it gets the answers, and errors as
// sentences with a status and a hint. What it has asked for is carried out before the end.
func TestInProcess(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": "a {++b++}\n"})
	srv := mcpserver.New(f.Workspace, mcpserver.Options{})
	defer srv.Close()
	c, end := InProcess(owner.Info{}, NewHandler(Backend{Workspace: f.Workspace, MCP: srv}))
	ctx := t.Context()
	list, err := c.List(ctx, true)
	if err != nil || len(list) != 1 || list[0].New != "b" {
		t.Fatalf("pending: %+v, %v", list, err)
	}
	if text, err := c.Text(ctx, "N/a.md"); err != nil || string(text) != "a b\n" {
		t.Errorf("the note reads %q, %v", text, err)
	}
	if names, err := c.Names(ctx, "N", false); err != nil || len(names) != 1 || names[0].Path != "N/a.md" {
		t.Errorf("names %+v, %v", names, err)
	}
	if res, err := c.Call(ctx, CallRequest{Author: "ann", Read: "N/a.md", Tool: "edit", Args: map[string]any{"file_path": "N/a.md", "old_string": "a", "new_string": "A"}}); err != nil || res.IsError {
		t.Errorf("edit: %+v, %v", res, err)
	}
	for _, tt := range []struct {
		what   string
		err    error
		status int
		hint   bool
	}{
		{"a note that is not there", func() error { _, err := c.Text(ctx, "N/none.md"); return err }(), http.StatusNotFound, true},
		{"a bad name", func() error { _, err := c.Note(ctx, "N/a\x00.md"); return err }(), http.StatusUnprocessableEntity, false},
		{"nothing to undo", func() error { _, err := c.Undo(ctx, reviewqueue.UndoRequest{Newest: true}); return err }(), http.StatusGone, false},
		{"a request that names nothing", func() error { _, err := c.Undo(ctx, reviewqueue.UndoRequest{}); return err }(), http.StatusBadRequest, false},
		{"a suggestion that is not as shown", func() error {
			_, err := c.Decide(ctx, reviewqueue.DecideRequest{Verdict: model.Accepted, Shown: map[string]string{list[0].ID: "another"}})
			return err
		}(), http.StatusConflict, false},
	} {
		refused, ok := errors.AsType[*owner.RefusedError](tt.err)
		_, usage := errors.AsType[*cli.UsageError](tt.err)
		if !ok || refused.Status != tt.status || (Hint(tt.err) != "") != tt.hint || usage != (tt.status == http.StatusBadRequest) {
			t.Errorf("%s: %#v, hint %q; want status %d", tt.what, tt.err, Hint(tt.err), tt.status)
		}
	}
	out, err := c.Decide(ctx, reviewqueue.DecideRequest{Verdict: model.Accepted, IDs: []string{list[0].ID}, Unseen: true})
	if err != nil || out.Notes != 1 {
		t.Errorf("a decision: %+v, %v", out, err)
	}
	end()
	if v, err := f.Workspace.Open(ctx, "N/a.md"); err != nil || v.Text() != "A b\n" {
		t.Errorf("at the end the note reads %q, %v", v.Text(), err)
	}
	if _, err := f.Workspace.Write(ctx, "N/a.md", bridge.Write{Text: "A b c\n", By: model.Author{Name: "ann"}}); err != nil {
		t.Error(err)
	}
}

// nowhere is a response that is not kept.
type nowhere struct{ written int }

func (w *nowhere) Header() http.Header         { return http.Header{} }
func (w *nowhere) WriteHeader(int)             {}
func (w *nowhere) Write(p []byte) (int, error) { w.written += len(p); return len(p), nil }

// A file that is sent is not held in memory: it may be larger than that.
func TestTextOfALargeFile(t *testing.T) {
	const size = need.MaxBytes + 1<<20
	f := bridgetest.New(t, map[string]string{"N/film.mp4": strings.Repeat("x", size)})
	h := NewHandler(Backend{Workspace: f.Workspace})
	var w nowhere
	before := need.Allocated()
	h.ServeHTTP(&w, httptest.NewRequest(http.MethodGet, textPath+"?path=N/film.mp4", nil))
	if n := need.Allocated() - before; w.written != size || n > need.MaxBytes {
		t.Errorf("it sends %d bytes of %d, and allocates %d", w.written, size, n)
	}
}
