package mcp

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// With the setting embeddings, search finds notes by their meaning in every language, whatever the toolset.
func TestEmbeddingsInEachToolset(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []vector `json:"data"`
		}
		for i, text := range req.Input {
			v := []float32{0, 1}
			if strings.Contains(text, "slugs") || strings.Contains(text, "Schnecken") {
				v = []float32{1, 0}
			}
			answer.Data = append(answer.Data, vector{i, v})
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	for toolset, tool := range map[string]string{"claude": "search", "notes": "semantic_search"} {
		s := harness.NewSandbox(t)
		vault := s.Vault(t, "Vault", map[string]string{"Salat.md": "Schnecken fressen den Salat.\n", "Boot.md": "Das Boot liegt am Ufer.\n"})
		c := s.MCP(t, "--toolsets", toolset, vault, "RELAYFS_EMBEDDINGS="+server.URL, "RELAYFS_EMBEDDINGS_MODEL=m")
		if got := c.MustCall(t, tool, "query", "slugs", "limit", 1); !strings.Contains(got, "Vault/Salat.md") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// With a real model behind --embeddings, search answers questions that share hardly a word with their notes.
func TestRealEmbeddings(t *testing.T) {
	t.Parallel()
	python := filepath.Join(harness.RequireCached(t, "embeddings"), "bin", "python")
	server := exec.Command(python, "testdata/embeddings.py")
	_, out := harness.StartPiped(t, server)
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it says that it was killed
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the server of the model does not start: ", err)
	}
	archive, err := txtar.ParseFile("../../bridge/index/semantic/testdata/heldout/english.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	c := s.MCP(t, s.Vault(t, "Vault", files), "RELAYFS_EMBEDDINGS="+strings.TrimSpace(address), "RELAYFS_EMBEDDINGS_MODEL=wordllama")
	asked, found := 0, 0
	for line := range strings.Lines(string(archive.Comment)) {
		question, answers, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		asked++
		res := c.Call(t, "search", "query", question, "limit", 5)
		if res.IsError || strings.Contains(res.Text, "by meaning") {
			t.Fatalf("search %q: %s", question, res.Text)
		}
		for answer := range strings.SplitSeq(answers, "; ") {
			if strings.Contains("\n"+res.Text, "\nVault/"+answer) {
				found++
				break
			}
		}
	}
	t.Logf("%d of %d questions are answered in the first five", found, asked)
	if want := 30; found < want { // words alone answer 11
		t.Errorf("%d of %d questions are answered in the first five, want %d", found, asked, want)
	}
}
