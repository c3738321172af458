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
		Long: `Service runs 'relayfs mount', with what the configuration file says, whenever you
log in: through systemd on Linux, launchd on macOS.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: showHelp,
	}
	cmd.AddCommand(newServiceInstallCommand(e),
		newManagerCommand("remove", "End the mount, and mount no more at login", cli.PrintableWriter{W: e.stderr}, (*process.Manager).Remove),
		newManagerCommand("status", "What systemd or launchd knows of the service; exit code 1 if it does not run", e.stdout, (*process.Manager).Status))
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
mounts the sources of the configuration file at its mountpoint, which is made if
it is missing. After a change of the file, or of the program's place, install it
again: that restarts the mount.`,
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
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "print the unit, and change nothing")
	return cmd
}

// unitOf is the service of the configuration file.
func unitOf(e *env) (u process.Unit, err error) {
	u.Config = e.config.File
	u.Program, err = programPath()
	return u, err
}

// installService mounts what the configuration file says at its mountpoint, now and at every login.
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

// ensureMountpoint makes a mountpoint. A dead mount is there, too: mount clears it.
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
	return nil, cli.WithHint(fmt.Errorf("there is no service for %s", runtime.GOOS), "have 'relayfs mcp --http 127.0.0.1:7777' started at login by what the system has for that")
}

// programPath returns the path of this program by which PATH finds it, if it does. That one stays when a package manager
// installs another version.
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
