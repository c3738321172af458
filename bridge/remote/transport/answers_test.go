package transport

import (
	"context"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Whatever a server answers, each call ends in time with a result or with an error of one line.
func TestAnswersOfAnyKind(t *testing.T) {
	var answer, stray http.HandlerFunc
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ws/note") {
			stray(w, r)
			return
		}
		answer(w, r)
	}))
	defer srv.Close()
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // the server reports wrong lengths
	randomtest.Check(t, 50, func(t testing.TB, r *rand.Rand) {
		scheme := randomtest.Pick(r, "ys", "ys", "ws", "hocuspocus+ws")
		address, err := ParseAddress(scheme + strings.TrimPrefix(srv.URL, "http"))
		if err != nil {
			t.Fatal(err)
		}
		address.Token = "secret-token"
		ws := "ws" + strings.TrimPrefix(srv.URL, "http") + "/ws"
		answer = randomtest.Answer(r, map[string]any{"url": ws, "baseUrl": srv.URL, "docId": "note", "token": "new-token", "authorization": "full"})
		stray = randomtest.Answer(r, map[string]any{})
		s := New(address, "folder", nil, nil, 1)
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		l, opened := s.Open(ctx, "note")
		if opened == nil {
			l.Close()
		}
		_, fetched := s.Fetch(ctx, "note")
		var examined error
		if e, ok := s.(Examiner); ok {
			l, _, examined = e.Examine(ctx, "note")
			if l != nil {
				l.Close()
			}
		}
		for _, err := range []error{opened, fetched, examined} {
			if err == nil {
				continue
			}
			if text := err.Error(); len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "secret-token") {
				t.Errorf("%s: the error has %d bytes: %.300q", scheme, len(text), text)
			}
		}
		if took := time.Since(begin); took > need.Scaled(5*time.Second) {
			t.Errorf("%s: it took %v", scheme, took)
		}
	})
}
