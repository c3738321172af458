package serving

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// A process that was killed while it started another one leaves that its socket, which takes connections until the
// other one executes its program. Nobody serves the vault then.
func TestASocketThatOutlivesItsOwner(t *testing.T) {
	for name, find := range map[string]func(Search, string) (*owner.Client, error){
		"Find": func(s Search, vault string) (*owner.Client, error) { return s.Find(t.Context(), []string{vault}) },
		"Follow": func(s Search, vault string) (*owner.Client, error) {
			c, _, err := s.Follow(t.Context(), []string{vault})
			return c, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, vault := t.TempDir(), t.TempDir()
			l, err := net.Listen("unix", filepath.Join(base, "s"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			announce(t, base, vault, owner.Info{PID: os.Getpid(), Command: "mount", Socket: l.Addr().String()})
			go endWhenAsked(l)
			if c, err := find(Search{State: base}, vault); c != nil || err != nil {
				t.Errorf("got %v, %v, want no client and no error", c, err)
			}
		})
	}
}

// announce says in the state folder of a vault that a process serves it.
func announce(t *testing.T, base, vault string, info owner.Info) {
	t.Helper()
	sources, err := source.Parse([]string{vault}, base)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	state := sources[0].State(base)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "owner.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// endWhenAsked closes l and what came to it once a request has come.
func endWhenAsked(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, err = conn.Read(make([]byte, 1)) // of who only looks whether the socket answers nothing comes
		if err == nil {
			l.Close()
		}
		conn.Close()
	}
}
