package tests

import (
	"net"
	"testing"
	"time"
)

// A unit of Type=notify has started when the mount is ready, not before.
func TestSystemdIsNotified(t *testing.T) {
	s := newSandbox(t)
	name := s.path("notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.env = append(s.env, "NOTIFY_SOCKET="+name)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": "text\n"}))
	if err := conn.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := conn.Read(buf)
	if err != nil || string(buf[:n]) != "READY=1" {
		t.Errorf("systemd is told %q, %v", buf[:n], err)
	}
	checkText(t, "the note", readFile(t, m.path("note.md")), "text\n")
}
