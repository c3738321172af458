package servers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// npmProcess is a server of server.mjs.
type npmProcess struct {
	port string
	more string // what it said behind the port
	in   io.WriteCloser
	cmd  *exec.Cmd

	missing string // what is not installed, instead of a port
}

// startNPMServer runs one until stop or the end of the test; port 0 takes any. A
// Hocuspocus with a token wants it.
func startNPMServer(t *testing.T, kind, port, token string) *npmProcess {
	t.Helper()
	return startServer(t, kind, token, "", port)
}

// startServer runs server.mjs with these arguments until stop or the end of the test.
func startServer(t *testing.T, args ...string) *npmProcess {
	t.Helper()
	requireNPM(t)
	s, err := launchServer(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	if s.missing != "" {
		need.Missing(t, "%s", s.missing)
	}
	return s
}

// requireNPM skips where the servers and clients of npm are not installed.
func requireNPM(t *testing.T) {
	t.Helper()
	need.Programs(t, "node")
	if _, err := os.Stat(harness.Repo("tests/servers/node_modules/yjs")); err != nil {
		need.Missing(t, "no servers and clients: run npm ci in tests/servers: %v", err)
	}
}

// launchServer runs server.mjs with these arguments until stop.
func launchServer(args ...string) (*npmProcess, error) {
	cmd := exec.Command("node", append([]string{"server.mjs"}, args...)...)
	cmd.Dir = harness.Repo("tests/servers")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &npmProcess{in: in, cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("server.mjs %q: %w", args, err)
	}
	line = strings.TrimSpace(line)
	if what, missing := strings.CutPrefix(line, "missing: "); missing {
		s.missing = what
	} else {
		s.port, s.more, _ = strings.Cut(line, " ")
	}
	return s, nil
}

func (s *npmProcess) stop() {
	if s.cmd != nil {
		s.in.Close()
		s.cmd.Wait()
		s.cmd = nil
	}
}

// serverPatience bounds waits for a server; machines that test are slow.
var serverPatience = need.Scaled(90 * time.Second)

// serverNote is note i that the test writes.
func serverNote(i int) (name, text string) {
	return fmt.Sprintf("note %d.md", i), fmt.Sprintf("# Note %d\n\nwritten while the server was away 🦔\n", i)
}

// killServers are servers that can be stopped and started again at the same place.
var killServers = map[string]func(*testing.T) restarting{
	"y-websocket": func(t *testing.T) restarting { return restartingNPM(t, "y-websocket", "ws://127.0.0.1:") },
	"hocuspocus":  func(t *testing.T) restarting { return restartingNPM(t, "hocuspocus", "hocuspocus+ws://127.0.0.1:") },
	"y-sweet":     func(t *testing.T) restarting { return restartingYSweet(t, t.TempDir()) },
	"y-sweet, S3": func(t *testing.T) restarting { return restartingYSweet(t, startS3(t)) },
}

// restarting is such a server: its address, its folder's id, and what ends and
// starts it.
type restarting struct {
	url, folder string
	stop, start func()
}

func restartingNPM(t *testing.T, kind, prefix string) restarting {
	p := startNPMServer(t, kind, "0", "")
	port := p.port
	return restarting{prefix + port, "team", func() { p.stop() }, func() { p = startNPMServer(t, kind, port, "") }}
}

// restartingYSweet keeps its documents in a directory, or in the bucket of an address.
func restartingYSweet(t *testing.T, documents string) restarting {
	p := startServer(t, "y-sweet", "", documents, "0")
	port := p.port
	return restarting{"ys://127.0.0.1:" + port, "team", func() { p.stop() }, func() { p = startServer(t, "y-sweet", "", documents, port) }}
}

// kill -9 during work without the server loses nothing and doubles nothing: the
// next mount has it at once, the server gets it when it is back, and so does
// another relayfs.
func TestServerKillOffline(t *testing.T) {
	t.Parallel()
	for kind, start := range killServers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			killOffline(t, start(t))
		})
	}
}

func killOffline(t *testing.T, server restarting) {
	s, other := harness.NewSandbox(t), harness.NewSandbox(t)
	at, flags := server.url+"#Team="+server.folder, []string{"--mode", "direct", "--structure", "direct"}
	dir := s.Mkdir(t, "mnt")
	m := s.MountAt(t, at, dir, flags...)
	write := func(name, text string) {
		t.Helper()
		if err := harness.WriteAll(filepath.Join(dir, "Team", name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"grown.md": "before\n", "old name.md": "moved\n", "gone.md": "gone\n"}
	for name, text := range want {
		write(name, text)
	}
	awaitAcknowledged(t, s)
	server.stop()
	for i := range 20 {
		name, text := serverNote(i)
		write(name, text)
		want[name] = text
		want["grown.md"] += fmt.Sprintf("line %d, written while the server was away\n", i)
		write("grown.md", want["grown.md"])
	}
	if err := os.Rename(filepath.Join(dir, "Team", "old name.md"), filepath.Join(dir, "Team", "new name.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "Team", "gone.md")); err != nil {
		t.Fatal(err)
	}
	want["new name.md"] = want["old name.md"]
	delete(want, "old name.md")
	delete(want, "gone.md")
	statusTells(t, s, fmt.Sprintf("Team: %d notes", len(want))) // not hidden only, as what a save may make anew
	m.Kill(t)

	m = s.MountAt(t, at, dir, flags...)
	wantServerNotes(t, filepath.Join(dir, "Team"), want)
	server.start()
	awaitAcknowledged(t, s)

	away := other.Mkdir(t, "mnt")
	n := other.MountAt(t, at, away, flags...)
	wantServerNotes(t, filepath.Join(away, "Team"), want)
	wantServerNotes(t, filepath.Join(dir, "Team"), want)
	m.Stop(t)
	n.Stop(t)
}

// wantServerNotes waits until a folder holds these notes and nothing else.
func wantServerNotes(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	harness.Eventually(t, serverPatience, func() error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) != len(want) {
			return fmt.Errorf("%s has %v, want %v", dir, entries, want)
		}
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if string(got) != text {
				return fmt.Errorf("%s is %q, want %q", name, got, text)
			}
		}
		return nil
	})
}

// awaitAcknowledged waits until the server has everything.
func awaitAcknowledged(t *testing.T, s *harness.Sandbox) {
	t.Helper()
	harness.Eventually(t, serverPatience, func() error {
		var status struct {
			Folders []struct {
				Sync struct {
					Connected bool
					Unsent    int
				}
			}
		}
		out := s.Run(t, "status", "--json")
		if err := json.Unmarshal([]byte(out.Stdout), &status); err != nil {
			return fmt.Errorf("%w: %s%s", err, out.Stdout, out.Stderr)
		}
		if len(status.Folders) != 1 || !status.Folders[0].Sync.Connected || status.Folders[0].Sync.Unsent > 0 {
			return errors.New(out.Stdout)
		}
		return nil
	})
}

// What is the matter with a server is told on the command line with the next
// step, and the token is not.
func TestServerRefusals(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	f := shareFolder(t, "Team", nil)
	guarded := startNPMServer(t, "hocuspocus", "0", "right")
	s.Env = append(s.Env, "RELAYFS_TOKEN=secret-of-the-test")
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	nonsense := "hocuspocus+ws://" + page.Listener.Addr().String()
	served, wrong := f.Address()+"#Team="+relayFolder, []string{"server refuses access", "hint: set RELAYFS_TOKEN"}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"down":                    {[]string{"mount", "ws://127.0.0.1:1#Team=x", s.Mkdir(t, "a")}, []string{"cannot be reached", "hint: check the address"}},
		"down, MCP":               {[]string{"mcp", "ys://127.0.0.1:1#Team=x"}, []string{"cannot be reached", "hint: check the address"}},
		"wrong token":             {[]string{"mount", served, s.Mkdir(t, "d")}, wrong},
		"wrong token, status":     {[]string{"status", served}, wrong},
		"wrong token, Hocuspocus": {[]string{"mcp", "hocuspocus+ws://127.0.0.1:" + guarded.port + "#Team=team"}, wrong},
		"nonsense":                {[]string{"mount", nonsense + "#Team=x", s.Mkdir(t, "e")}, []string{"does not speak the protocol", "hint: check that the address"}},
		"no folder":               {[]string{"mount", "ys://127.0.0.1:1", s.Mkdir(t, "b")}, []string{"ys://127.0.0.1:1#NAME=ID"}},
		"bad folder":              {[]string{"status", "ys://127.0.0.1:1#x"}, []string{"is not NAME=ID"}},
		"bad scheme":              {[]string{"mount", "gopher://127.0.0.1:1#Team=x", s.Mkdir(t, "c")}, []string{"is not the address of a server"}},
		"doctor":                  {[]string{"doctor", "ws://127.0.0.1:1#Team=x"}, []string{"fail  server of Team", "fix: check the address"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := s.Run(t, c.args...)
			all := out.Stdout + out.Stderr
			if out.Code == 0 {
				t.Errorf("exit code 0\n%s", all)
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in\n%s", want, all)
				}
			}
			if strings.Contains(all, "secret-of-the-test") {
				t.Errorf("the token is told:\n%s", all)
			}
		})
	}
}

// Later, when the folder is kept here, it can be read, and status tells the same.
func TestServerRefusesLater(t *testing.T) {
	t.Parallel()
	server := startNPMServer(t, "hocuspocus", "0", "right")
	g := gridServer{client: "hocuspocus", room: "team", clientURL: "ws://127.0.0.1:" + server.port, token: "right"}
	p := g.person(t)
	p.do("create", map[string]any{"path": "Here.md", "text": "here\n"})
	s := harness.NewSandbox(t)
	args := []string{"hocuspocus+ws://127.0.0.1:" + server.port + "#Team=team"}
	env := s.Env
	s.Env = append(env, "RELAYFS_TOKEN=right")
	m := s.MountAt(t, args[0], s.Mkdir(t, "mnt"), args[1:]...)
	harness.FileBecomes(t, filepath.Join(m.Dir, "Team", "Here.md"), "here\n")
	m.Stop(t)

	told := func(token string, want ...string) {
		t.Helper()
		s.Env = append(env, "RELAYFS_TOKEN="+token)
		status := s.Run(t, append([]string{"status"}, args...)...)
		mcp := s.MCP(t, args...)
		here := mcp.MustCall(t, "read", "file_path", "Team/Here.md")
		mcp.Close(t)
		if status.Code != 0 || !strings.Contains(here, "here") {
			t.Errorf("status ended with %d, Here.md is %q", status.Code, here)
		}
		for _, text := range want {
			if !strings.Contains(status.Stdout, text) {
				t.Errorf("%q is not in\n%s", text, status.Stdout)
			}
		}
	}
	told("wrong", "refuses access", "set RELAYFS_TOKEN")
	server.stop()
	told("right", "cannot be reached", "check the address")
	nonsense := &http.Server{Addr: "127.0.0.1:" + server.port, Handler: http.NotFoundHandler()}
	listener, err := net.Listen("tcp", nonsense.Addr)
	if err != nil {
		t.Fatal(err)
	}
	go nonsense.Serve(listener)
	defer nonsense.Close()
	told("right", "does not speak the protocol", "server of this kind")
}

// A folder id that the server does not know is a sentence, too.
func TestServerWrongFolder(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	f := shareFolder(t, "Team", nil)
	s.Env = append(s.Env, "RELAYFS_SERVER_KEY="+f.key.Secret())
	for _, verb := range []string{"status", "mcp", "doctor"} {
		out := s.Run(t, verb, f.Address()+"#Team=another")
		if all := out.Stdout + out.Stderr; out.Code == 0 || !strings.Contains(all, `no such folder as "another"`) || !strings.Contains(all, "check the folder's id in #NAME=ID") {
			t.Errorf("%s ended with %d\n%s", verb, out.Code, all)
		}
	}
}
