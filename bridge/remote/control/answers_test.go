package control_test

import (
	"io"
	"log"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Whatever the service answers, each call ends in time with a result or with an error of one line.
func TestAnswersOfAnyKind(t *testing.T) {
	b := start(t)
	b.server.Config.ErrorLog = log.New(io.Discard, "", 0) // the server reports wrong lengths
	login := *b.logins.login
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		b.logins.login = new(login)
		b.Client = control.New(control.Options{Logins: b.logins, Poll: time.Millisecond})
		b.set(authMethods, randomtest.Answer(r, object{"authProviders": []any{provider("google", google)}}))
		b.set(exchange, randomtest.Answer(r, object{"code": "the-code"}))
		b.set(authCode, randomtest.Answer(r, object{"token": "user-secret", "record": object{"id": "u1", "email": "a@example.org", "name": "Ann"}}))
		b.set(authRefresh, randomtest.Answer(r, object{"token": "user-secret", "record": object{"id": "u1"}}))
		b.set(listing, randomtest.Answer(r, object{"totalPages": 1, "items": []any{object{
			"guid": folder, "name": "Team", "private": true, "expand": object{"relay": object{"guid": relay, "name": "R"}, "creator": object{"name": "Bob"}},
		}}}))
		b.set("/token", randomtest.Answer(r, b.good(document, time.Now().Add(time.Hour))))
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
