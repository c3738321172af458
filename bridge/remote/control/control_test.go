package control_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

const (
	relay    = "11111111-2222-4333-8444-555555555555"
	folder   = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	note     = "99999999-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	document = relay + "-" + folder
	state    = "abcdefghijklmnopqrstuvwxyz0123"
)

// secrets may be in no error.
var secrets = []string{"user-secret", "document-secret", "the-code", "the-verifier"}

// logins is a control.Logins in memory.
type logins struct {
	mu    sync.Mutex // protects the following
	login *control.Login
}

func (l *logins) Load() (control.Login, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.login == nil {
		return control.Login{}, fs.ErrNotExist
	}
	return *l.login, nil
}

func (l *logins) Store(login control.Login) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.login = &login
	return nil
}

func (l *logins) Replace(old, login control.Login) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.login != nil && *l.login == old {
		l.login = &login
	}
	return nil
}

// bench is a client and a service that answers with handlers, by path.
type bench struct {
	*control.Client
	t       *testing.T
	server  *httptest.Server
	service control.Service
	logins  *logins

	mu    sync.Mutex // protects the following
	now   time.Time
	paths map[string]http.HandlerFunc
	asked map[string]int
}

const (
	authMethods = "/api/collections/users/auth-methods"
	exchange    = "/api/collections/code_exchange/records/abcdefghijklmno"
	authCode    = "/api/collections/users/auth-with-oauth2"
	authRefresh = "/api/collections/users/auth-refresh"
	listing     = "/api/collections/shared_folders/records"
)

// start returns a bench on which somebody is logged in.
func start(t *testing.T) *bench {
	b := &bench{t: t, logins: new(logins), now: time.Now(), paths: make(map[string]http.HandlerFunc), asked: make(map[string]int)}
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	var err error
	if b.service, err = control.ParseService(b.server.URL+"/", b.server.URL); err != nil {
		t.Fatal(err)
	}
	b.Client = control.New(control.Options{Logins: b.logins, Poll: time.Millisecond, Now: func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}})
	b.logins.login = &control.Login{Service: b.service, User: "ann@example.org", Token: "user-secret", Since: b.now}
	b.paths["/token"] = b.document(time.Hour)
	return b
}

func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.asked[r.URL.Path]++
	handle := b.paths[r.URL.Path]
	b.mu.Unlock()
	if handle == nil {
		http.NotFound(w, r)
		return
	}
	handle(w, r)
}

func (b *bench) set(path string, h http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paths[path] = h
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) count(path string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[path]
}

// want fails the test unless err is of a kind and has no secret in it; nil wants success.
func (b *bench) want(err, kind error) {
	b.t.Helper()
	if !errors.Is(err, kind) {
		b.t.Errorf("error %v, want %v", err, kind)
	}
	for _, s := range secrets {
		if err != nil && strings.Contains(err.Error(), s) {
			b.t.Errorf("error %v has a secret in it", err)
		}
	}
}

func answer(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "user-secret", code) }
}

type object = map[string]any

// good returns the answer to a request for a token.
func (b *bench) good(docID string, ends time.Time) object {
	return object{
		"url": "ws://127.0.0.1:9/d/" + docID + "/ws", "baseUrl": "http://127.0.0.1:9/d/" + docID, "docId": docID,
		"folder": folder, "token": "document-secret-" + strconv.Itoa(b.count("/token")), "authorization": "full", "expiryTime": ends.UnixMilli(),
	}
}

// document answers requests for the tokens of documents.
func (b *bench) document(life time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct{ DocID, Relay, Folder string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if r.Header.Get("Authorization") != "Bearer user-secret" || body.Relay != relay || body.Folder != folder || strings.Contains(body.DocID, relay) {
			http.Error(w, "bad request", http.StatusTeapot)
			return
		}
		b.mu.Lock()
		now := b.now
		b.mu.Unlock()
		answer(b.good(relay+"-"+body.DocID, now.Add(life)))(w, r)
	}
}

func provider(name, authURL string) object {
	return object{"name": name, "state": state, "codeVerifier": "the-verifier", "authUrl": authURL}
}

const google = "https://accounts.example.org/authorize?state=x&redirect_uri="

func (b *bench) offers(providers ...object) {
	b.set(authMethods, answer(object{"authProviders": providers}))
}

// login logs in with a limit of time, and returns the address for the browser.
func (b *bench) login(name string) (shown string, err error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = b.Login(ctx, b.service, name, func(address string) { shown = address })
	return shown, err
}

func TestLogin(t *testing.T) {
	b := start(t)
	b.logins.login = nil
	b.offers(provider("google", google), provider("github", "https://github.example/?redirect_uri="))
	b.set(exchange, func(w http.ResponseWriter, r *http.Request) {
		switch b.count(exchange) {
		case 1:
			http.NotFound(w, r)
		case 2:
			http.Error(w, "starting", http.StatusBadGateway)
		case 3:
			answer(object{"code": ""})(w, r)
		default:
			answer(object{"code": "the-code"})(w, r)
		}
	})
	var body map[string]string
	b.set(authCode, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		answer(object{"token": "user-secret", "record": object{"id": "u1", "email": "", "name": "Ann"}})(w, r)
	})
	var shown string
	login, err := b.Login(t.Context(), b.service, "google", func(address string) { shown = address })
	b.want(err, nil)
	redirect := b.server.URL + "/api/oauth2-redirect"
	if want := google + url.QueryEscape(redirect); shown != want {
		t.Errorf("the browser is sent to %s, want %s", shown, want)
	}
	if want := map[string]string{"provider": "google", "code": "the-code", "codeVerifier": "the-verifier", "redirectUrl": redirect}; !maps.Equal(body, want) {
		t.Errorf("the service gets %v, want %v", body, want)
	}
	if kept, err := b.logins.Load(); err != nil || kept != login || login.Token != "user-secret" || login.User != "Ann" || login.Service != b.service {
		t.Errorf("%+v is kept (%v), want %+v", kept, err, login)
	}
}

func TestLoginFails(t *testing.T) {
	longAgo := func(b *bench) { b.set(exchange, answer(object{"code": "the-code"})) }
	for name, c := range map[string]struct {
		provider string
		prepare  func(*bench)
		want     error
	}{
		"several providers":  {"", func(b *bench) { b.offers(provider("google", google), provider("github", google)) }, control.ErrProvider},
		"another provider":   {"gitlab", func(b *bench) { b.offers(provider("google", google)) }, control.ErrProvider},
		"no providers":       {"", func(b *bench) { b.offers() }, control.ErrProvider},
		"no PocketBase":      {"", func(*bench) {}, transport.ErrProtocol},
		"a closed door":      {"", func(b *bench) { b.set(authMethods, status(http.StatusUnauthorized)) }, transport.ErrProtocol},
		"a file":             {"", func(b *bench) { b.offers(provider("google", "file:///etc/passwd?")) }, transport.ErrProtocol},
		"a flag":             {"", func(b *bench) { b.offers(provider("google", "--gui")) }, transport.ErrProtocol},
		"a script":           {"", func(b *bench) { b.offers(provider("google", "javascript:alert(1)//")) }, transport.ErrProtocol},
		"no TLS":             {"", func(b *bench) { b.offers(provider("google", "http://accounts.example.org/?")) }, transport.ErrProtocol},
		"a path as state":    {"", func(b *bench) { p := provider("google", google); p["state"] = "../../../users/records"; b.offers(p) }, transport.ErrProtocol},
		"a short state":      {"", func(b *bench) { p := provider("google", google); p["state"] = "abc"; b.offers(p) }, transport.ErrProtocol},
		"nobody comes back":  {"", func(b *bench) { b.offers(provider("google", google)) }, context.DeadlineExceeded},
		"the code is hidden": {"", func(b *bench) { b.offers(provider("google", google)); b.set(exchange, status(http.StatusForbidden)) }, transport.ErrDenied},
		"no token": {"", func(b *bench) {
			b.offers(provider("google", google))
			longAgo(b)
			b.set(authCode, answer(object{"record": object{"id": "u"}}))
		}, transport.ErrProtocol},
		"a token of two lines": {"", func(b *bench) {
			b.offers(provider("google", google))
			longAgo(b)
			b.set(authCode, answer(object{"token": "user-secret\r\nX: y"}))
		}, transport.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			b.t = t
			b.logins.login = nil
			c.prepare(b)
			_, err := b.login(c.provider)
			b.want(err, c.want)
			if b.logins.login != nil {
				t.Errorf("a login is kept: %+v", b.logins.login)
			}
		})
	}
}

// What the provider said is not taken: the error says so, whatever the service answers with.
func TestLoginRejected(t *testing.T) {
	b := start(t)
	b.offers(provider("google", google))
	b.set(exchange, answer(object{"code": "the-code"}))
	b.set(authCode, status(http.StatusBadRequest))
	_, err := b.login("")
	if err == nil || !strings.Contains(err.Error(), `"google"`) || !strings.Contains(err.Error(), "rejects") {
		t.Errorf("error %v", err)
	}
	b.want(err, err)
}

func TestParseService(t *testing.T) {
	for text, good := range map[string]bool{
		"https://api.example.org": true, "https://example.org:8443/api/": true, "http://127.0.0.1:8090": true, "http://localhost:8090": true, "http://[::1]:1": true,
		"http://api.example.org": false, "http://127.0.0.1.example.org": false, "api.example.org": false, "ftp://example.org": false, "": false,
		"https://": false, "https://user@example.org": false, "https://example.org?x=1": false, "https://example.org/#x": false,
	} {
		if _, err := control.ParseService("https://api.example.org", text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func item(name, guid, relayGUID string) object {
	return object{
		"id": "r", "name": name, "guid": guid, "private": true, "relay": "x",
		"expand": object{"relay": object{"guid": relayGUID, "name": "Acme"}, "creator": object{"name": "", "email": "bob@example.org"}},
	}
}

func TestFolders(t *testing.T) {
	b := start(t)
	b.set(listing, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer user-secret" || r.FormValue("expand") != "relay,creator" {
			http.Error(w, "who?", http.StatusTeapot)
			return
		}
		pages := map[string][]object{"1": {item("A", folder, relay), item("local", folder, "")}, "2": {item("B", note, relay)}, "3": {}}
		answer(object{"page": r.FormValue("page"), "totalPages": 3, "items": pages[r.FormValue("page")]})(w, r)
	})
	folders, err := b.Folders(t.Context())
	b.want(err, nil)
	want := []control.Folder{
		{Name: "A", ID: folder, Relay: relay, RelayName: "Acme", Creator: "bob@example.org", Private: true},
		{Name: "B", ID: note, Relay: relay, RelayName: "Acme", Creator: "bob@example.org", Private: true},
	}
	if !slices.Equal(folders, want) {
		t.Errorf("folders %+v, want %+v", folders, want)
	}
}

func TestFoldersFail(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirection was followed") }))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   error
	}{
		"no end":     {answer(object{"totalPages": 1 << 30, "items": []object{item("A", folder, relay)}}), transport.ErrProtocol},
		"not UUIDs":  {answer(object{"totalPages": 1, "items": []object{item("A", "../../x", relay)}}), transport.ErrProtocol},
		"not a list": {answer(object{"items": 1}), transport.ErrProtocol},
		"not JSON":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>user-secret") }, transport.ErrProtocol},
		"too large":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}", strings.Repeat(" ", 5<<20)) }, transport.ErrProtocol},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "{")
		}, transport.ErrUnreachable},
		"refused":           {status(http.StatusUnauthorized), transport.ErrLogin},
		"forbidden":         {status(http.StatusForbidden), transport.ErrNotShared},
		"down":              {status(http.StatusServiceUnavailable), transport.ErrUnreachable},
		"too many requests": {status(http.StatusTooManyRequests), transport.ErrUnreachable},
		"missing":           {nil, transport.ErrProtocol},
		"redirected":        {http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP, transport.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			b.set(listing, c.handle)
			_, err := b.Folders(t.Context())
			b.want(err, c.want)
			if transport.Hint(err) == "" {
				t.Errorf("%v has no hint", err)
			}
		})
	}
}

func (b *bench) tokens() *control.Tokens {
	b.t.Helper()
	tokens, err := b.Tokens(b.service.API, document)
	if err != nil {
		b.t.Fatal(err)
	}
	return tokens
}

// get returns the secret of the token of a document.
func (b *bench) get(tokens *control.Tokens, name string) string {
	b.t.Helper()
	tok, _, err := tokens.Document(b.t.Context(), name)
	b.want(err, nil)
	if tok.DocID != name {
		b.t.Errorf("the token is for %q, want %q", tok.DocID, name)
	}
	return tok.Token
}

func TestRequestsAtATime(t *testing.T) {
	b := start(t)
	var mu sync.Mutex
	running, most := 0, 0
	full, release := make(chan struct{}), make(chan struct{})
	good := b.document(time.Hour)
	b.set("/token", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		running++
		if most = max(most, running); running == 5 {
			close(full)
		}
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		good(w, r)
	})
	tokens := b.tokens()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { b.get(tokens, fmt.Sprintf("%s-%08d%s", relay, i, note[8:])) })
	}
	<-full
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := tokens.Document(ctx, document); !errors.Is(err, context.Canceled) {
		t.Errorf("one more request: %v", err)
	}
	close(release)
	wg.Wait()
	if most != 5 {
		t.Errorf("%d requests at a time, want 5", most)
	}
}

func TestFileToken(t *testing.T) {
	b := start(t)
	var body object
	b.set("/file-token", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		answer(object{"baseUrl": "http://127.0.0.1:9/f/x", "docId": "x", "token": "document-secret", "authorization": "full"})(w, r)
	})
	tok, err := b.tokens().File(t.Context(), relay+"-"+note, "0a", "image/png", 0)
	b.want(err, nil)
	if tok.BaseURL != "http://127.0.0.1:9/f/x" || tok.Token != "document-secret" {
		t.Errorf("token %+v", tok)
	}
	want := object{"docId": note, "relay": relay, "folder": folder, "hash": "0a", "contentType": "image/png", "contentLength": 0.0}
	if !maps.Equal(body, want) {
		t.Errorf("the service gets %v, want %v", body, want)
	}
}

func TestTokenFails(t *testing.T) {
	b := start(t)
	with := func(key string, value any) http.HandlerFunc {
		o := b.good(document, time.Now().Add(time.Hour))
		o[key] = value
		return answer(o)
	}
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   error
	}{
		"no token":             {with("token", ""), transport.ErrProtocol},
		"a token of two lines": {with("token", "document-secret\nx"), transport.ErrProtocol},
		"a token without end":  {with("token", strings.Repeat("document-secret", 2000)), transport.ErrProtocol},
		"another scheme":       {with("url", "file:///etc/passwd"), transport.ErrProtocol},
		"no TLS":               {with("url", "ws://relay.example.org/d/x/ws"), transport.ErrProtocol},
		"no TLS for HTTP":      {with("baseUrl", "http://relay.example.org/d/x"), transport.ErrProtocol},
		"a user":               {with("url", "wss://u:document-secret@relay.example.org/d/x/ws"), transport.ErrProtocol},
		"a query":              {with("url", "wss://relay.example.org/d/x/ws?x="), transport.ErrProtocol},
		"no address":           {with("baseUrl", ""), transport.ErrProtocol},
		"a path for a name":    {with("docId", "../../admin"), transport.ErrProtocol},
		"no name":              {with("docId", ""), transport.ErrProtocol},
		"an odd permission":    {with("authorization", "root"), transport.ErrProtocol},
		"an odd end":           {with("expiryTime", "tomorrow"), transport.ErrProtocol},
		"refused":              {status(http.StatusUnauthorized), transport.ErrLogin},
		"forbidden":            {status(http.StatusForbidden), transport.ErrNotShared},
		"no such document":     {status(http.StatusNotFound), transport.ErrNoDocument},
		"down":                 {status(http.StatusInternalServerError), transport.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.set("/token", c.handle)
			_, _, err := b.tokens().Document(t.Context(), document)
			b.want(err, c.want)
		})
	}
	b.t = t
	b.set("/token", with("url", "wss://relay.example.org/d/x/ws"))
	tok, _, err := b.tokens().Document(t.Context(), document)
	b.want(err, nil)
	if tok.Authorization != token.Full || tok.WebsocketURL() != "wss://relay.example.org/d/x/ws/"+document+"?token="+tok.Token {
		t.Errorf("token %+v", tok)
	}
	if _, err := b.Tokens(b.service.API, "../../etc"); !errors.Is(err, transport.ErrNoFolder) {
		t.Errorf("a path for a folder: %v", err)
	}
}

// jwt returns a token of a user that ends at a time.
func jwt(ends time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, ends.Unix())) + ".user-secret"
}

// Without a login that may be good the service is not asked, and never one of somebody else.
func TestNoLogin(t *testing.T) {
	for name, c := range map[string]struct {
		login *control.Login
		says  string
	}{
		"none":               {nil, "no login"},
		"ended":              {&control.Login{Token: jwt(time.Now().Add(-time.Minute)), User: "ann"}, "expired"},
		"at another service": {&control.Login{Service: control.Service{API: "https://other.example.org"}, Token: "user-secret"}, "https://other.example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			if b.logins.login = c.login; c.login != nil && c.login.API == "" {
				b.logins.login.Service = b.service
			}
			tokens := b.tokens()
			_, _, err := tokens.Document(t.Context(), document)
			b.want(err, transport.ErrLogin)
			if !errors.Is(err, transport.ErrDenied) || !strings.Contains(err.Error(), c.says) || transport.Hint(err) != "run 'relayfs login'" {
				t.Errorf("error %v with hint %q", err, transport.Hint(err))
			}
			if b.count("/token") > 0 {
				t.Error("the service was asked")
			}
			// A login that is stored meanwhile, by another process, counts at once.
			b.want(b.logins.Store(control.Login{Service: b.service, Token: "user-secret", Since: b.now}), nil)
			b.get(tokens, document)
		})
	}
}

// The token of the user is replaced daily; while the service does not answer the old one does.
func TestRefresh(t *testing.T) {
	b := start(t)
	tokens := b.tokens()
	b.get(tokens, document)
	b.pass(25 * time.Hour)
	b.set(authRefresh, status(http.StatusBadGateway))
	b.get(tokens, document)
	b.get(tokens, document)
	if n := b.count(authRefresh); n != 1 {
		t.Errorf("%d attempts to refresh, want 1 within some minutes", n)
	}
	b.set(authRefresh, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer user-secret" {
			http.Error(w, "who?", http.StatusTeapot)
			return
		}
		answer(object{"token": "user-secret-2", "record": object{"email": "ann@example.org"}})(w, r)
	})
	b.set(listing, answer(object{"totalPages": 1, "items": []object{}}))
	b.pass(time.Hour)
	_, err := b.Folders(t.Context())
	b.want(err, nil)
	if l, _ := b.logins.Load(); l.Token != "user-secret-2" || !l.Since.Equal(b.now) {
		t.Errorf("login %+v", l)
	}
	b.pass(25 * time.Hour)
	b.set(authRefresh, status(http.StatusUnauthorized))
	_, err = b.Folders(t.Context())
	b.want(err, transport.ErrLogin)
}

// A login that is given up while it is refreshed does not come back.
func TestLogoutWhileRefreshing(t *testing.T) {
	b := start(t)
	b.pass(25 * time.Hour)
	b.set(listing, answer(object{"totalPages": 1}))
	b.set(authRefresh, func(w http.ResponseWriter, r *http.Request) {
		b.logins.mu.Lock()
		b.logins.login = nil
		b.logins.mu.Unlock()
		answer(object{"token": "user-secret-2"})(w, r)
	})
	_, err := b.Folders(t.Context())
	b.want(err, nil)
	if _, err := b.logins.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the login is back: %v", err)
	}
}
