package api

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/mcpserver"
)

// What a client sends is not changed: a request that is no text is refused.
func TestInvalidRequests(t *testing.T) {
	mux := http.NewServeMux()
	HandlePost(mux, "/echo", func(_ context.Context, text string) (string, error) { return text, nil })
	for body, want := range map[string]int{`"é"`: 200, "\"\xff\"": 400, "": 400, `"a" "b"`: 400, `{}`: 400} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/echo", strings.NewReader(body)))
		if w.Code != want || want == 400 && !strings.HasPrefix(w.Body.String(), "invalid JSON in the request: ") {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	}
}

type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

// A client that sends without end does not fill the memory.
func TestEndlessRequest(t *testing.T) {
	mux := http.NewServeMux()
	HandlePost(mux, "/echo", func(_ context.Context, text string) (string, error) { return text, nil })
	w, body := httptest.NewRecorder(), &endless{}
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/echo", body))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "longer than 97 MiB") || body.read > 2*mcpserver.MaxMessage {
		t.Errorf("after %d bytes: %d %s", body.read, w.Code, w.Body)
	}
}

// A misspelled field is refused: without it the request would mean something else.
func TestUnknownField(t *testing.T) {
	mux := http.NewServeMux()
	HandlePost(mux, "/decide", func(_ context.Context, req reviewqueue.DecideRequest) (string, error) { return req.Reason, nil })
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/decide", strings.NewReader(`{"verdict":"changed","txt":"twelve"}`)))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"txt"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
