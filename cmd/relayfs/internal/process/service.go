package process

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

type Unit struct {
	Program string // absolute path
	Config  string // configuration file; "" means the default
	Log     string // log file for launchd; Text sets it
}

type Manager struct {
	file    string // path of the service file
	unit    string // name of the unit, for templates
	log     string
	control string // name of the program that controls the manager
	// The next four fields are lists of arguments for control. removed is for the call after the removal of the service
	// file.
	start         [][]string
	stop, removed []string
	status        []string
	journal       string // command that shows the service's log
}

// Systemd returns the Manager for systemd. configDir is the user's configuration folder.
func Systemd(configDir string) *Manager {
	const unit = "relayfs.service"
	reload := []string{"--user", "daemon-reload"}
	return &Manager{
		file: filepath.Join(configDir, "systemd", "user", unit), unit: unit, control: "systemctl",
		start:   [][]string{reload, {"--user", "enable", "--now", unit}},
		stop:    []string{"--user", "disable", "--now", unit},
		removed: reload,
		status:  []string{"--user", "--no-pager", "status", unit},
		journal: "journalctl --user -u relayfs",
	}
}

func Launchd(home string, uid int) *Manager {
	domain := "gui/" + strconv.Itoa(uid)
	log := filepath.Join(home, "Library", "Logs", "relayfs.log")
	file := filepath.Join(home, "Library", "LaunchAgents", "io.github.relayfs.plist")
	return &Manager{
		file: file, unit: "relayfs.plist", log: log, control: "launchctl",
		start:   [][]string{{"bootstrap", domain, file}},
		stop:    []string{"bootout", domain + "/io.github.relayfs"},
		status:  []string{"print", domain + "/io.github.relayfs"},
		journal: "cat " + strconv.Quote(log),
	}
}

//go:embed relayfs.service relayfs.plist
var units embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"systemd": systemd, "systemdArg": systemdArg}).ParseFS(units, "*"))

// systemd quotes a word of a unit file. The unit format has the same escapes as Go, but a percent sign must be doubled.
func systemd(word string) string { return strings.ReplaceAll(strconv.Quote(word), "%", "%%") }

// systemdArg quotes an argument of ExecStart, in which a dollar sign must be doubled as well.
func systemdArg(word string) string { return strings.ReplaceAll(systemd(word), "$", "$$") }

func (m *Manager) Text(u Unit) ([]byte, error) {
	u.Log = m.log
	var text bytes.Buffer
	err := templates.ExecuteTemplate(&text, m.unit, u)
	return text.Bytes(), err
}

const madeByRelayfs = "Made by relayfs"

// installed reports whether the service file exists. It returns an error for a file that was not written by Install.
func (m *Manager) installed() (bool, error) {
	text, err := os.ReadFile(m.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Contains(text, []byte(madeByRelayfs)):
		return false, cli.WithHint(fmt.Errorf("%q was not made by relayfs and was not changed", m.file), "move it away first")
	}
	return true, nil
}

// Install writes the service file for u, replacing an existing service file, and starts the service. It reports each
// step on w.
func (m *Manager) Install(ctx context.Context, w io.Writer, u Unit) error {
	text, err := m.Text(u)
	if err != nil {
		return err
	}
	before, err := m.installed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(m.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(m.file, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s\n", m.file)
	if before {
		_ = m.run(ctx, w, m.stop) // fails if the service was not running
	}
	for _, args := range m.start {
		if err := m.run(ctx, w, args); err != nil {
			return cli.WithHint(err, "'"+m.journal+"' shows relayfs's log; 'relayfs service remove' undoes the installation")
		}
	}
	fmt.Fprintln(w, "'relayfs service remove' undoes the installation")
	return nil
}

// Remove stops the service and removes its file. It reports each step on w.
func (m *Manager) Remove(ctx context.Context, w io.Writer) error {
	switch exists, err := m.installed(); {
	case err != nil:
		return err
	case !exists:
		return cli.WithHint(fmt.Errorf("no service is installed: %q does not exist", m.file), "'relayfs service install' installs one")
	}
	stopped := m.run(ctx, w, m.stop)
	if err := os.Remove(m.file); err != nil {
		return err
	}
	fmt.Fprintf(w, "removed %s\n", m.file)
	return errors.Join(stopped, m.run(ctx, w, m.removed))
}

// Status prints the manager's report about the service on w. It returns an error if the service is not running.
func (m *Manager) Status(ctx context.Context, w io.Writer) error {
	cmd := exec.CommandContext(ctx, m.control, m.status...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return cli.WithHint(fmt.Errorf("the service is not running: %s: %w", strings.Join(cmd.Args, " "), err), "'relayfs service install' installs and starts it")
	}
	return nil
}

// run runs the manager's program with args, if there are any, and prints the command line on w. If the program is
// missing, as in a container, run only prints the command line, so that the user can run it later.
func (m *Manager) run(ctx context.Context, w io.Writer, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, m.control, args...)
	line := strings.Join(cmd.Args, " ")
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		fmt.Fprintf(w, "%s is not installed here; on a machine that has it, run: %s\n", m.control, line)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w: %s", line, err, bytes.TrimSpace(out))
	}
	fmt.Fprintln(w, line)
	return nil
}
