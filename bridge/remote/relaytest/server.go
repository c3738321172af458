package relaytest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type Options struct {
	Keys []*token.Key // trusted keys; the first one signs for the server; without keys no token is checked
	URL  string       // url in the server's configuration, given to clients; "" is its address
	Port string       // "" for any that is free
	// Types are the allowed_token_types of the keys. If nil, they are document and file, as in relay-server.
	Types []token.ScopeKind
	// Checkpoint is the time between checkpoints. If 0, it is ten seconds.
	Checkpoint time.Duration
}

// AllTypes is a value for Options.Types with which HTTP accepts every type of token.
var AllTypes = []token.ScopeKind{token.Server, token.Doc, token.File, token.Prefix}

type Server struct {
	o        Options
	audience string
	http     *httptest.Server
	ctx      context.Context // ends with the server
	end      context.CancelFunc

	mu      sync.Mutex // guards the fields below and all documents
	docs    map[string]*document
	files   map[string][]byte // by document ID and hash
	loads   []Load
	refused int
}

type Load struct {
	Document string
	Channel  string // the document's own ID if the request named no channel
	By       string // the request: "new", "as-update", "update" or "ws"; "subdoc" for the document of a channel
}

// New starts a server, which runs until the end of the test.
func New(t testing.TB, o Options) *Server {
	s := &Server{o: o, docs: make(map[string]*document), files: make(map[string][]byte)}
	if o.Types == nil {
		s.o.Types = []token.ScopeKind{token.Doc, token.File}
	}
	s.o.Checkpoint = cmp.Or(o.Checkpoint, 10*time.Second)
	s.ctx, s.end = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]bool{"ok": true}) })
	mux.HandleFunc("POST /doc/new", s.newDoc)
	mux.HandleFunc("POST /doc/{id}/auth", s.auth)
	mux.HandleFunc("GET /d/{id}/as-update", s.asUpdate)
	mux.HandleFunc("POST /d/{id}/update", s.update)
	mux.HandleFunc("GET /d/{id}/versions", s.versions)
	mux.HandleFunc("GET /d/{id}/ws/{again}", s.connect)
	mux.HandleFunc("POST /f/{id}/upload-url", s.uploadURL)
	mux.HandleFunc("GET /f/{id}/download-url", s.downloadURL)
	mux.HandleFunc("PUT /f/{id}/upload", s.upload)
	mux.HandleFunc("GET /f/{id}/download", s.download)
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Relay-Server-Version", "stand-in")
		mux.ServeHTTP(w, r)
	}))
	if o.Port != "" {
		l, err := net.Listen("tcp", "127.0.0.1:"+o.Port)
		for end := time.Now().Add(10 * time.Second); err != nil; l, err = net.Listen("tcp", "127.0.0.1:"+o.Port) {
			if time.Now().After(end) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond) // a process that has just started may use the port for a moment
		}
		s.http.Listener.Close()
		s.http.Listener = l
	}
	s.audience = cmp.Or(o.URL, "http://"+s.http.Listener.Addr().String())
	s.http.Start() // comes last, because clients of an earlier server at this port connect at once
	t.Cleanup(s.Close)
	return s
}

func (s *Server) Close() {
	s.end() // ends the websockets
	s.http.Close()
}

func (s *Server) Address() string { return "ys" + strings.TrimPrefix(s.http.URL, "http") }

// Mint returns a token with the given claims and the server's audience, valid for an hour.
func (s *Server) Mint(t testing.TB, c token.Claims) string {
	t.Helper()
	c.Issued, c.Expires, c.Audience = time.Now(), time.Now().Add(time.Hour), s.audience
	text, err := s.keys()[0].Mint(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Put applies an update to a document without loading it.
func (s *Server) Put(t testing.TB, id string, update []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stored(id).doc.ApplyUpdate(update); err != nil {
		t.Fatal(err)
	}
}

// Index adds the current snapshot of a document to the index from which a folder answers queries.
func (s *Server) Index(folder, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored(folder).index[id] = s.stored(id).doc.Snapshot().Encode()
}

func (s *Server) Loads() []Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loads)
}

func (s *Server) Documents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id := range s.docs {
		ids = append(ids, id)
	}
	return ids
}

// Refused returns the number of attachment requests that were refused because they had no valid file token.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// SetKeys replaces Options.Keys and calls Restart.
func (s *Server) SetKeys(keys []*token.Key) {
	s.mu.Lock()
	s.o.Keys = keys
	s.mu.Unlock()
	s.Restart()
}

func (s *Server) keys() []*token.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Keys
}

func (s *Server) Text(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[id]
	if d == nil {
		return ""
	}
	return d.doc.Text("contents").String()
}

// Truncate leaves only part of a document in the store, as a full disk does. It unloads the document, after which the
// document cannot be loaded any more.
func (s *Server) Truncate(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.stored(id)
	d.torn, d.loaded = true, false
	for c := range d.clients {
		c.end()
	}
}

// Unload unloads a document that has no websockets, as the server does after some time. It returns false if the
// document has websockets.
func (s *Server) Unload(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.stored(id)
	if len(d.clients) > 0 {
		return false
	}
	d.loaded = false
	return true
}

func (s *Server) Users(id string) map[string][]ycrdt.ClientID {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[string][]ycrdt.ClientID)
	for name, user := range s.stored(id).doc.Map("users").All() {
		found[name] = nil
		user, _ := user.(*ycrdt.Map)
		ids, _ := user.Get("ids")
		for _, n := range ids.(*ycrdt.Array).Values() {
			switch n := n.(type) {
			case int64:
				found[name] = append(found[name], ycrdt.ClientID(n))
			case float64:
				found[name] = append(found[name], ycrdt.ClientID(n))
			}
		}
	}
	return found
}

// Restart ends every websocket, unloads all documents, and clears the log of loads.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.docs {
		for c := range d.clients {
			c.end()
		}
		d.loaded, d.pending = false, nil
	}
	s.loads = nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails if the client has disconnected
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, "Something went wrong: "+reason) // fails if the client has disconnected
}

var (
	errNoToken = errors.New("no token provided")
	errType    = errors.New("the token is not valid for the requested resource")
)

func (s *Server) verify(text string) (token.Claims, error) {
	if len(s.keys()) == 0 {
		return token.Claims{Scope: token.Scope{Kind: token.Server, Permission: token.Full}}, nil
	}
	switch {
	case text == "":
		return token.Claims{}, errNoToken
	case strings.Contains(text, "."): // y-sweet's form with a key ID
		return token.Claims{}, errors.New("the token is not a valid format")
	}
	c, err := token.Inspect(text)
	if err != nil {
		return token.Claims{}, err
	}
	keys := s.keys()
	signer := slices.IndexFunc(keys, func(k *token.Key) bool {
		again, err := k.Mint(c) // the same text: no test has a key of ES256, whose signatures are random
		return err == nil && again == text
	})
	switch {
	case signer < 0:
		return token.Claims{}, errors.New("no trusted key signed the token")
	case !keys[signer].IsLegacy() && c.Audience != s.audience:
		return token.Claims{}, errors.New("token is for another server")
	case !c.Expires.IsZero() && time.Now().After(c.Expires):
		return token.Claims{}, errors.New("token expired")
	case c.Scope.Kind == token.Server && c.Audience != "":
		return token.Claims{}, errType
	}
	return c, nil
}

// claims returns the claims of the request's token, whose type must be in Options.Types. ok is false if claims refused
// the request.
func (s *Server) claims(w http.ResponseWriter, r *http.Request) (c token.Claims, ok bool) {
	c, err := s.verify(requestToken(r))
	if err == nil && len(s.keys()) > 0 && !slices.Contains(s.o.Types, c.Scope.Kind) {
		err = errType
	}
	if err != nil {
		refuse(w, http.StatusUnauthorized, err.Error())
	}
	return c, err == nil
}

func (s *Server) base(r *http.Request) string { return cmp.Or(s.o.URL, "http://"+r.Host) }

func requestToken(r *http.Request) string {
	if text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); bearer {
		return text
	}
	return r.URL.Query().Get("token")
}

func (s *Server) onDoc(w http.ResponseWriter, r *http.Request) (c token.Claims, p token.Permission, ok bool) {
	if c, ok = s.claims(w, r); !ok {
		return c, p, false
	}
	if p, ok = c.OnDoc(r.PathValue("id")); !ok {
		refuse(w, http.StatusUnauthorized, errType.Error())
	}
	return c, p, ok
}

func (s *Server) newDoc(w http.ResponseWriter, r *http.Request) {
	var req struct {
		DocID string `json:"docId"`
	}
	c, ok := s.claims(w, r)
	if !ok {
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || !token.ValidID(req.DocID) {
		refuse(w, http.StatusBadRequest, "invalid document name")
		return
	}
	if p, ok := c.OnDoc(req.DocID); !ok || p != token.Full || c.Scope.Kind == token.Doc {
		refuse(w, http.StatusForbidden, errType.Error())
		return
	}
	s.mu.Lock()
	_, err := s.load(req.DocID, "", "", "new")
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, req)
}

func (s *Server) auth(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	req := struct {
		Authorization   token.Permission `json:"authorization"`
		ValidForSeconds int64            `json:"validForSeconds"`
	}{token.Full, 3600}
	if keys := s.keys(); len(keys) > 0 && !keys[0].IsLegacy() {
		refuse(w, http.StatusInternalServerError, "Failed to generate token: Signature verification failed")
		return
	}
	c, ok := s.claims(w, r)
	switch {
	case !ok:
		return
	case c.Scope.Kind != token.Server:
		refuse(w, http.StatusUnauthorized, errType.Error())
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil && err != io.EOF {
		refuse(w, http.StatusBadRequest, "invalid body")
		return
	}
	s.mu.Lock()
	exists := s.docs[id] != nil
	s.mu.Unlock()
	if !exists {
		refuse(w, http.StatusNotFound, "Doc "+id+" not found")
		return
	}
	var text string
	if keys := s.keys(); len(keys) > 0 {
		var err error
		if text, err = keys[0].Mint(token.Claims{
			Scope:    token.Scope{Kind: token.Doc, ID: id, Permission: req.Authorization},
			Audience: s.audience, Issued: time.Now(), Expires: time.Now().Add(time.Duration(req.ValidForSeconds) * time.Second),
		}); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
	}
	answer(w, token.NewClientToken(s.base(r)+"/d/"+id, id, text, req.Authorization))
}

func (s *Server) asUpdate(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := s.onDoc(w, r); !ok {
		return
	}
	var update []byte
	s.mu.Lock()
	d, err := s.load(r.PathValue("id"), "", "", "as-update")
	if err == nil {
		update = d.doc.EncodeStateAsUpdate(nil)
	}
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	_, _ = w.Write(update) // fails if the client has disconnected
}

func (s *Server) update(w http.ResponseWriter, r *http.Request) {
	_, p, ok := s.onDoc(w, r)
	switch {
	case !ok:
		return
	case p != token.Full:
		refuse(w, http.StatusForbidden, "Unauthorized.")
		return
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		s.mu.Lock()
		var d *document
		if d, err = s.load(r.PathValue("id"), "", "", "update"); err == nil {
			err = s.apply(d, data, "")
		}
		s.mu.Unlock()
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
	}
}

// versions answers with the error of a relay-server that stores documents in files. It loads no document.
func (s *Server) versions(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := s.onDoc(w, r); ok {
		refuse(w, http.StatusInternalServerError, "Version listing is not supported by this store")
	}
}
