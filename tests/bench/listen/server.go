package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// server is a server that runs, with a room.
type server struct {
	cmd  *exec.Cmd
	in   io.Closer
	room string // its address
}

// stop ends the server: Node's with its standard input, relayfs with a signal.
func (s *server) stop() {
	s.in.Close()
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

func startNode(ctx context.Context, o options) (*server, error) {
	cmd := exec.CommandContext(ctx, "node", "server.mjs", "y-websocket")
	cmd.Dir, cmd.Stderr = o.node, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	port, err := bufio.NewReader(out).ReadString('\n')
	return &server{cmd, in, "ws://127.0.0.1:" + strings.TrimSpace(port) + "/note"}, err
}

var serving = regexp.MustCompile(`serving Yjs clients at ys://(\S+),`)

func startRelayfs(ctx context.Context, o options) (*server, error) {
	vault := filepath.Join(o.dir, "vault")
	if err := os.MkdirAll(vault, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(vault, "Note.md"), nil, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, o.relayfs, "serve", vault, "--listen", "127.0.0.1:0", "--no-token", "--state", filepath.Join(o.dir, "state"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, log)
			return &server{cmd, in, "ws://" + m[1] + "/vault/Note.md"}, nil
		}
	}
	return nil, fmt.Errorf("it ended: %w", cmd.Wait())
}

// residentKB is the memory of the server's process.
func (s *server) residentKB() (kb float64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	_, err = fmt.Sscan(rest, &kb)
	return kb, err
}
