package program

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// status has the fields of /proc/PID/status that this package needs, see proc_pid_status(5).
type status struct {
	pid     int
	name    string
	parent  int
	group   int // first process of the process group; 0 if it is outside of the container
	session int // 0 if the process has no session, or if the session's leader is outside of the container
	uid     int
}

// readStatus reads the status of the process to which a thread belongs. Threads have their own names: the threads with
// which Claude Code writes are called "Bun Pool 1".
func readStatus(thread int) (status, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread)) // does not exist on macOS
	if err != nil {
		return status{}, false
	}
	s := parseStatus(text, thread)
	if s.pid != thread {
		return readStatus(s.pid)
	}
	return s, true
}

// parseStatus parses a status. Missing fields are 0, except that a missing process ID is replaced by thread.
func parseStatus(text []byte, thread int) status {
	number := func(name string) int {
		first, _, _ := strings.Cut(Field(text, name), "\t")
		n, _ := strconv.Atoi(first)
		return n
	}
	return status{
		pid: cmp.Or(number("Tgid"), thread), name: Field(text, "Name"), parent: number("PPid"), uid: number("Uid"),
		group: number("NSpgid"), session: number("NSsid"),
	}
}

// Field returns a field of the text of /proc/PID/status, or "". See proc_pid_status(5).
func Field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// environTimeout limits the wait for the environment of a process that is in the middle of exec(2). That process may
// itself wait for the mount, because exec closes its files, and the mount is waiting for this package.
const environTimeout = 50 * time.Millisecond

func environOf(pid int) []string {
	read := make(chan []byte, 1)
	go func() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		read <- text
	}()
	select {
	case text := <-read:
		return strings.Split(string(text), "\x00")
	case <-time.After(environTimeout):
		return nil
	}
}
