package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
)

func newServiceCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Mount at every login",
		Long: `Service runs 'relayfs mount' with the configuration file at each login, through
systemd on Linux and launchd on macOS.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: showHelp,
	}
	cmd.AddCommand(newServiceInstallCommand(e),
		newManagerCommand("remove", "Unmount, and stop mounting at login", cli.PrintableWriter{W: e.stderr}, (*process.Manager).Remove),
		newManagerCommand("status", "Show the state of the service; exit code 1 if it is not running", e.stdout, (*process.Manager).Status))
	return cmd
}

func newManagerCommand(name, short string, w io.Writer, do func(*process.Manager, context.Context, io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := serviceManager()
			if err != nil {
				return err
			}
			return do(m, cmd.Context(), w)
		},
	}
}

func newServiceInstallCommand(e *env) *cobra.Command {
	var onlyPrint bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Mount now and at every login",
		Long: `Install writes a user unit for systemd, or an agent for launchd, and starts it. It
mounts the sources in the configuration file at the mountpoint there, which it
creates if needed. Install it again after you change the file or move the program:
that restarts the mount.`,
		Example: "  relayfs init ~/Notes\n  relayfs service install\n  relayfs service install --print",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := serviceManager()
			if err != nil {
				return err
			}
			if onlyPrint {
				unit, err := unitOf(e)
				if err != nil {
					return err
				}
				text, err := m.Text(unit)
				if err == nil {
					_, err = e.stdout.Write(text)
				}
				return err
			}
			_, mountpoint, err := e.config.MountArgs(nil)
			if err != nil {
				return err
			}
			return installService(cmd.Context(), e, mountpoint)
		},
	}
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "print the unit without installing it")
	return cmd
}

func unitOf(e *env) (u process.Unit, err error) {
	u.Config = e.config.File
	u.Program, err = programPath()
	return u, err
}

func installService(ctx context.Context, e *env, mountpoint string) error {
	m, err := serviceManager()
	if err != nil {
		return err
	}
	unit, err := unitOf(e)
	if err != nil {
		return err
	}
	if err := ensureMountpoint(mountpoint); err != nil {
		return err
	}
	return m.Install(ctx, cli.PrintableWriter{W: e.stderr}, unit)
}

// ensureMountpoint creates the mountpoint if it is missing. It uses Lstat, which also finds a dead mount; 'relayfs
// mount' removes a dead mount.
func ensureMountpoint(mountpoint string) error {
	if _, err := os.Lstat(mountpoint); errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(mountpoint, 0o700)
	}
	return nil
}

func serviceManager() (*process.Manager, error) {
	switch runtime.GOOS {
	case "linux":
		config, err := os.UserConfigDir()
		return process.Systemd(config), err
	case "darwin":
		home, err := os.UserHomeDir()
		return process.Launchd(home, os.Getuid()), err
	}
	return nil, cli.WithHint(fmt.Errorf("there is no service for %s", runtime.GOOS), "start 'relayfs mcp --http 127.0.0.1:7777' at login with the tools of the system")
}

// programPath returns the path of this program. It prefers the path that a search in PATH finds, because that path
// stays the same when a package manager installs another version.
func programPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Base(self))
	if err != nil {
		return self, nil
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(found)
	if errors.Join(errA, errB) != nil || !os.SameFile(a, b) {
		return self, nil
	}
	return filepath.Abs(found)
}
