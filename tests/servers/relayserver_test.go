package servers

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// relayFolder is the name of a folder's document at relay-server.
const relayFolder = testRelay + "-0f1e2d3c-0000-4000-8000-000000000001"

// relayServer is a stand-in for relay-server with a url in its configuration, and the
// arguments of a SOURCE.
func relayServer(t *testing.T, url string) (s *relaytest.Server, key *token.Key, source []string) {
	t.Helper()
	key, err := token.GenerateKey("k1", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	s = relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}, URL: url})
	return s, key, []string{s.Address() + "#Team=" + relayFolder}
}

// sharedFolder is a folder of a stand-in for relay-server with a key.
type sharedFolder struct {
	*relaytest.Server
	key   *token.Key
	name  string
	notes map[string]string // the documents by path
}

// shareFolder serves notes and pictures.
func shareFolder(t *testing.T, name string, files map[string]string) *sharedFolder {
	t.Helper()
	key, err := token.GenerateKey("", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	f := &sharedFolder{relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}}), key, name, make(map[string]string)}
	folder := ycrdt.NewDoc(ycrdt.Options{})
	for path, text := range files {
		e := folderdoc.Entry{Path: path, ID: folderdoc.NewID(), Type: folderdoc.TypeMarkdown}
		if filepath.Ext(path) == ".png" {
			e.Type, e.Mimetype = "image", "image/png"
			e.Hash = f.PutFile(testRelay+"-"+e.ID, []byte(text))
		}
		if _, err := folderdoc.Open(folder).Create(e); err != nil {
			t.Fatal(err)
		}
		if e.Hash != "" {
			continue
		}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		doc.Transact(func(txn *ycrdt.Txn) { doc.Text("contents").Insert(txn, 0, text) })
		f.notes[path] = testRelay + "-" + e.ID
		f.Put(t, f.notes[path], doc.EncodeStateAsUpdate(nil))
	}
	f.Put(t, relayFolder, folder.EncodeStateAsUpdate(nil))
	return f
}

// token opens all documents of the folder.
func (f *sharedFolder) token(t *testing.T) string { return f.mint(t, token.Full, "") }

// mint makes a token for all documents of the folder.
func (f *sharedFolder) mint(t *testing.T, p token.Permission, user string) string {
	return f.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Prefix, ID: testRelay + "-", Permission: p}, User: user, Channel: relayFolder})
}

// source are the arguments for a client of the folder.
func (f *sharedFolder) source() []string {
	return []string{f.Address() + "#" + f.name + "=" + relayFolder}
}

// becomes waits until the server has that text of a note.
func (f *sharedFolder) becomes(t *testing.T, path, want string) {
	t.Helper()
	harness.Eventually(t, serverPatience, func() error {
		if got := f.Text(f.notes[path]); got != want {
			return fmt.Errorf("the server has %q of %s, want %q", got, path, want)
		}
		return nil
	})
}

// tells fails the test unless the output has all of that, and no token.
func tells(t *testing.T, out harness.Output, code int, secret string, want ...string) {
	t.Helper()
	all := out.Stdout + out.Stderr
	for _, text := range want {
		if !strings.Contains(all, text) {
			t.Errorf("%q is not in\n%s", text, all)
		}
	}
	if out.Code != code || strings.Contains(all, secret) {
		t.Errorf("exit code %d, want %d, without the secret\n%s", out.Code, code, all)
	}
}

// The audience of tokens comes from the environment or the configuration; doctor says what
// was sent where it is wrong.
func TestServerAudience(t *testing.T) {
	t.Parallel()
	const relayURL = "https://relay.example"
	server, key, source := relayServer(t, relayURL)
	s := harness.NewSandbox(t)
	secret := key.Secret()
	s.Env = append(s.Env, "RELAYFS_SERVER_KEY=k1."+secret)
	doctor := append([]string{"doctor"}, source...)
	address := `"http` + strings.TrimPrefix(server.Address(), "ys") + `"`
	tells(t, s.Run(t, doctor...), 1, secret, "fail  server of Team", "401 Unauthorized", "audience of the token, "+address, "fix: set RELAYFS_SERVER_AUDIENCE")
	tells(t, s.Run(t, append(doctor, "RELAYFS_SERVER_AUDIENCE="+relayURL+"/")...), 1, secret, `"`+relayURL+`/"`)

	const missing = "server has no such folder"
	env := s.Env
	s.Env = append(env, "RELAYFS_SERVER_AUDIENCE="+relayURL)
	tells(t, s.Run(t, doctor...), 1, secret, missing)
	s.Env = env
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), `server-audience = "`+relayURL+"\"\n")
	tells(t, s.Run(t, doctor...), 1, secret, missing, "--new-folder", "server-audience: "+relayURL)
	tells(t, s.Run(t, append([]string{"ls"}, "--source", source[0])...), 1, secret, missing, "--new-folder")
	if made := server.Documents(); len(made) > 0 {
		t.Errorf("doctor has made %q", made)
	}
	mcp := s.MCP(t, append(source, "--new-folder", "--mode", "direct", "--approve", "create=auto")...)
	mcp.MustCall(t, "write", "file_path", "Team/Note.md", "content", "note\n")
	mcp.Close(t)
	if made := server.Documents(); len(made) != 2 {
		t.Errorf("documents %q, want the folder's and the note's", made)
	}
}

// A server tells no time of a folder. It has the time of the mount there.
func TestServerFolderTime(t *testing.T) {
	t.Parallel()
	_, key, source := relayServer(t, "")
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "RELAYFS_SERVER_KEY=k1."+key.Secret())
	mcp := s.MCP(t, append(source, "--new-folder", "--mode", "direct", "--approve", "create=auto")...)
	mcp.MustCall(t, "write", "file_path", "Team/sub/Note.md", "content", "note\n")
	mcp.Close(t)
	start := time.Now()
	m := s.Mount(t, source[0])
	for _, name := range []string{"", "Team", "Team/sub"} {
		st, err := os.Stat(filepath.Join(m.Dir, name))
		if err != nil || st.ModTime().Before(start) || st.ModTime().After(time.Now()) {
			t.Errorf("%q: %v, %v", name, st.ModTime(), err)
		}
	}
	m.Stop(t)
}

// A server token costs others the reports of notes, and its owner the attachments: status
// and doctor say so, with the next step.
func TestServerTokenCosts(t *testing.T) {
	t.Parallel()
	key, err := token.GenerateKey("", token.Legacy)
	if err != nil {
		t.Fatal(err)
	}
	server := relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}, Types: relaytest.AllTypes})
	source := []string{server.Address() + "#Team=" + relayFolder}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, name := range []string{"A.png", "dir/B.pdf"} {
		_, err := folderdoc.Open(doc).Create(folderdoc.Entry{Path: name, ID: folderdoc.NewID(), Type: "image", Hash: strings.Repeat("ab", 32), Mimetype: "image/png"})
		if err != nil {
			t.Fatal(err)
		}
	}
	server.Put(t, relayFolder, doc.EncodeStateAsUpdate(nil))

	s := harness.NewSandbox(t)
	secret := server.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Server}})
	s.Env = append(s.Env, "RELAYFS_TOKEN="+secret)
	const costs, mend = "has no channel", "set RELAYFS_SERVER_KEY to a key of the server"
	tells(t, s.Run(t, append([]string{"status"}, source...)...), 0, secret, "warning: ", costs, mend)
	tells(t, s.Run(t, append([]string{"doctor"}, source...)...), 0, secret, "warn  token of Team", costs, "fix: "+mend, "warn  files of Team", `"A.png" "dir/B.pdf"`)
	if by := server.Loads(); slices.ContainsFunc(by, func(l relaytest.Load) bool { return l.By != "ws" }) {
		t.Errorf("documents were loaded as %v", by)
	}
}

// privatePEM returns a private key as openssl writes it.
func privatePEM(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// Every way to a folder of relay-server that docs/servers.md names works with what is set by
// default there, doctor says of each what the mount does, and says of the others what to change.
func TestRelayServerTokens(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	for name, c := range map[string]struct {
		alg    token.Algorithm
		pem    bool   // instead of alg
		id     string // of the key, in RELAYFS_SERVER_KEY
		scope  token.Scope
		code   int // of doctor
		doctor []string
		mount  string // its refusal
	}{
		"key of 32 bytes":            {alg: token.HMAC, code: 0, doctor: []string{"ok    server of Team"}},
		"key of 32 bytes with an id": {alg: token.HMAC, id: "k1", code: 0, doctor: []string{"ok    server of Team"}},
		"key in PEM":                 {pem: true, code: 0, doctor: []string{"ok    server of Team"}},
		"key in PEM with an id":      {pem: true, id: "k1", code: 0, doctor: []string{"ok    server of Team"}},
		"key of 30 bytes":            {alg: token.Legacy, code: 0, doctor: []string{"ok    server of Team", "has no channel"}},
		"key of 30 bytes with an id": {
			alg: token.Legacy, id: "k1", code: 1, doctor: []string{"fail  server of Team", "accepts no key id", "leave out the ID."}, mount: "accepts no key id before a token",
		},
		"prefix token": {
			alg: token.HMAC, scope: token.Scope{Kind: token.Prefix, ID: testRelay, Permission: token.Full}, code: 0,
			doctor: []string{"warn  server of Team", "accepts the token", "was not looked up"},
		},
		"prefix token for reading": {alg: token.HMAC, scope: token.Scope{Kind: token.Prefix, ID: testRelay}, code: 0, doctor: []string{"allows this token only to read"}},
		"server token of a key of 30 bytes": {
			alg: token.Legacy, scope: token.Scope{Kind: token.Server, Permission: token.Full}, code: 0,
			doctor: []string{"warn  server of Team", "neither the token nor the folder was checked", "allowed_token_types"},
		},
		"server token of a key of 32 bytes": {
			alg: token.HMAC, scope: token.Scope{Kind: token.Server, Permission: token.Full}, code: 1,
			doctor: []string{"fail  server of Team", "accepts no server token", "set RELAYFS_SERVER_KEY"}, mount: "accepts no server token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := token.GenerateKey(c.id, c.alg)
			secret := key.Secret()
			if c.pem {
				secret = privatePEM(t)
				key, err = token.ParsePrivateKey(c.id, secret)
			}
			if err != nil {
				t.Fatal(err)
			}
			server := relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}})
			doc, note := ycrdt.NewDoc(ycrdt.Options{}), ycrdt.NewDoc(ycrdt.Options{})
			e := folderdoc.Entry{Path: "Note.md", ID: folderdoc.NewID(), Type: folderdoc.TypeMarkdown}
			if _, err := folderdoc.Open(doc).Create(e); err != nil {
				t.Fatal(err)
			}
			note.Transact(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "note\n") })
			server.Put(t, relayFolder, doc.EncodeStateAsUpdate(nil))
			server.Put(t, testRelay+"-"+e.ID, note.EncodeStateAsUpdate(nil))

			s := harness.NewSandbox(t)
			if c.scope != (token.Scope{}) {
				secret = server.Mint(t, token.Claims{Scope: c.scope})
				s.Env = append(s.Env, "RELAYFS_TOKEN="+secret)
			} else {
				s.Env = append(s.Env, "RELAYFS_SERVER_KEY="+strings.TrimPrefix(c.id+"."+secret, "."))
			}
			source := server.Address() + "#Team=" + relayFolder
			tells(t, s.Run(t, "doctor", source), c.code, secret, c.doctor...)
			if c.mount != "" {
				tells(t, s.Run(t, "mount", source, s.Mkdir(t, "mnt")), 1, secret, c.mount)
				return
			}
			m := s.Mount(t, source)
			harness.FileBecomes(t, filepath.Join(m.Dir, "Team", "Note.md"), "note\n")
			m.Stop(t)
		})
	}
}
