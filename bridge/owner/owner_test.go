package owner_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
)

// serving opens the socket of an owner, and returns its path and a function that closes it.
func serving(t *testing.T) (socket string, end func()) {
	t.Helper()
	l, socket, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return socket, func() { l.Close() }
}

func TestSecondOwnerIsRefusedWithTheFirstOnesName(t *testing.T) {
	claim := owner.LockRequest{Vault: t.TempDir(), State: filepath.Join(t.TempDir(), "state")}
	first, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatal(err)
	}
	socket, _ := serving(t)
	info := owner.Info{PID: os.Getpid(), Command: "mount", Mountpoint: "/mnt/notes", Socket: socket}
	if err := first.Announce(info); err != nil {
		t.Fatal(err)
	}
	_, err = owner.Acquire([]owner.LockRequest{claim})
	var owned *owner.AlreadyServedError
	if !errors.As(err, &owned) || owned.Owner == nil || owned.Owner.Mountpoint != "/mnt/notes" {
		t.Fatalf("second Acquire: %v, want an OwnedError naming the mount", err)
	}
	first.Release()
	second, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	second.Release()
}

// A process that was killed while it started another one may leave its locks to that for a moment: they are waited for, also
// where only the owner of a vault is looked for that has another path now.
func TestTheLocksOfADeadOwner(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	base := t.TempDir()
	claim := owner.LockRequest{Vault: filepath.Join(base, "before"), State: filepath.Join(base, "state", "before")}
	if err := os.Mkdir(claim.Vault, 0o700); err != nil {
		t.Fatal(err)
	}
	killed := func() (released <-chan struct{}) {
		t.Helper()
		first, err := owner.Acquire([]owner.LockRequest{claim})
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Announce(owner.Info{PID: dead.Process.Pid, Command: "mount"}); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		time.AfterFunc(50*time.Millisecond, func() {
			first.Release()
			close(done)
		})
		return done
	}
	released := killed()
	second, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatalf("the locks of a dead owner: %v", err)
	}
	<-released
	second.Release()

	released = killed()
	after := filepath.Join(base, "after")
	if err := os.Rename(claim.Vault, after); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(base, "state", "after")
	if got := owner.StateOf(own, after); got != own {
		t.Errorf("the state of a vault whose owner is dead: %s, want %s", got, own)
	}
	<-released
}

func TestAVaultIsOwnedWhateverTheStateFolder(t *testing.T) {
	vault := t.TempDir()
	first, err := owner.Acquire([]owner.LockRequest{{Vault: vault, State: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	_, err = owner.Acquire([]owner.LockRequest{{Vault: vault, State: t.TempDir()}})
	var owned *owner.AlreadyServedError
	if !errors.As(err, &owned) || owned.Owner != nil {
		t.Fatalf("got %v, want an OwnedError without an owner", err)
	}
}

// A path that JSON cannot hold is not recorded, so no other vault is told that this one is gone.
func TestAVaultWhosePathIsNotUTF8(t *testing.T) {
	vault, state := filepath.Join(t.TempDir(), "caf\xe9"), t.TempDir()
	if err := errors.Join(os.Mkdir(vault, 0o700), os.WriteFile(filepath.Join(vault, "N.md"), nil, 0o600)); err != nil {
		t.Skip(err)
	}
	o, err := owner.Acquire([]owner.LockRequest{{Vault: vault, State: state}})
	if err != nil {
		t.Fatal(err)
	}
	o.Release()
	if _, err := os.Stat(filepath.Join(state, "vault.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("vault.json: %v", err)
	}
}

// A command that holds a vault without an announcement is waited for, and so is an owner that is ending. An owner that
// serves its socket is not.
func TestACommandIsWaitedFor(t *testing.T) {
	claim := owner.LockRequest{Vault: t.TempDir(), State: filepath.Join(t.TempDir(), "state")}
	for range 20 {
		command, err := owner.Acquire([]owner.LockRequest{claim})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		time.AfterFunc(5*time.Millisecond, func() {
			command.Forget()
			close(ended)
		})
		next, err := owner.Acquire([]owner.LockRequest{claim})
		<-ended
		if err != nil {
			t.Fatalf("after the command: %v", err)
		}
		next.Release()
	}
	starting, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatal(err)
	}
	socket, end := serving(t)
	time.AfterFunc(5*time.Millisecond, func() {
		starting.Announce(owner.Info{PID: os.Getpid(), Command: "mount", Socket: socket})
	})
	_, err = owner.Acquire([]owner.LockRequest{claim})
	if owned, ok := errors.AsType[*owner.AlreadyServedError](err); !ok || owned.Owner == nil {
		t.Errorf("beside an owner that has just announced itself: %v", err)
	}
	end()
	time.AfterFunc(50*time.Millisecond, starting.Release)
	next, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatalf("beside an owner that is ending: %v", err)
	}
	next.Release()
}

func TestARefusedClaimKeepsNothing(t *testing.T) {
	a, b := owner.LockRequest{Vault: t.TempDir(), State: t.TempDir()}, owner.LockRequest{Vault: t.TempDir(), State: t.TempDir()}
	holder, err := owner.Acquire([]owner.LockRequest{b})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	socket, _ := serving(t)
	if err := holder.Announce(owner.Info{PID: os.Getpid(), Command: "mount", Socket: socket}); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Acquire([]owner.LockRequest{a, b}); err == nil {
		t.Fatal("both claims taken, though one was held")
	}
	again, err := owner.Acquire([]owner.LockRequest{a})
	if err != nil {
		t.Fatalf("the free claim stayed locked: %v", err)
	}
	again.Release()
}

// Who makes way leaves word of it until the next owner comes.
func TestHandOver(t *testing.T) {
	claim := owner.LockRequest{Vault: t.TempDir(), State: filepath.Join(t.TempDir(), "state")}
	first, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Announce(owner.Info{PID: os.Getpid(), Command: "mcp"}); err != nil {
		t.Fatal(err)
	}
	if err := first.HandOver(); err != nil {
		t.Fatal(err)
	}
	first.Release()
	info, err := owner.Read(claim.State)
	if err != nil || info.Command != "mcp" || info.HandoverStarted.IsZero() {
		t.Fatalf("after the handover: %+v, %v", info, err)
	}
	second, err := owner.Acquire([]owner.LockRequest{claim})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Announce(owner.Info{PID: os.Getpid(), Command: "mount"}); err != nil {
		t.Fatal(err)
	}
	if info, err := owner.Read(claim.State); err != nil || info.Command != "mount" || !info.HandoverStarted.IsZero() {
		t.Errorf("the next owner: %+v, %v", info, err)
	}
	second.Release()
	if _, err := owner.Read(claim.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after its end: %v", err)
	}
}

// A socket's path is absolute and short enough, whatever the environment says.
func TestSocketPath(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	t.Chdir(t.TempDir())
	for _, env := range [][2]string{{"", long}, {long, long}, {"run", "tmp"}} {
		t.Setenv("XDG_RUNTIME_DIR", env[0])
		t.Setenv("TMPDIR", env[1])
		l, path, err := owner.Listen()
		if err != nil {
			t.Errorf("with %q: %v", env, err)
			continue
		}
		if l.Close(); !filepath.IsAbs(path) {
			t.Errorf("with %q: %s", env, path)
		}
	}
}

func TestSocket(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	l, path, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"under": r.FormValue("under")})
	})
	mux.HandleFunc("/undo", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Batch string }
		json.NewDecoder(r.Body).Decode(&body)
		json.NewEncoder(w).Encode(map[string]string{"method": r.Method, "type": r.Header.Get("Content-Type"), "batch": body.Batch})
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such note", 404) })
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		io.Copy(conn, in)
	})
	srv := &http.Server{Handler: mux}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })

	info := owner.Info{PID: os.Getpid(), Command: "mount", Socket: path}
	if !owner.IsReachable(info) {
		t.Fatal("socket does not answer")
	}
	c := owner.NewClient(info)
	var got map[string]string
	if err := c.Get(t.Context(), "/status", url.Values{"under": {"A/B"}}, &got); err != nil || got["under"] != "A/B" {
		t.Errorf("Get: %v, %v", got, err)
	}
	if err := c.Get(t.Context(), "/broken", nil, &got); err == nil || !strings.Contains(err.Error(), "no such note") {
		t.Errorf("Get of an error: %v", err)
	}
	var reply struct{ Method, Type, Batch string }
	if err := c.Post(t.Context(), "/undo", map[string]string{"batch": "b1"}, &reply); err != nil {
		t.Errorf("Post: %v", err)
	}
	if want := (struct{ Method, Type, Batch string }{"POST", "application/json", "b1"}); reply != want {
		t.Errorf("Post: %+v, want %+v", reply, want)
	}
	if err := c.Post(t.Context(), "/broken", nil, &got); err == nil || !strings.HasSuffix(err.Error(), "no such note") {
		t.Errorf("Post with an error: %v", err)
	}
	s, err := c.Open(t.Context(), "/stream", nil, "echo")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	io.WriteString(s, "hello\n")
	if line, err := bufio.NewReader(s).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("the stream has %q, %v", line, err)
	}
	if _, err := c.Open(t.Context(), "/broken", nil, "echo"); err == nil || !strings.HasSuffix(err.Error(), "no such note") {
		t.Errorf("a refused stream: %v", err)
	}
	srv.Close()
	if owner.IsReachable(info) {
		t.Error("a closed socket answers")
	}
}
