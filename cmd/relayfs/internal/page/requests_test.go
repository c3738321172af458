package page

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Whatever a browser sends, the page answers, and a wrong request is refused with a sentence.
func TestRequestsOfAnyKind(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": "a {++b++} c {>>why<<}\n"})
	mcp := mcpserver.New(f.Workspace, mcpserver.Options{})
	t.Cleanup(mcp.Close)
	c, end := api.InProcess(owner.Info{}, api.NewHandler(api.Backend{Workspace: f.Workspace, MCP: mcp}))
	t.Cleanup(end)
	const token = "0123456789abcdef"
	h := (&Page{token: token}).handler(c)
	routes := append(api.ReviewRoutes(), "GET "+documentPath, "GET /openapi.json", "PUT /note", "POST /note", "GET /decide", "GET /none", "GET /mcp", "POST /call", "GET /kept", "GET /text")
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		method, path, _ := strings.Cut(randomtest.Pick(r, routes...), " ")
		if path == "/events" {
			t.Skip("the stream does not end")
		}
		word := func() string {
			return randomtest.Pick(r, "N/a.md", "N/none.md", "", "N", "N/a\x00.md", "\xff", "../..", "{", "1", "-1", "99999999999999999999", strings.Repeat("{*a,?*}", 40), strings.Repeat("x", 10_000))
		}
		query := make(url.Values)
		for range r.IntN(4) {
			query.Add(randomtest.Pick(r, "path", "limit", "note", "target", "plain", "context", "kind", "source", "agent"), word())
		}
		body := []byte(randomtest.Pick(r, "", "{}", "null", "[]", "0", `"x"`, "{", strings.Repeat("[", 1<<20), strings.Repeat(`{"ids":`, 100_000), `{"verdict":"accepted","ids":["x"],"unseen":true}`,
			`{"path":"N/a.md","quote":"a","text":"t"}`, `{"threads":["x"]}`, `{"newest":true}`, `{"session":"s"}`, `{"text":"`+strings.Repeat("\\u0000", 1<<20)+`"}`))
		if r.IntN(4) == 0 {
			body = randomtest.Damage(r, body)
		}
		req := httptest.NewRequest(method, "/api"+path+"?"+query.Encode(), bytes.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+token)
		if r.IntN(8) == 0 {
			req.Header.Set(randomtest.Pick(r, "Content-Type", "Last-Event-ID", "Sec-Fetch-Site", "Accept-Encoding", "Hint"), randomtest.Pick(r, "none", "-1", "gzip;q=x", "same-origin", "\xff"))
		}
		if r.IntN(20) == 0 {
			req.Header.Set("Authorization", randomtest.Pick(r, "", "Bearer", "Bearer x", "Basic "+token, strings.Repeat("Bearer ", 1000)))
		}
		w, begin := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(w, req)
		if took := time.Since(begin); took > need.Scaled(5*time.Second) {
			t.Errorf("%s %s?%.100s %.100q takes %v", method, path, query.Encode(), body, took)
		}
		if text := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK && (w.Code < 400 || w.Code >= 500 || len(text) < 5) {
			t.Errorf("%s %s?%.100s %.100q: %d %.300s", method, path, query.Encode(), body, w.Code, text)
		}
	})
}
