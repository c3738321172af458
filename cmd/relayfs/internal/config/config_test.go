//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestANamedPipeIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Read(file, false, &cobra.Command{}, func(*cobra.Command) *pflag.FlagSet { return &pflag.FlagSet{} })
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Errorf("Read returned %v, want an error about a named pipe", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Read waits for a writer of the named pipe")
	}
}
