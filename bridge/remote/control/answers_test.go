package control_test

import (
	"encoding/json"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// odd returns a value with some parts replaced by others.
func odd(r *rand.Rand, v any) any {
	if r.IntN(12) == 0 {
		return randomtest.Pick[any](r, nil, true, 0, -1, 1<<53, 1.5e300, "", "x", "two\r\nlines", "\x1b[2J", strings.Repeat("\x00long", 50_000), "../../..", "file:///etc/passwd", "http://[::1", []any{}, object{}, []any{[]any{nil}}, google)
	}
	switch v := v.(type) {
	case object:
		out := object{}
		for key, part := range v {
			if r.IntN(20) > 0 {
				out[key] = odd(r, part)
			}
		}
		return out
	case []any:
		var out []any
		for _, part := range v {
			for range randomtest.Pick(r, 0, 1, 1, 1, 1, 1, 1, 2) {
				out = append(out, odd(r, part))
			}
		}
		return out
	}
	return v
}

// answers returns a handler whose answers are often not those of the service.
func answers(r *rand.Rand, v any) http.HandlerFunc {
	text, _ := json.Marshal(odd(r, v))
	code := http.StatusOK
	location, length := "", ""
	switch r.IntN(16) {
	case 0:
		text = randomtest.Damage(r, text)
	case 1:
		text = []byte(strings.Repeat(randomtest.Pick(r, " ", "[", `{"a":`, "\x00"), 5<<20))
	case 2:
		text = append(text, " user-secret"...)
	case 3:
		code = randomtest.Pick(r, 201, 204, 301, 307, 400, 401, 403, 404, 418, 429, 500, 503, 599)
		location = randomtest.Pick(r, "", "/token", "http://127.0.0.1:1/", "http://user-secret/", "\x00")
	case 4:
		length = randomtest.Pick(r, "0", "1", "99999999", "x")
	case 5:
		text = nil
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		w.WriteHeader(code)
		_, _ = w.Write(text)
	}
}

// Whatever the service answers, each call ends in time with a result or with an error of one line.
func TestAnswersOfAnyKind(t *testing.T) {
	b := start(t)
	b.server.Config.ErrorLog = log.New(io.Discard, "", 0) // the server reports wrong lengths
	login := *b.logins.login
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		b.logins.login = new(login)
		b.Client = control.New(control.Options{Logins: b.logins, Poll: time.Millisecond})
		b.set(authMethods, answers(r, object{"authProviders": []any{provider("google", google)}}))
		b.set(exchange, answers(r, object{"code": "the-code"}))
		b.set(authCode, answers(r, object{"token": "user-secret", "record": object{"id": "u1", "email": "a@example.org", "name": "Ann"}}))
		b.set(authRefresh, answers(r, object{"token": "user-secret", "record": object{"id": "u1"}}))
		b.set(listing, answers(r, object{"totalPages": 1, "items": []any{object{
			"guid": folder, "name": "Team", "private": true, "expand": object{"relay": object{"guid": relay, "name": "R"}, "creator": object{"name": "Bob"}},
		}}}))
		b.set("/token", answers(r, b.good(document, time.Now().Add(time.Hour))))
		begin := time.Now()
		if r.IntN(4) == 0 {
			b.logins.login.Since = time.Time{} // the login is refreshed
		}
		_, listed := b.Folders(t.Context())
		_, none := b.tokenOf(t, r)
		_, refused := b.login(randomtest.Pick(r, "", "google"))
		for _, err := range []error{listed, none, refused} {
			if err == nil {
				continue
			}
			if text := err.Error(); len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "user-secret") {
				t.Errorf("the error has %d bytes: %.300q", len(text), text)
			}
		}
		if user := b.logins.login.User; len(user) > 1000 || strings.ContainsFunc(user, unicode.IsControl) {
			t.Errorf("the user has %d bytes: %.300q", len(user), user)
		}
		if took := time.Since(begin); took > need.Scaled(5*time.Second) {
			t.Errorf("it took %v", took)
		}
	})
}

func (b *bench) tokenOf(t testing.TB, r *rand.Rand) (any, error) {
	tokens, err := b.Client.Tokens(b.service.API, document)
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(2) == 0 {
		return tokens.File(t.Context(), document, strings.Repeat("0", 64), "image/png", 1)
	}
	token, _, err := tokens.Document(t.Context(), relay+"-"+note)
	return token, err
}
