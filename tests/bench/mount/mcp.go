//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// mcpClient is a client of an MCP server on stdio.
type mcpClient struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func newMCPClient(cmd *exec.Cmd) (*mcpClient, error) {
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &mcpClient{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	_, err := c.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	if err == nil {
		_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return c, err
}

func (c *mcpClient) end() {
	c.in.Close()
	_ = c.cmd.Wait() // the server ends when its input ends
}

type mcpMessage struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (c *mcpClient) request(method string, params any) (json.RawMessage, error) {
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var m mcpMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if m.ID == c.id && m.Method == "" {
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, m.Error)
			}
			return m.Result, nil
		}
	}
}

// call calls a tool and returns the time until its result.
func (c *mcpClient) call(tool string, arguments map[string]any) (time.Duration, error) {
	start := time.Now()
	result, err := c.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	var r struct{ IsError bool }
	if err := json.Unmarshal(result, &r); err != nil || r.IsError {
		return 0, fmt.Errorf("%s %v: %s", tool, arguments, result)
	}
	return took, nil
}

// attached calls a function (use) with a client of 'relayfs mcp' that is attached to a mount of the notes.
func (b *bench) attached(use func(*mcpClient) error) error {
	if err := b.makeNotes(); err != nil {
		return err
	}
	m, err := b.mount(b.vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	cmd := exec.Command(b.relayfs, "mcp", b.vault)
	cmd.Env = m.cmd.Env
	c, err := newMCPClient(cmd)
	if err != nil {
		return err
	}
	defer c.end()
	return use(c)
}

// editingOverMCP reads and edits notes, each once.
func (b *bench) editingOverMCP() error {
	dir := filepath.Join(b.work, "MCP floor")
	if err := b.makeSaved(dir, 4<<10); err != nil {
		return err
	}
	least, err := newMCPClient(exec.Command(b.self, "-serve", "mcp", dir))
	if err != nil {
		return err
	}
	defer least.end()
	return b.attached(func(c *mcpClient) error {
		var reads, edits [ways][]time.Duration
		for i := range b.saves {
			for way, c := range map[int]*mcpClient{floor: least, relayfs: c} {
				path := filepath.Join(filepath.Base(b.vault), noteFolder(i), noteName(i))
				read, err := c.call("read", map[string]any{"file_path": path})
				if err != nil {
					return err
				}
				edit, err := c.call("edit", map[string]any{"file_path": path, "old_string": fmt.Sprintf("Note %d.", i), "new_string": "Another first line."})
				if err != nil {
					return err
				}
				reads[way], edits[way] = append(reads[way], read), append(edits[way], edit)
			}
		}
		row("MCP on stdio, attached: read, p50", middles(reads), goal{of: floor})
		took := middles(edits)
		rounded := func(t time.Duration) string { return t.Round(10 * time.Microsecond).String() }
		limit("  edit, p50", rounded(took[floor]), rounded(took[relayfs]), "1ms", took[relayfs] > time.Millisecond)
		limit("  edit, p99", rounded(edits[floor][b.saves*99/100]), rounded(edits[relayfs][b.saves*99/100]), "", false) // middles has sorted the times
		return nil
	})
}

// serveMCP is the floor of an attached MCP server: it passes each message to another process. That process has mcpOwner
// in its environment, and answers an edit after the system calls of a durable save.
func serveMCP(dir string) error {
	if os.Getenv(mcpOwner) != "" {
		return serveMCPOwner(dir)
	}
	cmd := exec.Command(os.Args[0], "-serve", "mcp", dir)
	cmd.Env = append(os.Environ(), mcpOwner+"=1")
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return err
	}
	defer cmd.Wait()
	defer in.Close()
	lines, answers := bufio.NewReader(os.Stdin), bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil
		}
		if _, err := in.Write(line); err != nil {
			return err
		}
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(answer); err != nil {
			return err
		}
	}
}

const mcpOwner = "RELAYFS_BENCH_MCP_OWNER"

func serveMCPOwner(dir string) error {
	s, err := newSaver(dir)
	if err != nil {
		return err
	}
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var m struct {
			ID     int
			Params struct {
				Name      string
				Arguments struct {
					Path string `json:"file_path"`
				}
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		name := filepath.Base(m.Params.Arguments.Path)
		switch m.Params.Name {
		case "read":
			if _, err := os.ReadFile(filepath.Join(dir, name)); err != nil {
				return err
			}
		case "edit":
			if err := s.save(name, make([]byte, 4<<10), false); err != nil {
				return err
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"done"}]}}`+"\n", m.ID)
	}
}

var searches = []struct {
	name, pattern string
	flags         map[string]any // arguments of the tool
	rg            []string
}{
	{"a rare literal", "Note 4711", nil, []string{"-l"}},
	{"a frequent literal", "lantern", nil, []string{"-l"}},
	{"  its lines", "lantern", map[string]any{"output_mode": "content"}, []string{"-n"}},
	{"  its count", "lantern", map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"  in any case", "LANTERN", map[string]any{"output_mode": "count", "-i": true}, []string{"-c", "-i"}},
	{"every line", ".", map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"a word", `\bthe\b`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"no literal", `[aeiou]{3,}[xyz]`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"letters of Unicode", `\p{Lu}\p{Ll}+`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"  not of ASCII", `[À-ÿ]den`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"  letters, digits", `\w{8,}`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"  no letter, no space", `[^\w\s]{2}`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"digits", `\d{4}`, map[string]any{"output_mode": "count"}, []string{"-c"}},
	{"across lines", `\.\n[a-m]`, map[string]any{"output_mode": "count", "multiline": true}, []string{"-c", "-U"}},
}

// searchingOverMCP compares the grep tool with ripgrep on a copy of the notes in memory. The first search of each
// pattern is not measured.
func (b *bench) searchingOverMCP() error {
	return b.attached(func(c *mcpClient) error {
		for i, s := range searches {
			arguments := map[string]any{"pattern": s.pattern}
			for name, value := range s.flags {
				arguments[name] = value
			}
			search := func() (time.Duration, error) { return c.call("grep", arguments) }
			if _, err := search(); err != nil {
				return err
			}
			ripgrep := program("sh", append([]string{"-c", `rg --no-config "$@" . > /dev/null; test $? -le 1`, "rg"}, append(s.rg, "-e", s.pattern)...)...)
			var took [ways][]time.Duration
			for range b.runs {
				own, err1 := search()
				theirs, err2 := timed(ripgrep, b.plain)
				if err := errors.Join(err1, err2); err != nil {
					return err
				}
				took[plain], took[relayfs] = append(took[plain], theirs), append(took[relayfs], own)
			}
			name := s.name
			if i == 0 {
				name = "MCP grep of rg on tmpfs: " + name
			}
			row(name, middles(took), goal{0.2, plain})
		}
		return nil
	})
}
