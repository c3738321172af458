package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// listening is `relayfs serve --listen` without tokens. It returns its address and the id of the folder's document.
func listening(t *testing.T, s *harness.Sandbox, vault string, flags ...string) (address, folder string) {
	t.Helper()
	log := harness.NewLog()
	cmd := s.Command(context.Background(), append([]string{"serve", vault, "--listen", "127.0.0.1:0", "--no-token"}, flags...)...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	log.Says(t, "without tokens\n")
	u, err := url.Parse(regexp.MustCompile(`ys://[^ ,]+`).FindString(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	var status struct {
		Owner struct {
			Yjs struct{ Folders map[string]string }
		}
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		return json.Unmarshal([]byte(s.Run(t, "status", vault, "--json").Stdout), &status)
	})
	return "http://" + u.Host, status.Owner.Yjs.Folders["Vault"]
}

// join asks for a websocket on a document, and returns the status. The connection stays open to the end of the test.
func join(t *testing.T, address, id string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/d/"+id+"/ws/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res.StatusCode
}

// What --limit sets holds, and what it leaves out is as without it.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "text\n"})
	for _, tt := range []struct {
		flags         []string
		large, second int // statuses of a message of 2 MiB, and of a second websocket
	}{
		{nil, http.StatusBadRequest, http.StatusSwitchingProtocols},
		{[]string{"--limit", "frame=1"}, http.StatusRequestEntityTooLarge, http.StatusSwitchingProtocols},
		{[]string{"--limit", "connections=1"}, http.StatusBadRequest, http.StatusServiceUnavailable},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			address, folder := listening(t, s, vault, tt.flags...)
			res, err := http.Post(address+"/d/"+folder+"/update", "application/octet-stream", bytes.NewReader(bytes.Repeat([]byte{0xff}, 2<<20)))
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != tt.large {
				t.Errorf("2 MiB: status %d, want %d", res.StatusCode, tt.large)
			}
			if got := join(t, address, folder); got != http.StatusSwitchingProtocols {
				t.Errorf("a websocket: status %d", got)
			}
			if got := join(t, address, folder); got != tt.second {
				t.Errorf("another websocket: status %d, want %d", got, tt.second)
			}
		})
	}
	for _, wrong := range []string{"frame", "frame=0", "frame=much", "frames=1", "frame=99999999"} {
		if out := s.Run(t, "serve", vault, "--listen", "127.0.0.1:0", "--limit", wrong); out.Code != 2 || !strings.Contains(out.Stderr, `--limit "`+wrong+`"`) {
			t.Errorf("%s: exit code %d, %s", wrong, out.Code, out.Stderr)
		}
	}
}
