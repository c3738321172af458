package model

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// An agent on the mount is a process of its own: what counts as shown to it is what it read itself. It is this test
// binary again, which takes a request per line.

const sequenceAgentEnv = "RELAYFS_SEQUENCE_AGENT"

func init() {
	if os.Getenv(sequenceAgentEnv) != "" {
		serveSequenceAgent(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

type agentRequest struct {
	Op   string // read, write, replace, rename, remove
	Path string
	Text string
	To   string
}

type agentReply struct{ Text, Error string }

func serveSequenceAgent(in io.Reader, out io.Writer) {
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q agentRequest
		if requests.Decode(&q) != nil {
			return
		}
		text, err := q.do()
		reply := agentReply{Text: text}
		if err != nil {
			reply.Error = err.Error()
		}
		if replies.Encode(reply) != nil {
			return
		}
	}
}

func (q *agentRequest) do() (string, error) {
	switch q.Op {
	case "read":
		text, err := os.ReadFile(q.Path)
		return string(text), err
	case "write":
		return "", os.WriteFile(q.Path, []byte(q.Text), 0o644)
	case "replace": // as Claude Code and many editors save
		dir, name := filepath.Split(q.Path)
		tmp := filepath.Join(dir, "."+name+".tmp")
		if err := os.WriteFile(tmp, []byte(q.Text), 0o644); err != nil {
			return "", err
		}
		return "", os.Rename(tmp, q.Path)
	case "rename":
		return "", os.Rename(q.Path, q.To)
	case "remove":
		return "", os.Remove(q.Path)
	}
	return "", fmt.Errorf("unknown request %q", q.Op)
}

type sequenceAgent struct {
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
	cmd *exec.Cmd
}

func startSequenceAgent(t testing.TB) *sequenceAgent {
	t.Helper()
	a := &sequenceAgent{cmd: exec.Command(os.Args[0])}
	a.cmd.Env = append(os.Environ(), sequenceAgentEnv+"=1")
	a.cmd.Stderr = os.Stderr
	in, out := harness.StartPiped(t, a.cmd)
	a.in, a.enc, a.dec = in, json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	return a
}

func (a *sequenceAgent) close() {
	a.in.Close()
	_ = a.cmd.Wait()
}

func (a *sequenceAgent) do(q agentRequest) (string, error) {
	if err := a.enc.Encode(q); err != nil {
		return "", err
	}
	var reply agentReply
	if err := a.dec.Decode(&reply); err != nil {
		return "", err
	}
	if reply.Error != "" {
		return "", fmt.Errorf("%s: %s", q.Op, reply.Error)
	}
	return reply.Text, nil
}
