//go:build !windows

package fusefs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// process is who makes a request.
type process struct {
	id      int    // the process, which FUSE does not say: it names the thread
	session int    // its session, setsid(2)
	name    string // its program, at most 15 bytes
}

// processes finds the process of a thread. What it finds stays valid for a
// moment: /proc costs as much as the request itself.
type processes struct {
	mu    sync.Mutex // protects the following
	known map[uint32]knownProcess
}

type knownProcess struct {
	process
	until time.Time
}

const (
	// processTTL is how long a thread id is taken for the same process. The kernel
	// counts through all ids before it gives one out again.
	processTTL   = time.Second
	maxProcesses = 1024
)

// of returns the process behind a request. Outside of a request, and for the
// kernel itself, it is the zero process.
func (ps *processes) of(ctx context.Context) process {
	caller, ok := fuse.FromContext(ctx)
	if !ok || caller.Pid == 0 {
		return process{}
	}
	now := time.Now()
	ps.mu.Lock()
	k, ok := ps.known[caller.Pid]
	ps.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.process
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", caller.Pid))
	p := process{id: int(caller.Pid)}
	if err == nil {
		p = parseStatus(status, p)
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.known == nil || len(ps.known) >= maxProcesses {
		ps.known = make(map[uint32]knownProcess)
	}
	ps.known[caller.Pid] = knownProcess{p, now.Add(processTTL)}
	return p
}

// parseStatus reads the process, session and program from /proc/PID/status, see
// proc_pid_status(5). What is missing there stays as it is in p.
func parseStatus(status []byte, p process) process {
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		fields := bytes.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch string(key) {
		case "Name":
			p.name = string(bytes.TrimSpace(value))
		case "Tgid":
			p.id = atoi(fields[0], p.id)
		case "NSsid":
			p.session = atoi(fields[0], p.session)
		}
	}
	return p
}

func atoi(s []byte, otherwise int) int {
	if n, err := strconv.Atoi(string(s)); err == nil {
		return n
	}
	return otherwise
}
