package cli

import (
	"net"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A unit of Type=notify has started when the mount is ready, not before.
func TestSystemdIsNotified(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	name := s.Path("notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.Env = append(s.Env, "NOTIFY_SOCKET="+name)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": "text\n"}))
	if err := conn.SetReadDeadline(time.Now().Add(harness.StartTimeout)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := conn.Read(buf)
	if err != nil || string(buf[:n]) != "READY=1" {
		t.Errorf("systemd is told %q, %v", buf[:n], err)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.Path("note.md")), "text\n")
}
