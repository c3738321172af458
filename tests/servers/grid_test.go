package servers

import (
	"bufio"
	"cmp"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// gridServer is a running server of some kind.
type gridServer struct {
	url    string // for relayfs
	folder string // the id of its folder document
	// What tests/servers/client.mjs is told: which of its clients, where, and the
	// folder document's name for it.
	client, room, clientURL string
	token                   string      // for relayfs and clients
	other                   *gridServer // another node with the same documents, if there is one
}

// gridKinds start one server of each kind.
var gridKinds = map[string]func(*testing.T) gridServer{
	"y-websocket":      func(t *testing.T) gridServer { return npmServer(t, "y-websocket", "ws://127.0.0.1:") },
	"hocuspocus":       func(t *testing.T) gridServer { return npmServer(t, "hocuspocus", "hocuspocus+ws://127.0.0.1:") },
	"hocuspocus-redis": hocuspocusNodes,
	"y-sweet":          func(t *testing.T) gridServer { return npmServer(t, "y-sweet", "ys://127.0.0.1:") },
	"y-sweet, auth":    ysweetWithAuth,
	"y-sweet, S3":      ysweetOnS3,
	"relay-server":     relayStandIn,
}

// anyServer is a folder of its own on a server that the tests share, for those that need no particular kind and leave
// the server running.
func anyServer(t *testing.T) gridServer {
	t.Helper()
	requireNPM(t)
	s, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	g := npmNode("y-websocket", "ws://127.0.0.1:", s.port)
	g.folder = "team-" + crand.Text()
	g.room = g.folder
	return g
}

var sharedServer = sync.OnceValues(func() (*npmProcess, error) {
	s, err := launchServer("y-websocket", "", "", "0")
	if err == nil {
		harness.AtEnd(s.stop)
	}
	return s, err
})

func npmServer(t *testing.T, kind, prefix string) gridServer {
	return npmNode(kind, prefix, startNPMServer(t, kind, "0", "").port)
}

func npmNode(kind, prefix, port string) gridServer {
	return gridServer{url: prefix + port, folder: "team", client: kind, room: "team", clientURL: "ws://127.0.0.1:" + port}
}

// hocuspocusNodes are two, joined by Redis.
func hocuspocusNodes(t *testing.T) gridServer {
	s := startNPMServer(t, "hocuspocus-redis", "0", "")
	one := npmNode("hocuspocus", "hocuspocus+ws://127.0.0.1:", s.port)
	two := npmNode("hocuspocus", "hocuspocus+ws://127.0.0.1:", s.more)
	one.other = &two
	return one
}

// ysweetWithAuth wants tokens, and keeps its documents in a directory.
func ysweetWithAuth(t *testing.T) gridServer {
	s := startServer(t, "y-sweet", "auth", t.TempDir(), "0")
	g := npmNode("y-sweet", "ys://127.0.0.1:", s.port)
	g.token = s.more
	return g
}

// ysweetOnS3 keeps its documents in a bucket.
func ysweetOnS3(t *testing.T) gridServer {
	return npmNode("y-sweet", "ys://127.0.0.1:", startServer(t, "y-sweet", "", startS3(t), "0").port)
}

// startS3 starts a server of S3's protocol and returns its address.
func startS3(t *testing.T) string { return "http://127.0.0.1:" + startServer(t, "s3").port }

// relayStandIn is the stand-in for relay-server, which lets everybody in.
func relayStandIn(t *testing.T) gridServer {
	at := relaytest.New(t, relaytest.Options{}).Address()
	return gridServer{url: at, folder: "team", client: "y-sweet", room: "team", clientURL: "ws" + strings.TrimPrefix(at, "ys")}
}

// yjsPerson is a client of npm with the rules of the Obsidian plugin.
type yjsPerson struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func (g gridServer) person(t *testing.T) *yjsPerson {
	t.Helper()
	requireNPM(t)
	cmd := exec.Command("node", "client.mjs", g.client, g.clientURL, g.room, g.token)
	cmd.Dir = harness.Repo("tests/servers")
	cmd.Stderr = os.Stderr
	in, out := harness.StartPiped(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // Node may hang in its exit
		_ = cmd.Wait()
	})
	return &yjsPerson{t, in, bufio.NewReader(out)}
}

// do has the person do something and decodes what came of it.
func (p *yjsPerson) do(cmd string, args map[string]any, result ...any) {
	p.t.Helper()
	line := map[string]any{"cmd": cmd}
	for k, v := range args {
		line[k] = v
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = p.in.Write(append(data, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	reply, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("person ended: %v", err)
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(reply, &answer); err != nil || answer.Error != "" {
		p.t.Fatalf("person cannot %s %v: %v %s", cmd, args, err, answer.Error)
	}
	if len(result) > 0 {
		if err := json.Unmarshal(answer.Result, result[0]); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Two mounts and two clients of npm edit the same notes at the same time, on each
// kind of server, and end with the same bytes. Of a server with two nodes each
// has one of both.
func TestServerGrid(t *testing.T) {
	t.Parallel()
	for kind, start := range gridKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			converge(t, start(t))
		})
	}
}

func converge(t *testing.T, g gridServer) {
	notes := []string{"One.md", "sub/Two.md"}
	nodes := []gridServer{g, *cmp.Or(g.other, &g)}
	p, q := nodes[0].person(t), nodes[1].person(t)
	for _, note := range notes {
		p.do("create", map[string]any{"path": note, "text": "start of " + note + " 🦔\n"})
	}
	boxes := []*harness.Sandbox{harness.NewSandbox(t), harness.NewSandbox(t)}
	var dirs []string
	for i, s := range boxes {
		s.Env = append(s.Env, "RELAYFS_TOKEN="+g.token)
		m := s.MountAt(t, nodes[i].url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", "direct")
		dirs = append(dirs, filepath.Join(m.Dir, "Team"))
	}
	for _, note := range notes {
		q.do("has", map[string]any{"path": note})
		for _, dir := range dirs {
			harness.FileBecomes(t, filepath.Join(dir, note), "start of "+note+" 🦔\n")
		}
	}
	rng := randomtest.New(t)
	var wg sync.WaitGroup
	for _, person := range []*yjsPerson{p, q} {
		from := rng.Int32()
		wg.Go(func() { person.do("random", map[string]any{"paths": notes, "count": 100, "from": from}) })
	}
	for _, dir := range dirs {
		mine := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() {
			if err := editFiles(mine, dir, notes); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, s := range boxes {
		awaitAcknowledged(t, s)
		notes = append(notes, fmt.Sprintf("made by %d.md", i))
		if err := os.WriteFile(filepath.Join(dirs[i], notes[2+i]), []byte("made on a mount\n"), 0o600); err != nil {
			t.Error(err)
		}
		p.do("has", map[string]any{"path": notes[2+i]})
		q.do("has", map[string]any{"path": notes[2+i]})
	}
	for _, note := range notes {
		harness.Eventually(t, serverPatience, func() error { return sameEverywhere(note, dirs, p, q) })
	}
	for _, person := range []*yjsPerson{p, q} {
		var seen []string
		if person.do("violations", nil, &seen); len(seen) > 0 {
			t.Errorf("%d violations of the data model, such as %q", len(seen), seen[0])
		}
	}
}

// A folder of more notes than y-sweet takes connections: what one mount writes and what a
// person changes afterwards reaches another mount.
func TestServerManyNotes(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{"hocuspocus-redis": 100, "y-sweet": 300}
	if os.Getenv("RELAYFS_SOAK") != "" {
		kinds["hocuspocus-redis"], kinds["y-sweet, S3"] = 300, 300
	}
	for kind, notes := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel() // with y-sweet it waits for the comparison of each minute most of the time
			manyNotes(t, gridKinds[kind](t), notes)
		})
	}
}

func manyNotes(t *testing.T, g gridServer, notes int) {
	nodes := []gridServer{g, *cmp.Or(g.other, &g)}
	person := nodes[1].person(t)
	person.do("create", map[string]any{"path": "First.md", "text": "the folder is there\n"})
	var dirs []string
	for _, node := range nodes {
		s := harness.NewSandbox(t)
		s.Env = append(s.Env, "RELAYFS_TOKEN="+g.token)
		m := s.MountAt(t, node.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", "direct")
		dirs = append(dirs, filepath.Join(m.Dir, "Team"))
	}
	for i := range notes {
		name, text := serverNote(i)
		if err := os.WriteFile(filepath.Join(dirs[0], name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range notes {
		name, text := serverNote(i)
		harness.FileBecomes(t, filepath.Join(dirs[1], name), text)
		person.do("has", map[string]any{"path": name})
		person.do("awaitText", map[string]any{"path": name, "text": text})
		person.do("insert", map[string]any{"path": name, "at": 0, "text": "changed\n"})
	}
	for i := range notes {
		name, text := serverNote(i)
		for _, dir := range dirs {
			harness.FileBecomes(t, filepath.Join(dir, name), "changed\n"+text)
		}
	}
}

// editFiles changes notes as programs do: it reads a file and writes it anew.
func editFiles(r *rand.Rand, dir string, notes []string) error {
	for range 40 {
		file := filepath.Join(dir, notes[r.IntN(len(notes))])
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := []rune(string(data))
		at := r.IntN(len(text) + 1)
		now := string(text[:at]) + []string{"x", "Yz ", "🐸", "ü\n"}[r.IntN(4)] + string(text[at:])
		if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sameEverywhere says where a note has another text than at the first person.
func sameEverywhere(note string, dirs []string, p, q *yjsPerson) error {
	var want, got string
	p.do("text", map[string]any{"path": note}, &want)
	if q.do("text", map[string]any{"path": note}, &got); got != want {
		return fmt.Errorf("%s is %q at one person and %q at the other", note, want, got)
	}
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, note))
		if err != nil {
			return err
		}
		if string(data) != want {
			return fmt.Errorf("%s is %q in %s, %q at a person", note, data, dir, want)
		}
	}
	if len(want) == 0 {
		return errors.New(note + " is empty")
	}
	return nil
}
