package daemon

import (
	"net"
	"os"
)

// notifyReady tells systemd that a unit of Type=notify has started, if it is
// systemd that waits for it: the protocol of sd_notify(3).
func notifyReady() {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	// A name that begins with @ is in the abstract namespace, for Go as for systemd.
	conn, err := net.Dial("unixgram", name)
	if err != nil {
		return // who waits finds out by its own timeout, with our log beside it
	}
	defer conn.Close()
	conn.Write([]byte("READY=1"))
}
