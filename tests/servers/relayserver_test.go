package servers

import (
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
	s = relaytest.New(t, relaytest.Options{Keys: token.Ring{key}, URL: url})
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
	f := &sharedFolder{relaytest.New(t, relaytest.Options{Keys: token.Ring{key}}), key, name, make(map[string]string)}
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
		doc.Transact(nil, func(txn *ycrdt.Txn) { doc.Text("contents").Insert(txn, 0, text) })
		f.notes[path] = testRelay + "-" + e.ID
		f.Put(t, f.notes[path], doc.EncodeStateAsUpdate(nil))
	}
	f.Put(t, relayFolder, folder.EncodeStateAsUpdate(nil))
	return f
}

// token is a server token.
func (f *sharedFolder) token(t *testing.T) string {
	return f.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Server}})
}

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
	tells(t, s.Run(t, doctor...), 1, secret, "fail  server of Team", "401 Unauthorized", "audience of the token, "+address, "mend: set RELAYFS_SERVER_AUDIENCE")
	tells(t, s.Run(t, append(doctor, "RELAYFS_SERVER_AUDIENCE="+relayURL+"/")...), 1, secret, `"`+relayURL+`/"`)

	const found = "has nothing under the folder id"
	env := s.Env
	s.Env = append(env, "RELAYFS_SERVER_AUDIENCE="+relayURL)
	tells(t, s.Run(t, doctor...), 0, secret, found)
	s.Env = env
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), `server-audience = "`+relayURL+"\"\n")
	tells(t, s.Run(t, doctor...), 0, secret, found, "server-audience: "+relayURL)
	if made := server.Documents(); len(made) > 0 {
		t.Errorf("doctor has made %q", made)
	}
	mcp := s.MCP(t, append(source, "--mode", "direct", "--approve", "create=auto")...)
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
	mcp := s.MCP(t, append(source, "--mode", "direct", "--approve", "create=auto")...)
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
	server, _, source := relayServer(t, "")
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
	const costs, mend = "names no channel", "set RELAYFS_SERVER_KEY to a key of the server"
	tells(t, s.Run(t, append([]string{"status"}, source...)...), 0, secret, "warning: ", costs, mend)
	tells(t, s.Run(t, append([]string{"doctor"}, source...)...), 0, secret, "warn  token of Team", costs, "mend: "+mend, "warn  files of Team", `"A.png" "dir/B.pdf"`)
	if by := server.Loads(); slices.ContainsFunc(by, func(l relaytest.Load) bool { return l.By != "ws" }) {
		t.Errorf("documents were loaded as %v", by)
	}
}
