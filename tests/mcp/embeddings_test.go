package mcp

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

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
