package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// renderer is one process of Node, and the pages that may be asked for again.
type renderer struct {
	in    io.WriteCloser
	out   *bufio.Reader
	known map[string]page
	wrote sync.WaitGroup
}

// newRenderer starts Node, which ends with the test.
func newRenderer(t *testing.T) *renderer {
	t.Helper()
	need.Programs(t, "node")
	dir := filepath.Join(harness.Repo(), "tests/render")
	// What the test looks at here is what the test cache knows that the results depend on.
	for _, name := range []string{"node_modules/.package-lock.json", "render.mjs", "obsidian.mjs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			need.Missing(t, "needs `npm ci` in tests/render: %v", err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "render.mjs")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &renderer{in: in, out: bufio.NewReaderSize(out, 1<<20), known: make(map[string]page)}
}

type request struct {
	Text string `json:"text"`
	HTML bool   `json:"html,omitempty"`
}

// pages renders texts. Those that keep reports are remembered.
func (r *renderer) pages(texts []string, keep func(i int) bool) ([]page, error) {
	out := make([]page, len(texts))
	var asked []int
	for i, text := range texts {
		if p, ok := r.known[text]; ok {
			out[i] = p
		} else {
			asked = append(asked, i)
		}
	}
	// The process answers while it reads: both pipes would fill up.
	r.wrote.Add(1)
	go func() {
		defer r.wrote.Done()
		w := bufio.NewWriterSize(r.in, 1<<16)
		enc := json.NewEncoder(w)
		for _, i := range asked {
			if enc.Encode(request{Text: texts[i]}) != nil {
				return // the reader sees the end of the process
			}
		}
		w.Flush()
	}()
	defer r.wrote.Wait()
	for _, i := range asked {
		blocks, err := r.answer()
		if err != nil {
			return nil, fmt.Errorf("rendering %q: %w", texts[i], err)
		}
		out[i] = newPage(texts[i], blocks)
		if keep(i) {
			r.known[texts[i]] = out[i]
		}
	}
	return out, nil
}

func (r *renderer) answer() ([]block, error) {
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var blocks []block
	return blocks, json.Unmarshal(line, &blocks)
}

// html renders one text for people.
func (r *renderer) html(text string) string {
	line, err := json.Marshal(request{Text: text, HTML: true})
	if err != nil {
		return err.Error()
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		return err.Error()
	}
	blocks, err := r.answer()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, x := range blocks {
		b.WriteString(strings.TrimRight(x.html, "\n") + "\n")
	}
	return b.String()
}
