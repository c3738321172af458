package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// asked has a workspace and its handler. known are paths, IDs and other words that exist in it.
type asked struct {
	*bridgetest.Fixture
	http.Handler
	known, ids []string
}

func newAsked(t testing.TB) *asked {
	const png = "\x89PNG\r\n\x1a\n"
	f := bridgetest.New(t, map[string]string{
		"N/a.md": "---\nx: 1\n---\n# A\n\na {++b++} c\n\nsee [[b]] ![[i.png]] {>>why<<}\n", "N/d/b.md": "b\n", "N/i.png": png, "N/x.canvas": "{}",
		"N/bad.md": "\xff\xfe", "M/c.md": "c\n",
	})
	ctx := t.Context()
	by := model.Author{Name: "ann", Session: "s1"}
	for _, change := range []func() error{
		func() error {
			_, err := f.Write(ctx, "N/d/b.md", bridge.Write{Text: "b and {>>so<<} more\n", By: by})
			return err
		},
		func() error {
			_, err := f.Workspace.Rename(ctx, "M/c.md", "M/e.md", bridge.ChangeRequest{Author: by})
			return err
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	mcp := mcpserver.New(f.Workspace, mcpserver.Options{})
	t.Cleanup(mcp.Close)
	b := Backend{Workspace: f.Workspace, MCP: mcp, Stores: []backup.Folder{{Name: "N", Location: "N", Store: bridgetest.NewStore(t)}}}
	b.Refusals = new(Refusals).Of
	a := &asked{f, NewHandler(b), []string{"N/a.md", "N/d/b.md", "N/i.png", "N/x.canvas", "N/bad.md", "M/c.md", "M/e.md", "N", "N/d", "", "ann", "s1", "a", "b", "i.png", "1"}, nil}
	var list []struct{ ID, Batch, Revision string }
	for _, path := range []string{suggestionsPath, threadsPath, journalPath + "?limit=9"} {
		w := a.do(ctx, http.MethodGet, path, nil)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			t.Fatalf("%s: %v: %s", path, err, w.Body)
		}
		for _, x := range list {
			a.ids = append(a.ids, x.ID, x.Batch, x.Revision)
		}
	}
	return a
}

func (a *asked) do(ctx context.Context, method, target string, body io.Reader) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, target, body))
	return w
}

// id returns an ID, or the beginning of one.
func (a *asked) id(r *rand.Rand) string {
	id := randomtest.Pick(r, a.ids...)
	return id[:randomtest.Pick(r, len(id), len(id), len(id)/2, min(1, len(id)))]
}

func (a *asked) word(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return randomtest.Pick(r, a.known...)
	case 1:
		return a.id(r)
	}
	return randomtest.Pick(r, "none", "N/none.md", "none/a.md", "N/a.md/x", "N/../M/c.md", "../../etc/passwd", "/", ".", "..", "N/", "N//a.md", "N/.obsidian/app.json",
		"N/a\x00.md", "N/a\n.md", "\xff", "N/\xff.md", "N/"+strings.Repeat("x", 300)+".md", strings.Repeat("N/", 5000)+"a.md", strings.Repeat("{a,", 500), "N/"+strings.Repeat("{*a,?*}", 30)+"b", "[", "**", "N/*.md",
		"-1", "9223372036854775807", "null", "{}", "raw", "rename", "addition", "{>>", "<<}", "{++x", "é", "👍")
}

func (a *asked) value(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 5 || depth > 3:
		return a.word(r)
	case n == 5:
		return randomtest.Pick[any](r, nil, true, false, 0, 1, -1, 1<<40, 1.5, -1e300)
	case n < 8:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = a.value(r, depth+1)
		}
		return list
	}
	fields := make(map[string]any)
	for range r.IntN(3) {
		fields[a.word(r)] = a.value(r, depth+1)
	}
	return fields
}

// body returns the JSON of a request, most of whose fields have the right type.
func (a *asked) body(r *rand.Rand, names []string) []byte {
	fields := make(map[string]any)
	for range r.IntN(6) {
		name := randomtest.Pick(r, names...)
		if r.IntN(20) == 0 {
			name = a.word(r)
		}
		fields[name] = a.value(r, 0)
		if r.IntN(8) == 0 {
			continue
		}
		switch name {
		case "start", "end":
			fields[name] = randomtest.Pick(r, -1, 0, 1, 3, 1<<40)
		case "force", "unseen", "newest":
			fields[name] = true
		case "ids", "threads":
			fields[name] = randomtest.Some(r, 0, 2, a.id(r), a.id(r), a.word(r))
		case "shown":
			fields[name] = map[string]string{a.id(r): a.id(r)}
		case "thread", "suggestion", "batch":
			fields[name] = a.id(r)
		case "verdict":
			fields[name] = randomtest.Pick(r, "accepted", "rejected", "changed")
		case "tool":
			fields[name] = randomtest.Pick(r, "edit", "write", "grep", "glob", "read", "none", "")
		case "args":
			fields[name] = map[string]any{randomtest.Pick(r, "file_path", "path", "pattern", "glob"): a.word(r), randomtest.Pick(r, "old_string", "content", "cursor", "head_limit"): a.value(r, 0)}
		default:
			fields[name] = a.word(r)
		}
	}
	text, _ := json.Marshal(fields)
	if r.IntN(8) == 0 {
		text = randomtest.Damage(r, text)
	}
	return text
}

func (a *asked) query(r *rand.Rand, names []string) url.Values {
	query := make(url.Values)
	for _, name := range names {
		if r.IntN(5) > 0 {
			query[name] = randomtest.Some(r, 1, 2, a.word(r), a.word(r))
		}
		switch {
		case r.IntN(2) > 0:
		case name == "view":
			query.Set(name, randomtest.Pick(r, "raw", "accepted", "original"))
		case name == "when":
			query.Set(name, randomtest.Pick(r, "{}", `{"entry":99}`, `{"entry":1}`, `{"entry":-1}`, `{"time":"2000-01-01T00:00:00Z"}`, `{"time":"9999-12-31T23:59:59Z"}`, `{"time":"soon"}`))
		case name == "limit":
			query.Set(name, randomtest.Pick(r, "-1", "0", "1", "9223372036854775807", "99999999999999999999"))
		}
	}
	return query
}

// routes are all routes of NewHandler, with their parameters.
var routes = map[string][]string{
	"GET " + owner.AlivePath: nil, "GET " + owner.CheckPath: nil, "GET " + statusPath: nil, "GET " + readyPath: nil, "GET " + storesPath: nil,
	"GET " + suggestionsPath: {"context", "path", "author", "session", "kind"}, "GET " + threadsPath: {"path"}, "GET " + pendingPath: {"path"},
	"GET " + notePath: {"path"}, "GET " + imagePath: {"note", "target"}, "GET " + journalPath: {"limit"}, "GET " + eventsPath: nil,
	"GET " + textPath: {"path"}, "GET " + namesPath: {"path", "recursive"}, "GET " + historyPath: {"path"}, "GET " + pastPath: {"path", "view", "when"},
	"GET " + refusalsPath: {"path"}, "GET " + storePath: {"folder"},
	"POST " + commentPath: {"path", "thread", "suggestion", "quote", "start", "end", "revision", "text"}, "POST " + resolvePath: {"threads", "reason"},
	"POST " + decidePath: {"ids", "verdict", "text", "reason", "force", "unseen", "shown"}, "POST " + undoPath: {"batch", "ids", "session", "newest"},
	"POST " + callPath: {"author", "read", "tool", "args"},
}

// Every request gets an answer in time. A wrong request is answered with a sentence about the request, never with the
// status of a failed owner.
func TestRequestsOfAnyKind(t *testing.T) {
	names := slices.Sorted(maps.Keys(routes))
	randomtest.Check(t, 50, func(t testing.TB, r *rand.Rand) {
		a := newAsked(t)
		for range 40 {
			route := randomtest.Pick(r, names...)
			method, path, _ := strings.Cut(route, " ")
			var query url.Values
			var body []byte
			if method == http.MethodPost {
				body = a.body(r, routes[route])
			} else {
				query = a.query(r, routes[route])
			}
			ctx, cancel := t.Context(), func() {}
			if path == eventsPath {
				ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
			}
			start := time.Now()
			w := a.do(ctx, method, path+"?"+query.Encode(), bytes.NewReader(body))
			cancel()
			what := fmt.Sprintf("%.300s?%.300s %.300q", route, query.Encode(), body)
			text := strings.TrimSpace(w.Body.String())
			if took := time.Since(start); took > need.Scaled(5*time.Second) {
				t.Errorf("%s takes %v", what, took)
			}
			if w.Code == http.StatusOK || path == eventsPath { // the client of a stream leaves, maybe before the first event
				continue
			}
			t.Logf("%s: %d %.300s", what, w.Code, text)
			if w.Code < 400 || w.Code >= 500 || len(text) < 5 {
				t.Errorf("%s: %d %.300s", what, w.Code, text)
			}
		}
	})
}
