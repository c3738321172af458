package daemon

import (
	"net"
	"os"
)

// notifyReady tells systemd that a unit of Type=notify has started: the protocol of sd_notify(3).
func notifyReady() {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	// Go and systemd both read a name that begins with @ as one in the abstract namespace.
	conn, err := net.Dial("unixgram", name)
	if err != nil {
		return // systemd times out, with the log beside it
	}
	defer conn.Close()
	conn.Write([]byte("READY=1"))
}
