package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

// A decision in a note with thousands of suggestions sends what changed: that one has gone, and its block. So do those
// that move all lines behind them.
func TestADecisionSendsItself(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "Paragraph %d has {++some++} words.\n\n{++It is new.\n\n++}Then it goes on.\n\n", i)
	}
	q, cancel := queue.NewLocal(bridgetest.New(t, map[string]string{"N/a.md": b.String()}).Workspace)
	t.Cleanup(cancel)
	mux := http.NewServeMux()
	handle(mux, pageQueue{q, newSent()})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close) // waits for the stream, which is closed before
	get := func(path string) *http.Response {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	version := ""
	readDocument := func() (sent int) {
		text, err := io.ReadAll(get("/document?path=N/a.md&have=" + url.QueryEscape(version)).Body)
		if err != nil {
			t.Fatal(err)
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		version = d.Version
		return len(text)
	}
	events := bufio.NewReader(get("/events").Body)
	nextEvent := func() (d queue.Delta, sent int) {
		for {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &d); err != nil {
					t.Fatal(err)
				}
				return d, len(data)
			}
		}
	}
	all, _ := nextEvent()
	if len(all.Suggestions) != 6000 {
		t.Fatalf("at first %d suggestions, want 6000", len(all.Suggestions))
	}
	readDocument()
	for i, verdict := range []model.Verdict{model.Accepted, model.Accepted, model.Rejected, model.Rejected} {
		s := all.Suggestions[i]
		body, err := json.Marshal(queue.DecideRequest{Verdict: verdict, Shown: map[string]string{s.ID: s.Revision}})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := srv.Client().Post(srv.URL+"/decide", "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", resp.Status, answer, err)
		}
		d, told := nextEvent()
		if len(d.Gone) != 1 || d.Gone[0] != s.ID || len(d.Suggestions) != 0 {
			t.Errorf("%s: %d gone, %d new or changed; want %s gone and nothing else", verdict, len(d.Gone), len(d.Suggestions), s.ID)
		}
		if sent := len(answer) + told + readDocument(); sent > 5000 {
			t.Errorf("%s: the answer has %d bytes, and the event %d, %d with the document; want less than 5000", verdict, len(answer), told, sent)
		}
	}
}
