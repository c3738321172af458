package mcp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// processorTime is how long a process has computed.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// A pattern that takes minutes is stopped at once when its client does not want the answer any more; in a soak also
// after 20 seconds, with a sentence that says so. TestBounded of the package search and TestSearchThatEnds of refusal show
// that without the wait.
func TestGrepIsBounded(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	line := make([]byte, 1<<20) // without a pattern that a search could make use of
	for k := range line {
		line[k] = "ab"[rand.IntN(2)]
	}
	for i := range 40 {
		files[fmt.Sprintf("n%d.md", i)] = string(line) + "\n"
	}
	client := s.MCP(t, s.Vault(t, "Notes", files))
	const slow = `a.{1000}b.{1000}[^ab]`

	idle := processorTime(t, client.Cmd.Process.Pid)
	client.LastID++
	client.Send(t, map[string]any{"jsonrpc": "2.0", "id": client.LastID, "method": "tools/call", "params": map[string]any{
		"name": "grep", "arguments": map[string]any{"pattern": slow}}})
	harness.Eventually(t, harness.StartTimeout, func() error {
		if took := processorTime(t, client.Cmd.Process.Pid) - idle; took < time.Second {
			return fmt.Errorf("the server has computed for %v, want a second of the search", took)
		}
		return nil
	})
	client.Send(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": client.LastID}})
	// It would end by itself after 20 seconds.
	harness.Eventually(t, min(need.Scaled(2*time.Second), 15*time.Second), func() error {
		before := processorTime(t, client.Cmd.Process.Pid)
		time.Sleep(time.Second)
		if after := processorTime(t, client.Cmd.Process.Pid); after-before > 300*time.Millisecond {
			return fmt.Errorf("after the client has cancelled, the server computes for %v in a second", after-before)
		}
		return nil
	})

	if os.Getenv("RELAYFS_SOAK") != "" {
		start := time.Now()
		result := client.Call(t, "grep", "pattern", slow)
		if took := time.Since(start); took > 20*time.Second+need.Scaled(8*time.Second) || !result.IsError || !strings.Contains(result.Text, "stopped after 20 seconds") {
			t.Errorf("after %v: %+v, want a refusal after 20 seconds", took, result)
		}
	}
	if got := client.MustCall(t, "grep", "pattern", "ab", "head_limit", 1); !strings.Contains(got, "Notes/n") {
		t.Errorf("a plain search answers %q", got)
	}
}
