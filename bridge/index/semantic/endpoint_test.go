package semantic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/tests/need"
)

// server speaks the embeddings API over HTTP. Its vectors are those of words: texts with the same words are near each other.
type server struct {
	*httptest.Server

	mu       sync.Mutex         // protects the following
	faults   []http.HandlerFunc // what the next requests get instead
	requests int
	texts    []string // that were embedded
	keys     []string
}

func newServer(t *testing.T, faults ...http.HandlerFunc) *server {
	s := &server{faults: faults}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	var fault http.HandlerFunc
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	var body struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/embeddings" || body.Model != "words" || len(body.Input) > 64 {
		http.Error(w, fmt.Sprintf("bad request: %v", err), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.texts = append(s.texts, body.Input...)
	s.mu.Unlock()
	type item struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range body.Input {
		data = append(data, item{"embedding", i, wordVector(text)})
	}
	slices.Reverse(data) // any order will do
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": body.Model, "data": data})
}

func wordVector(text string) []float32 {
	v := make([]float32, 256)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%256]++
	}
	return v
}

func (s *server) embedded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := s.texts
	s.texts = nil
	return texts
}

func (s *server) endpoint() *semantic.Endpoint {
	return &semantic.Endpoint{URL: s.URL, Model: "words", Key: "secret", Wait: time.Millisecond, Timeout: need.Scaled(time.Minute)}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not now", code) }
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }
}

func TestEndpointRetries(t *testing.T) {
	tests := map[string][]http.HandlerFunc{
		"nothing wrong": nil,
		"too many requests": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "0.01")
			status(http.StatusTooManyRequests)(w, r)
		}, status(http.StatusTooManyRequests)},
		"server errors":   {status(http.StatusInternalServerError), status(http.StatusBadGateway), status(http.StatusServiceUnavailable)},
		"not JSON":        {answer("<html>"), answer("")},
		"too few":         {answer(`{"data": []}`)},
		"another length":  {answer(`{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}`)},
		"empty vector":    {answer(`{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}`)},
		"one index twice": {answer(`{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`)},
		"a wrong index":   {answer(`{"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}`)},
		"too large":       {answer(`{"data": [{"index": 0, "embedding": [1e39]}, {"index": 1, "embedding": [1]}]}`)},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(`{"data": [`))
		}},
	}
	for name, faults := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, faults...)
			vectors, err := s.endpoint().Embed(t.Context(), []string{"one fish", "two fish"})
			if err != nil || len(vectors) != 2 || len(vectors[0]) != 256 {
				t.Errorf("got %d vectors, %v", len(vectors), err)
			}
			if s.requests != len(faults)+1 || s.keys[0] != "Bearer secret" {
				t.Errorf("%d requests with keys %q", s.requests, s.keys)
			}
		})
	}
}

// A request without an answer is given up, and made again.
func TestEndpointTimeout(t *testing.T) {
	s := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // from then on the server sees that the client went away
		<-r.Context().Done()
	})
	e := s.endpoint()
	e.Timeout = need.Scaled(2 * time.Second)
	if vectors, err := e.Embed(t.Context(), []string{"one"}); err != nil || len(vectors) != 1 {
		t.Errorf("got %v, %v", vectors, err)
	}
}

func TestEndpointGivesUp(t *testing.T) {
	tests := map[string]struct {
		fault    http.HandlerFunc
		requests int
	}{
		"key refused":   {status(http.StatusUnauthorized), 1},
		"no such model": {status(http.StatusNotFound), 1},
		"always busy":   {status(http.StatusTooManyRequests), 5},
		"always wrong":  {answer("{}"), 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, slices.Repeat([]http.HandlerFunc{tt.fault}, 10)...)
			if _, err := s.endpoint().Embed(t.Context(), []string{"x"}); !errors.Is(err, semantic.ErrEndpoint) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v", err)
			}
			if s.requests != tt.requests {
				t.Errorf("%d requests, want %d", s.requests, tt.requests)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		status(http.StatusTooManyRequests)(w, r)
	})
	if _, err := s.endpoint().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A server that cannot be reached is told of in words, without those of Go's libraries.
func TestEndpointIsDown(t *testing.T) {
	down := newServer(t)
	down.Close()
	hangsUp := newServer(t, slices.Repeat([]http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, 10)...)
	silent := newServer(t, slices.Repeat([]http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}}, 10)...)
	for want, s := range map[string]*server{"connection refused": down, "it closed the connection": hangsUp, "no answer in time": silent} {
		e := s.endpoint()
		e.Timeout = need.Scaled(200 * time.Millisecond)
		_, err := e.Embed(t.Context(), []string{"x"})
		if !errors.Is(err, semantic.ErrEndpoint) || err.Error() != fmt.Sprintf("%v: %s/v1/embeddings: %s", semantic.ErrEndpoint, s.URL, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEndpointCheck(t *testing.T) {
	for _, e := range []semantic.Endpoint{{URL: "ftp://x", Model: "m"}, {URL: "localhost:11434", Model: "m"}, {URL: "http://", Model: "m"}, {URL: "http://x"}} {
		if e.Check() == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
	for _, url := range []string{"http://h", "http://h/", "http://h/v1", "http://h/v1/embeddings"} {
		e := semantic.Endpoint{URL: url, Model: "m"}
		if err := e.Check(); err != nil || e.ID() != "http://h/v1/embeddings m" {
			t.Errorf("%s: %v, %q", url, err, e.ID())
		}
	}
}

// Every passage goes to the endpoint once: not again when another note changes,
// nor after a restart.
func TestEndpointIndex(t *testing.T) {
	s := newServer(t)
	notes := map[string]string{"V/a.md": "the quick brown fox\n", "V/b.md": "---\nkind: b\n---\nlazy dogs sleep\n"}
	for i := range 100 {
		notes[fmt.Sprintf("V/many/%d.md", i)] = fmt.Sprintf("number %d and nothing else\n", i)
	}
	f := bridgetest.New(t, notes)
	o := semantic.Options{Embedder: s.endpoint(), Dir: owner.Folder(t.TempDir())}
	x := semantic.New(f.Workspace, o)
	var progress int
	ctx := model.WithProgress(t.Context(), func(_, total int) { progress = total })
	first := func(query, want string) {
		t.Helper()
		hits, err := x.Search(ctx, query, nil, 3)
		if err != nil || len(hits) == 0 || string(hits[0].Path) != want {
			t.Fatalf("%q: %v, %v", query, hits, err)
		}
	}
	first("brown fox", "V/a.md")
	if texts := s.embedded(); len(texts) != len(notes)+1 || progress != len(notes) {
		t.Errorf("%d texts were embedded for %d notes, %d reported", len(texts), len(notes), progress)
	}
	f.Person("V/a.md", "a slow green turtle\n")
	first("green turtle", "V/a.md")
	if texts := s.embedded(); !slices.Equal(texts, []string{"a\n\na slow green turtle", "green turtle"}) {
		t.Errorf("embedded %q", texts)
	}
	f.Rename("V/b.md", "V/c.md") // the name is part of what is embedded
	first("lazy dogs", "V/c.md")
	s.embedded()
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	x = semantic.New(f.Workspace, o)
	first("lazy dogs", "V/c.md")
	if texts := s.embedded(); !slices.Equal(texts, []string{"lazy dogs"}) {
		t.Errorf("after a restart, embedded %q", texts)
	}
}
