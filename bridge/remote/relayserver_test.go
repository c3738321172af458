package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// relayFolder is the name of a folder's document as Relay composes it.
const relayFolder = "11111111-2222-4333-8444-555555555555-0f1e2d3c-0000-4000-8000-000000000001"

// standIn starts a stand-in for relay-server with a key for CBOR tokens.
func standIn(t *testing.T, o relaytest.Options) (*relaytest.Server, *token.Key) {
	t.Helper()
	key, err := token.GenerateKey("k1", token.HMAC)
	noError(t, err)
	o.Keys = []*token.Key{key}
	return relaytest.New(t, o), key
}

// withServerTokens starts one with a key whose server tokens it takes.
func withServerTokens(t *testing.T) (*relaytest.Server, *token.Key) {
	t.Helper()
	key, err := token.GenerateKey("", token.Legacy)
	noError(t, err)
	return relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}, Types: relaytest.AllTypes}), key
}

func withKey(key *token.Key) func(*remote.Options, *bridge.Options) {
	return func(o *remote.Options, b *bridge.Options) { o.Key, b.Mode = key, bridge.Direct }
}

func serverToken(t *testing.T, s *relaytest.Server) string {
	return s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Server}})
}

func openRelay(t *testing.T, s *relaytest.Server, change ...func(*remote.Options, *bridge.Options)) *client {
	t.Helper()
	c, err := open(t, s.Address(), relayFolder, t.TempDir(), change...)
	noError(t, err)
	return c
}

// fill creates notes in the folder, more than stay connected. Nothing is loaded.
func fill(t *testing.T, s *relaytest.Server) (notes int) {
	t.Helper()
	const n = 80
	for _, id := range put(t, s, relayFolder, n, func(i int) string { return fmt.Sprintf("note %d\n", i) }) {
		s.Index(relayFolder, id)
	}
	return n
}

// put makes notes 0.md and so on in a folder, and returns the names of their documents.
func put(t *testing.T, s *relaytest.Server, folder string, notes int, text func(i int) string) (ids []string) {
	t.Helper()
	var entries []folderdoc.Entry
	for i := range notes {
		e := folderdoc.Entry{Path: fmt.Sprintf("%d.md", i), ID: folderdoc.NewID(), Type: folderdoc.TypeMarkdown}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		doc.Transact(func(tx *ycrdt.Txn) { doc.Text(folderdoc.ContentsName).Insert(tx, 0, text(i)) })
		id := transport.DocumentName(folder, e.ID)
		s.Put(t, id, doc.EncodeStateAsUpdate(nil))
		entries, ids = append(entries, e), append(ids, id)
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, e := range entries {
		_, err := folderdoc.Open(doc).Create(e)
		noError(t, err)
	}
	s.Put(t, folder, doc.EncodeStateAsUpdate(nil))
	return ids
}

func (c *client) awaitAll(notes int) {
	c.t.Helper()
	c.await("all notes", func() bool { return c.source.SyncStatus().Unfetched == 0 && known(c) == notes })
}

// byOf are the distinct requests that loaded documents.
func byOf(loads []relaytest.Load) []string {
	var by []string
	for _, l := range loads {
		by = append(by, l.By)
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// With a key, every note that relayfs has loaded, to make it, fetch it, compare it or change
// it, reports to the folder: another client on the folder's socket hears of changes.
func TestChannelWithKey(t *testing.T) {
	t.Parallel()
	s, key := standIn(t, relaytest.Options{})
	notes := fill(t, s)
	c := openRelay(t, s, withKey(key))
	c.awaitAll(notes)
	c.write("Team/7.md", func(text string) string { return text + "more\n" })
	c.create("Team/New.md", "new\n")
	c.awaitSent()
	loads := s.Loads()
	if len(loads) < notes {
		t.Fatalf("%d documents were loaded", len(loads))
	}
	for _, l := range loads {
		if l.Channel != relayFolder {
			t.Errorf("%s was loaded by %s with the channel %s", l.Document, l.By, l.Channel)
		}
	}
	want(t, "loaded by", byOf(loads), []string{"ws"})
	if st := c.source.SyncStatus(); len(st.Warnings) > 0 {
		t.Errorf("warnings %q", st.Warnings)
	}

	other := openRelay(t, s, withKey(key))
	other.awaitAll(notes + 1)
	c.write("Team/50.md", func(text string) string { return text + "reported\n" })
	other.awaitText("Team/50.md", "note 50\nreported\n")
}

// With a server token no document is read by as-update, a note's socket is opened after the
// folder's, and the status says what the token costs others.
func TestChannelWithServerToken(t *testing.T) {
	t.Parallel()
	s, _ := withServerTokens(t)
	notes := fill(t, s)
	text := serverToken(t, s)
	c := openRelay(t, s, withToken(text))
	c.awaitAll(notes)
	c.create("Team/New.md", "new\n")
	c.awaitSent()
	loads := s.Loads()
	if loads[0].Document != relayFolder {
		t.Errorf("%v was loaded first", loads[0])
	}
	want(t, "loaded by", byOf(loads), []string{"new", "ws"})
	c.await("a warning", func() bool { return len(c.source.SyncStatus().Warnings) > 0 })
	warning := c.source.SyncStatus().Warnings[0]
	if !strings.Contains(warning, "has no channel") || !strings.Contains(warning, "set RELAYFS_SERVER_KEY") || strings.Contains(warning, text) {
		t.Errorf("the status warns: %s", warning)
	}
}

// Whole documents are asked for where no answer is relay-server's.
func TestWholeDocuments(t *testing.T) {
	t.Parallel()
	s, _ := withServerTokens(t)
	notes := fill(t, s)
	to, err := url.Parse("http" + strings.TrimPrefix(s.Address(), "ys"))
	noError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // clients that end cancel their requests
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("Relay-Server-Version")
		return nil
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	c, err := open(t, "ys"+strings.TrimPrefix(front.URL, "http"), relayFolder, t.TempDir(), withToken(serverToken(t, s)))
	noError(t, err)
	c.awaitAll(notes)
	c.create("Team/New.md", "new\n")
	c.awaitSent()
	want(t, "loaded by", byOf(s.Loads()), []string{"as-update", "new"})
	if st := c.source.SyncStatus(); len(st.Warnings) > 0 {
		t.Errorf("warnings %q", st.Warnings)
	}
}

// A token of another kind of key has no channel either.
func TestCosts(t *testing.T) {
	t.Parallel()
	legacy, err := token.GenerateKey("", token.Legacy)
	noError(t, err)
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{legacy}})
	c := openRelay(t, s, withKey(legacy))
	c.await("a warning", func() bool { return len(c.source.SyncStatus().Warnings) > 0 })
}

// A token names the url that the server is configured with, which may not be its address.
func TestAudience(t *testing.T) {
	t.Parallel()
	const url = "https://relay.example/"
	s, key := standIn(t, relaytest.Options{URL: url})
	_, err := open(t, s.Address(), relayFolder, t.TempDir(), withKey(key))
	address := "http" + strings.TrimPrefix(s.Address(), "ys")
	if !errors.Is(err, transport.ErrDenied) || !strings.Contains(err.Error(), fmt.Sprintf("%q", address)) {
		t.Errorf("with the address as audience: %v", err)
	}
	if hint := transport.Hint(err); !strings.Contains(hint, "RELAYFS_SERVER_AUDIENCE") {
		t.Errorf("hint %q", hint)
	}
	c := openRelay(t, s, withKey(key), func(o *remote.Options, _ *bridge.Options) { o.Address.Audience = url })
	c.create("Team/Note.md", "note\n")
	c.awaitSent()
}

// Probe tells of a folder that does not exist, and does not make it.
func TestProbeCreatesNothing(t *testing.T) {
	t.Parallel()
	cbor, key := standIn(t, relaytest.Options{})
	allowed, allowedKey := withServerTokens(t)
	legacy, err := token.GenerateKey("", token.Legacy)
	noError(t, err)
	byDefault := relaytest.New(t, relaytest.Options{Keys: []*token.Key{legacy}})
	prefix := token.Scope{Kind: token.Prefix, ID: relayFolder[:36]}
	reader := cbor.Mint(t, token.Claims{Scope: prefix})
	prefix.Permission = token.Full
	writer := cbor.Mint(t, token.Claims{Scope: prefix})
	document := cbor.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: relayFolder, Permission: token.Full}})
	another := cbor.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Prefix, ID: "another", Permission: token.Full}})
	kinds := map[string]struct {
		server  *relaytest.Server
		key     *token.Key
		text    string
		missing error // of a folder that does not exist
		found   error // of one that does
		reads   bool  // and may not write
	}{
		"key":                        {server: cbor, key: key, missing: transport.ErrNoFolder},
		"server token in CBOR":       {server: cbor, text: serverToken(t, cbor), missing: transport.ErrServerToken, found: transport.ErrServerToken},
		"token for reading":          {server: cbor, text: reader, missing: transport.ErrNoFolder, reads: true},
		"token for writing":          {server: cbor, text: writer, missing: transport.ErrWouldCreate, found: transport.ErrWouldCreate},
		"token of the document":      {server: cbor, text: document, missing: transport.ErrWouldCreate, found: transport.ErrWouldCreate},
		"token of another folder":    {server: cbor, text: another, missing: transport.ErrDenied, found: transport.ErrDenied},
		"token of elsewhere":         {server: cbor, text: writer[:len(writer)-8], missing: transport.ErrDenied, found: transport.ErrDenied},
		"server token":               {server: allowed, text: serverToken(t, allowed), missing: transport.ErrNoFolder},
		"server token of elsewhere":  {server: allowed, text: serverToken(t, byDefault), missing: transport.ErrUntried, found: transport.ErrUntried},
		"server token, not allowed":  {server: byDefault, text: serverToken(t, byDefault), missing: transport.ErrUntried, found: transport.ErrUntried},
		"legacy key":                 {server: allowed, key: allowedKey, missing: transport.ErrNoFolder},
		"server token with a key id": {server: allowed, text: "k." + serverToken(t, allowed), missing: transport.ErrKeyID, found: transport.ErrKeyID},
	}
	probe := func(name string) (remote.Finding, error) {
		k := kinds[name]
		address, err := transport.ParseAddress(k.server.Address())
		noError(t, err)
		address.Token = k.text
		return remote.Probe(context.Background(), remote.Options{Address: address, Key: k.key, Folder: relayFolder})
	}
	for name, k := range kinds {
		if f, err := probe(name); !errors.Is(err, k.missing) || f.Entries > 0 {
			t.Errorf("%s: %+v, %v, want %v", name, f, err, k.missing)
		}
	}
	for _, s := range []*relaytest.Server{cbor, allowed, byDefault} {
		if made := s.Documents(); len(made) > 0 {
			t.Errorf("Probe has made %q", made)
		}
	}
	nonsense := httptest.NewServer(http.NotFoundHandler())
	defer nonsense.Close()
	other, err := transport.ParseAddress("ys" + strings.TrimPrefix(nonsense.URL, "http"))
	noError(t, err)
	if f, err := remote.Probe(t.Context(), remote.Options{Address: other, Key: key, Folder: relayFolder}); !errors.Is(err, transport.ErrProtocol) {
		t.Errorf("a server of another kind: %+v, %v", f, err)
	}
	for s, key := range map[*relaytest.Server]*token.Key{cbor: key, allowed: allowedKey, byDefault: legacy} {
		c := openRelay(t, s, withKey(key))
		c.create("Team/Note.md", "note\n")
		c.awaitSent()
		c.stop()
	}
	for name, k := range kinds {
		f, err := probe(name)
		if !errors.Is(err, k.found) || err == nil && (f.Entries != 1 || f.ReadOnly != k.reads) {
			t.Errorf("%s: %+v, %v, want %v", name, f, err, k.found)
		}
		if err == nil && (f.Warnings != nil) == (name == "key") {
			t.Errorf("%s: costs %v", name, f.Warnings)
		}
	}
}

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex // protects the following
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// What the server withholds for want of a key is warned of once, and named.
func TestAttachmentsWithoutKey(t *testing.T) {
	t.Parallel()
	s, key := withServerTokens(t)
	a := openRelay(t, s, withKey(key))
	for _, name := range []string{"B.png", "A.png", "C.png"} {
		_, err := a.WriteFile(t.Context(), model.Path("Team/"+name), []byte(name), bridge.ChangeRequest{})
		noError(t, err)
	}
	other := openRelay(t, s, withKey(key))
	other.awaitBytes("Team/A.png", []byte("A.png"))

	text := serverToken(t, s)
	warned := new(logged)
	b := openRelay(t, s, withToken(text), func(o *remote.Options, _ *bridge.Options) { o.Logger = slog.New(slog.NewTextHandler(warned, nil)) })
	hidden := func() bool {
		return slices.ContainsFunc(b.source.Problems(), func(p model.Problem) bool {
			return p.About == model.AboutAttachments && strings.Contains(p.Text, "3 attachments are not shown") &&
				strings.Contains(p.Text, `"A.png"`) && strings.Contains(p.Text, "set RELAYFS_SERVER_KEY")
		})
	}
	b.await("the status to tell", hidden)
	for range 3 { // each connection has them tried again, as each minute does
		before := s.Refused()
		s.Restart()
		b.await("another try", func() bool { return s.Refused() >= before+3 })
	}
	b.await("the status to tell", hidden)
	if n := strings.Count(warned.String(), "attachments are not shown"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, warned)
	}
	address, err := transport.ParseAddress(s.Address())
	noError(t, err)
	address.Token = text
	f, err := remote.Probe(t.Context(), remote.Options{Address: address, Folder: relayFolder})
	if !slices.Equal(f.Withheld, []string{"A.png", "B.png", "C.png"}) || !errors.Is(f.Reason, transport.ErrFileToken) {
		t.Errorf("Probe: %+v, %v", f, err)
	}
}

// Entries that are maps of their own, as other clients than Relay's plugin write them, are notes.
func TestNestedEntries(t *testing.T) {
	t.Parallel()
	s, key := standIn(t, relaytest.Options{})
	folder, note := ycrdt.NewDoc(ycrdt.Options{}), ycrdt.NewDoc(ycrdt.Options{})
	folder.Transact(func(tx *ycrdt.Txn) {
		noError(t, folder.Map("docs").Set(tx, "/Note.md", "1"))
		noError(t, folder.Map("filemeta_v0").Set(tx, "/Note.md", ycrdt.NewMap(map[string]any{"id": "1", "type": "markdown", "version": 0})))
	})
	note.Transact(func(tx *ycrdt.Txn) { note.Text("contents").Insert(tx, 0, "nested\n") })
	s.Put(t, relayFolder, folder.EncodeStateAsUpdate(nil))
	s.Put(t, transport.DocumentName(relayFolder, "1"), note.EncodeStateAsUpdate(nil))
	c := openRelay(t, s, withKey(key))
	c.awaitText("Team/Note.md", "nested\n")
	c.rename("Team/Note.md", "Team/Moved.md")
	c.awaitSent()
	other := openRelay(t, s, withKey(key))
	other.awaitText("Team/Moved.md", "nested\n")
}

// A large change is reported, too, in an event as long as it is.
func TestLargeEvent(t *testing.T) {
	t.Parallel()
	s, key := standIn(t, relaytest.Options{})
	notes := fill(t, s)
	c := openRelay(t, s, withKey(key), func(o *remote.Options, _ *bridge.Options) { o.Resync = time.Hour }) // it compares nothing by itself
	c.awaitAll(notes)
	other := openRelay(t, s, withKey(key))
	other.awaitAll(notes)
	c.patience = need.Scaled(20 * time.Second)
	sizes := []int{140_000, 1 << 20}
	if need.Raced() {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		pasted := strings.Repeat("pasted ", size/7)
		for i := range notes { // the ones that are not connected, too
			if i%20 != 0 {
				continue
			}
			name := fmt.Sprintf("%d.md", i)
			other.write(model.Path("Team/"+name), func(text string) string { return text + pasted })
			c.await(name, func() bool {
				data, _, err := c.source.Read(t.Context(), name)
				return err == nil && strings.HasSuffix(string(data), pasted)
			})
		}
	}
	if problems := c.source.Problems(); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
}

// A server that fails is told from one that speaks another protocol, with what it said and what
// to look at. The notes that it still has are there.
func TestServerFails(t *testing.T) {
	t.Parallel()
	s, key := standIn(t, relaytest.Options{})
	c := openRelay(t, s, withKey(key))
	for _, name := range []string{"Torn.md", "Whole.md"} {
		c.create(model.Path("Team/"+name), name)
	}
	other := openRelay(t, s, withKey(key))
	other.awaitAll(2)
	other.stop()
	c.stop()
	for _, id := range s.Documents() {
		if s.Text(id) == "Torn.md" {
			s.Truncate(id)
		}
	}
	tells := func(err error) {
		t.Helper()
		text := fmt.Sprint(err)
		if strings.Contains(text, "protocol") || !strings.Contains(text, "server has failed (500 Internal Server Error: \"Something went wrong: failed to load") || !strings.Contains(text, "data.ysweet") {
			t.Errorf("the error is %v", err)
		}
	}
	c = openRelay(t, s, withKey(key))
	c.awaitText("Team/Whole.md", "Whole.md")
	start := time.Now()
	_, err := c.Open(t.Context(), "Team/Torn.md")
	tells(err)
	if took := time.Since(start); took > need.Scaled(5*time.Second) {
		t.Errorf("it took %v", took)
	}
	problem := func() bool {
		return slices.ContainsFunc(c.source.Problems(), func(p model.Problem) bool {
			return strings.Contains(p.Text, `"Torn.md"`) && strings.Contains(p.Text, "a full disk truncates documents") && strings.Contains(p.Text, "retries automatically")
		})
	}
	c.await("the problem", problem)
	c.stop()

	s.Truncate(relayFolder)
	_, err = open(t, s.Address(), relayFolder, t.TempDir(), withKey(key))
	tells(err)
	if hint := transport.Hint(err); !errors.Is(err, transport.ErrFailed) || !strings.Contains(hint, "disk") {
		t.Errorf("hint %q", hint)
	}
}

// What a server says is repeated without the token.
func TestFailureWithoutToken(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s3cret", 5)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "cannot handle\n"+r.URL.String()+" "+r.Header.Get("Authorization"), http.StatusInternalServerError)
	}))
	defer front.Close()
	for _, scheme := range []string{"ys", "ws"} {
		_, err := open(t, scheme+strings.TrimPrefix(front.URL, "http"), "team", t.TempDir(), withToken(secret))
		if !errors.Is(err, transport.ErrFailed) || !strings.Contains(err.Error(), "cannot handle /") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "<html>for a browser", http.StatusInternalServerError)
	}))
	defer page.Close()
	if _, err := open(t, "ys"+strings.TrimPrefix(page.URL, "http"), "team", t.TempDir(), withToken(secret)); !errors.Is(err, transport.ErrFailed) || strings.Contains(err.Error(), "html") {
		t.Errorf("with a page: %v", err)
	}
}
