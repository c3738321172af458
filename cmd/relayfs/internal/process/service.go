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

// Unit is what a service runs.
type Unit struct {
	Program string // absolute path
	Config  string // configuration file; "" for the default
	Log     string // file for its messages, where the manager keeps none; set by Text
}

// Manager starts services at login.
type Manager struct {
	file    string // where it looks for the service
	unit    string // template
	log     string
	control string // program that it is told with
	// Arguments of control. removed is for after the file is gone.
	start         [][]string
	stop, removed []string
	status        []string
	journal       string // command that shows the service's messages
}

// Systemd returns the manager of a Linux user with this configuration folder.
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

// Launchd returns the manager of a macOS user with this home folder.
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

// systemd quotes a word of a unit. systemd reads Go's escapes, and replaces what begins with a percent sign.
func systemd(word string) string { return strings.ReplaceAll(strconv.Quote(word), "%", "%%") }

// systemdArg quotes an argument of ExecStart. Other than in the program's path, systemd replaces variables there.
func systemdArg(word string) string { return strings.ReplaceAll(systemd(word), "$", "$$") }

// Text returns the file that tells the manager of u.
func (m *Manager) Text(u Unit) ([]byte, error) {
	u.Log = m.log
	var text bytes.Buffer
	err := templates.ExecuteTemplate(&text, m.unit, u)
	return text.Bytes(), err
}

// mark stands in every file that Install writes. Other files are somebody else's.
const madeByRelayfs = "Made by relayfs"

// installed reports whether Install has written the file. Somebody else's file is an error.
func (m *Manager) installed() (bool, error) {
	text, err := os.ReadFile(m.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Contains(text, []byte(madeByRelayfs)):
		return false, cli.WithHint(fmt.Errorf("%q was not made by relayfs and is left as it is", m.file), "move it away first")
	}
	return true, nil
}

// Install writes the service of u, instead of one that it has written before, and starts it. It says on w what it did.
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
		_ = m.run(ctx, w, m.stop) // an error if it was not running
	}
	for _, args := range m.start {
		if err := m.run(ctx, w, args); err != nil {
			return cli.WithHint(err, "'"+m.journal+"' shows what relayfs said; 'relayfs service remove' undoes this")
		}
	}
	fmt.Fprintln(w, "'relayfs service remove' undoes this")
	return nil
}

// Remove stops the service and removes what Install has written. It says on w what it did.
func (m *Manager) Remove(ctx context.Context, w io.Writer) error {
	switch there, err := m.installed(); {
	case err != nil:
		return err
	case !there:
		return cli.WithHint(fmt.Errorf("no service is installed: %q does not exist", m.file), "'relayfs service install' installs one")
	}
	stopped := m.run(ctx, w, m.stop)
	if err := os.Remove(m.file); err != nil {
		return err
	}
	fmt.Fprintf(w, "removed %s\n", m.file)
	return errors.Join(stopped, m.run(ctx, w, m.removed))
}

// Status has the manager print on w what it knows of the service. It is an error if that does not run.
func (m *Manager) Status(ctx context.Context, w io.Writer) error {
	cmd := exec.CommandContext(ctx, m.control, m.status...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return cli.WithHint(fmt.Errorf("the service does not run: %s: %w", strings.Join(cmd.Args, " "), err), "'relayfs service install' installs and starts it")
	}
	return nil
}

// run calls the manager's program, and says so on w. No arguments are no call. A machine without the program is told
// what to do there.
func (m *Manager) run(ctx context.Context, w io.Writer, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, m.control, args...)
	line := strings.Join(cmd.Args, " ")
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		fmt.Fprintf(w, "%s is not installed here; where it is, call: %s\n", m.control, line)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w: %s", line, err, bytes.TrimSpace(out))
	}
	fmt.Fprintln(w, line)
	return nil
}
