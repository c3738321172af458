//go:build !windows

// Package process finds out who makes a request: the process, its session and its program.
package process

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

// Process is who makes a request.
type Process struct {
	Id      int    // the process, which FUSE does not say: it names the thread
	Session int    // its session, setsid(2)
	Name    string // its program, at most 15 bytes
}

// Table finds the process of a thread. What it finds stays valid for a
// moment: /proc costs as much as the request itself.
type Table struct {
	mu    sync.Mutex // protects the following
	known map[uint32]knownProcess
}

type knownProcess struct {
	Process
	until time.Time
}

const (
	// processTTL is how long a thread id is taken for the same process. The kernel
	// counts through all ids before it gives one out again.
	processTTL   = time.Second
	maxProcesses = 1024
)

// Of returns the process that makes a request. Outside of a request, and for the
// kernel itself, it is the zero process.
func (ps *Table) Of(ctx context.Context) Process {
	caller, ok := fuse.FromContext(ctx)
	if !ok || caller.Pid == 0 {
		return Process{}
	}
	now := time.Now()
	ps.mu.Lock()
	k, ok := ps.known[caller.Pid]
	ps.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.Process
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", caller.Pid)) // not there on macOS
	p := parseStatus(status, Process{Id: int(caller.Pid)})
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
func parseStatus(status []byte, p Process) Process {
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		fields := bytes.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch string(key) {
		case "Name":
			p.Name = string(bytes.TrimSpace(value))
		case "Tgid":
			p.Id = atoi(fields[0], p.Id)
		case "NSsid":
			p.Session = atoi(fields[0], p.Session)
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
