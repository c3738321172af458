//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
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

// A link to a file that is missing is not a missing configuration: the file may hide notes.
func TestADanglingLinkIsAnError(t *testing.T) {
	t.Setenv("RELAYFS_CONFIG", "")
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	read := func() error {
		_, err := Read("", false, &cobra.Command{}, func(*cobra.Command) *pflag.FlagSet { return &pflag.FlagSet{} })
		return err
	}
	if err := read(); err != nil {
		t.Errorf("without a file: %v", err)
	}
	file := filepath.Join(dir, "relayfs", "config.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.Symlink("elsewhere.toml", file)); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with a link: %v", err)
	}
}
