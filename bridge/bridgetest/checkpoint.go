package bridgetest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Checkpoint is the checkpoint file of a store whose log is on a simulated disk, for tests of crashes. Its methods are
// callbacks for store.Options.
type Checkpoint struct {
	path    string
	content []byte
	t       testing.TB
}

// NewCheckpoint returns a checkpoint file. content is the Content of a stopped machine, or nil for a new store.
func NewCheckpoint(t testing.TB, content []byte) *Checkpoint {
	t.Helper()
	c := &Checkpoint{filepath.Join(Scratch(t), "store.db"), bytes.Clone(content), t}
	if err := os.WriteFile(c.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// OpenFile opens the file and ignores the given name.
func (c *Checkpoint) OpenFile(_ string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(c.path, flag, perm)
}

func (c *Checkpoint) Committed() {
	content, err := os.ReadFile(c.path)
	if err != nil {
		c.t.Error(err)
	}
	c.content = content
}

func (c *Checkpoint) Content() []byte { return c.content }
