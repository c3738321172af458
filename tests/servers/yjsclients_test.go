package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// yjsServer is `relayfs serve --listen` on a free port.
type yjsServer struct {
	s     *harness.Sandbox
	vault string
	cmd   *exec.Cmd
	log   *harness.Log
	// What 'relayfs status' tells of it.
	Connection string
	Owner      struct {
		Yjs struct {
			URL     string
			Folders map[string]string
		}
	}
}

func serveYjs(t *testing.T, s *harness.Sandbox, vault string, flags ...string) *yjsServer {
	t.Helper()
	return serveYjsWithin(t, s, ":", vault, flags...)
}

// serveYjsWithin is serveYjs with a limit that a command of the shell sets.
func serveYjsWithin(t *testing.T, s *harness.Sandbox, limit, vault string, flags ...string) *yjsServer {
	t.Helper()
	y := &yjsServer{s: s, vault: vault, log: harness.NewLog()}
	y.cmd = s.Command(context.Background(), append([]string{"serve", vault, "--listen", "127.0.0.1:0"}, flags...)...)
	y.cmd.Args = append([]string{"sh", "-c", limit + ` && exec "$0" "$@"`, y.cmd.Path}, y.cmd.Args[1:]...)
	y.cmd.Path = "/bin/sh"
	y.cmd.Stderr = y.log
	if err := y.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { y.stop(t) })
	select {
	case <-y.log.Seen("serving notes of "):
	case <-time.After(harness.StartTimeout):
		t.Fatalf("relayfs serve does not serve\n%s", y.log)
	}
	y.ask(t)
	return y
}

// ask learns where the owner serves Yjs clients.
func (y *yjsServer) ask(t *testing.T) {
	t.Helper()
	out := y.s.Run(t, "status", "--json", "--show-token", y.vault)
	if err := json.Unmarshal([]byte(out.Stdout), y); err != nil || y.Connection == "" {
		t.Fatalf("status: %v: %s%s", err, out.Stdout, out.Stderr)
	}
}

// stop ends the server as Ctrl-C does and expects a clean end.
func (y *yjsServer) stop(t *testing.T) {
	if y.cmd == nil || y.cmd.ProcessState != nil {
		return
	}
	_ = y.cmd.Process.Signal(syscall.SIGINT)
	if err := y.cmd.Wait(); err != nil {
		t.Errorf("relayfs serve: %v\n%s", err, y.log)
	}
	if strings.Contains(y.log.String(), "WARNING: DATA RACE") {
		t.Errorf("data race in relayfs:\n%s", y.log)
	}
}

// token is the server token of the connection string.
func (y *yjsServer) token() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(y.Connection, "ys://"), "@")
	return text
}

// websocket is where y-websocket's clients connect.
func (y *yjsServer) websocket() string {
	return "ws" + strings.TrimPrefix(y.Owner.Yjs.URL, "ys")
}

// driver is a program of tests/yjs-clients.
func driver(t *testing.T, s *harness.Sandbox, name string, args ...string) *exec.Cmd {
	t.Helper()
	dir := harness.Repo("tests/yjs-clients")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		need.Missing(t, "tests/yjs-clients is not installed: run npm ci there")
	}
	if _, err := exec.LookPath("node"); err != nil {
		need.Missing(t, "node is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(dir, name)}, args...)...)
	cmd.Env = s.Env
	return cmd
}

// room is a driver of one note with y-websocket.
func (y *yjsServer) room(t *testing.T, note string, args ...string) *exec.Cmd {
	t.Helper()
	room := filepath.Base(y.vault) + "/" + note
	return driver(t, y.s, "ywebsocket.mjs", append([]string{y.websocket(), y.token(), room}, args...)...)
}

// result runs a driver to its end and reads what it prints last.
func result(t *testing.T, cmd *exec.Cmd, v any) {
	t.Helper()
	out := harness.RunCommand(t, cmd)
	lines := strings.Split(strings.TrimSpace(out.Stdout), "\n")
	if out.Code != 0 {
		t.Fatalf("%q ended with %d\n%s%s", cmd.Args[1:], out.Code, out.Stdout, out.Stderr)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), v); err != nil {
		t.Fatalf("%v: %s", err, out.Stdout)
	}
}

// y-sweet's own SDK and client use the server as they use theirs.
func TestYSweetClient(t *testing.T) {
	s := harness.NewSandbox(t)
	t.Run("CWT", func(t *testing.T) { checkYSweetClient(t, s, "Vault") })
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 30))), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("legacy", func(t *testing.T) { checkYSweetClient(t, s, "Other", "--key-file", key) })
}

func checkYSweetClient(t *testing.T, s *harness.Sandbox, name string, flags ...string) {
	t.Helper()
	y := serveYjs(t, s, s.Vault(t, name, map[string]string{"Plan.md": "one\n"}), flags...)
	var got struct {
		Entries                            []string
		AsUpdate, AfterReadOnlyWrite, Text string
		Closes                             []any
		Unknown                            int
		BadToken                           string
	}
	result(t, driver(t, s, "ysweet.mjs", y.Connection, y.Owner.Yjs.Folders[name]), &got)
	if !slices.Equal(got.Entries, []string{"/New.md", "/Plan.md"}) || got.AsUpdate != "hello 🌍\n" {
		t.Errorf("entries %q, as-update %q", got.Entries, got.AsUpdate)
	}
	if got.AfterReadOnlyWrite != "allowed hello 🌍\n" {
		t.Errorf("after the write of one who may only read: %q, want %q", got.AfterReadOnlyWrite, "allowed hello 🌍\n")
	}
	if fmt.Sprint(got.Closes) != "[1008 Token expired]" || got.Unknown != 404 || got.BadToken != "InvalidAuthProvided" {
		t.Errorf("close %v, unknown document %d, bad token %q", got.Closes, got.Unknown, got.BadToken)
	}
	harness.FileBecomes(t, filepath.Join(y.vault, "New.md"), got.Text)
}

// y-websocket's client finds notes by their names; what it types is in the file,
// and what a person saves there comes to it.
func TestYWebsocketClient(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjs(t, s, s.Vault(t, "Vault", map[string]string{"sub/Plän 1.md": "one\n"}))
	file := filepath.Join(y.vault, "sub/Plän 1.md")
	var text string
	result(t, y.room(t, "sub/Plän 1.md", "edit", "typed 🌍 "), &text)
	if text != "typed 🌍 one\n" {
		t.Errorf("the other client has %q, want %q", text, "typed 🌍 one\n")
	}
	harness.FileBecomes(t, file, text)
	cmd := y.room(t, "sub/Plän 1.md", "wait", "typed 🌍 one\nsaved\n")
	done := make(chan struct{})
	go func() {
		defer close(done)
		result(t, cmd, &text)
	}()
	if err := os.WriteFile(file, []byte("typed 🌍 one\nsaved\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	<-done
}

// Hocuspocus's provider has several documents on one websocket.
func TestHocuspocusClient(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjs(t, s, s.Vault(t, "Vault", map[string]string{"Plan.md": "one\n", "Other.md": "two\n"}))
	var got struct {
		Entries, Refused         []string
		Scope, ReaderScope, Text string
		ReaderUnsaved            bool
		Closes                   []any
	}
	result(t, driver(t, s, "hocuspocus.mjs", y.websocket(), y.token(), "Vault"), &got)
	if !slices.Equal(got.Entries, []string{"/Other.md", "/Plan.md"}) || got.Scope != "read-write" || got.ReaderScope != "readonly" || !got.ReaderUnsaved {
		t.Errorf("entries %q, scope %q; of the reader %q, unsaved %v", got.Entries, got.Scope, got.ReaderScope, got.ReaderUnsaved)
	}
	if want := []string{"no note has that name, and a document's id has letters, digits, - and _ only", "token is not valid here"}; !slices.Equal(got.Refused, want) {
		t.Errorf("refused with %q, want %q", got.Refused, want)
	}
	if fmt.Sprint(got.Closes) != "[1008 Token expired]" {
		t.Errorf("the token's end closes with %v, want [1008 Token expired]", got.Closes)
	}
	harness.FileBecomes(t, filepath.Join(y.vault, "Plan.md"), got.Text)
	harness.FileBecomes(t, filepath.Join(y.vault, "Other.md"), "also two\n")
}

// Two hundred clients type into one note at the same time.
func TestYjsCrowd(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjs(t, s, s.Vault(t, "Vault", map[string]string{"Plan.md": ""}))
	var got struct {
		Words, Different int
		Text             string
	}
	result(t, y.room(t, "Plan.md", "crowd", "200"), &got)
	if got.Words != 200 || got.Different != 1 {
		t.Errorf("%d words, %d different texts", got.Words, got.Different)
	}
	harness.FileBecomes(t, filepath.Join(y.vault, "Plan.md"), got.Text)
}

// The server is killed while a hundred clients are there. They type meanwhile, and
// all come back at once.
func TestYjsReconnectStorm(t *testing.T) {
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": ""})
	y := serveYjs(t, s, vault)
	cmd := y.room(t, "Plan.md", "storm", "100")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != `"ready"` {
		t.Fatalf("the clients say %q", lines.Text())
	}
	if err := y.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = y.cmd.Wait()
	serveYjs(t, s, vault, "--listen", strings.TrimPrefix(y.Owner.Yjs.URL, "ys://"))
	var got struct {
		Words, Different int
		Text             string
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil || got.Words != 100 || got.Different != 1 {
		t.Errorf("the clients say %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	harness.FileBecomes(t, filepath.Join(vault, "Plan.md"), got.Text)
}

// A server that is killed right after it has acknowledged loses nothing.
func TestYjsKill(t *testing.T) {
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "start\n"})
	want := "start\n"
	for range 3 {
		y := serveYjs(t, s, vault)
		cmd := y.room(t, "Plan.md", "type", "100000")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		acknowledged := -1
		for acknowledged < 40 && lines.Scan() {
			if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
				t.Fatalf("the client says %q", lines.Text())
			}
		}
		if err := y.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = y.cmd.Wait()
		_ = cmd.Process.Kill()
		for lines.Scan() { // acknowledged before the kill, read after it
			_, _ = fmt.Sscan(lines.Text(), &acknowledged) // the last line may be cut off
		}
		_ = cmd.Wait()
		text := s.Run(t, "cat", "--source", vault, "Vault/Plan.md").Stdout
		checkTyped(t, text, want, acknowledged)
		want = text
	}
}

// checkTyped checks that text continues before with all that was acknowledged.
func checkTyped(t *testing.T, text, before string, acknowledged int) {
	t.Helper()
	var want strings.Builder
	want.WriteString(before)
	for i := range acknowledged + 1 {
		fmt.Fprintf(&want, "typed %d\n", i)
	}
	if !strings.HasPrefix(text, want.String()) {
		t.Errorf("after the kill the note is %d bytes, and lacks some of %d acknowledged lines: %q", len(text), acknowledged+1, text)
	}
}

// A program on a mount, a client and a person's editor change one note; all end
// with the same text, and no word is lost.
func TestYjsClientMountAndPerson(t *testing.T) {
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Plan.md": "program\n\nperson\n\nclient\n"}), "--mode", "direct", "--listen", "127.0.0.1:0")
	y := &yjsServer{s: s, vault: m.Vault}
	y.ask(t)
	cmd := y.room(t, "Plan.md", "watch")
	in, out := harness.StartPiped(t, cmd)
	watched := bufio.NewScanner(out)
	watched.Scan()

	const rounds = 20
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		result(t, y.room(t, "Plan.md", "type", fmt.Sprint(rounds)), new(any))
	}()
	mounted, file := filepath.Join(m.Dir, "Vault", "Plan.md"), filepath.Join(m.Vault, "Plan.md")
	for i := range rounds {
		addLine(t, mounted, "program", i)
		addLine(t, file, "person", i)
	}
	<-typed
	text := harness.ReadFile(t, mounted)
	for end := time.Now().Add(limittest.Scaled(time.Minute)); !strings.Contains(text, fmt.Sprintf("person %d\n", rounds-1)) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // the last save is on its way
		text = harness.ReadFile(t, mounted)
	}
	last := text
	harness.FileBecomes(t, file, last)
	for i := range rounds {
		for _, name := range []string{"program", "person", "typed"} {
			if !strings.Contains(last, fmt.Sprintf("%s %d\n", name, i)) {
				t.Errorf("%s %d is lost", name, i)
			}
		}
	}
	client := ""
	for client != last && watched.Scan() {
		if err := json.Unmarshal(watched.Bytes(), &client); err != nil {
			t.Fatal(err)
		}
	}
	if client != last {
		t.Errorf("the client has %q, the mount %q", client, last)
	}
	in.Close()
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// While a client types, a person saves the file again and again, as Obsidian does
// that has it open. Each letter comes into the document once: nothing of a save
// that the server made itself, and nothing of the other's typing, comes back as a
// change.
func TestYjsNoEcho(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjs(t, s, s.Vault(t, "Vault", map[string]string{"Plan.md": "person\n\nclient\n"}))
	const rounds = 40
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		result(t, y.room(t, "Plan.md", "type", fmt.Sprint(rounds)), new(any))
	}()
	file := filepath.Join(y.vault, "Plan.md")
	for i := range rounds {
		addLine(t, file, "person", i)
	}
	<-typed
	var got struct {
		Text  string
		Units int
	}
	for end := time.Now().Add(limittest.Scaled(time.Minute)); !strings.Contains(got.Text, fmt.Sprintf("person %d\n", rounds-1)); {
		if time.Now().After(end) {
			t.Fatalf("the last save has not come: %q", got.Text)
		}
		result(t, y.room(t, "Plan.md", "units"), &got)
	}
	harness.FileBecomes(t, file, got.Text)
	for i := range rounds {
		for _, name := range []string{"person", "typed"} {
			if n := strings.Count(got.Text, fmt.Sprintf("%s %d\n", name, i)); n != 1 {
				t.Errorf("%s %d is there %d times, want %d", name, i, n, 1)
			}
		}
	}
	if got.Units != len(got.Text) {
		t.Errorf("%d units were inserted for a text of %d, to which was only added", got.Units, len(got.Text))
	}
}

// addLine saves a file with one more line below the one that is called name, as
// an editor does that renames a new file over the old one.
func addLine(t *testing.T, file, name string, i int) {
	t.Helper()
	next := strings.Replace(harness.ReadFile(t, file), name+"\n", fmt.Sprintf("%s\n%s %d\n", name, name, i), 1)
	temp := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".tmp")
	if err := os.WriteFile(temp, []byte(next), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, file); err != nil {
		t.Fatal(err)
	}
}
