package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Every command line of relayfs names a command and flags that there are; so does every flag that stands for itself.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	m := &manual{sandbox: harness.NewSandbox(t), help: make(map[string]string)}
	checked := 0
	for _, p := range readPages(t) {
		var lines []string
		for _, b := range p.blocks {
			lines = append(lines, b.commands()...)
		}
		for _, span := range p.code {
			if flag, _, _ := strings.Cut(span, " "); strings.HasPrefix(flag, "-") && !m.anyHasFlag(t, "relayfs", flag) {
				t.Errorf("%s: no command has the flag %s", p.name, flag)
			}
			lines = append(lines, span)
		}
		for _, line := range lines {
			for _, words := range relayfsCommands(line) {
				m.check(t, p.name, words)
				checked++
			}
		}
	}
	if checked == 0 {
		t.Error("the pages hold no command line of relayfs")
	}
}

// Every setting that 'relayfs help settings' lists is in the reference.
func TestSettingsAreInTheReference(t *testing.T) {
	t.Parallel()
	m := &manual{sandbox: harness.NewSandbox(t), help: make(map[string]string)}
	listed := regexp.MustCompile(`(?m)^  ([a-z-]+) `).FindAllStringSubmatch(m.of(t, "relayfs settings"), -1)
	if len(listed) < 10 {
		t.Errorf("settings are listed as %q", listed)
	}
	for _, p := range readPages(t) {
		for _, l := range listed {
			if p.name == "docs/reference.md" && !slices.Contains(p.code, l[1]) {
				t.Errorf("%s lacks the setting %s", p.name, l[1])
			}
		}
	}
}

// commands are the lines of a block that a shell or systemd would run.
func (b block) commands() (lines []string) {
	switch language, _, _ := strings.Cut(b.info, " "); language {
	case "sh", "ini":
		return b.lines
	case "console":
		for _, line := range b.lines {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				lines = append(lines, command)
			}
		}
	}
	return lines
}

var endOfCommand = regexp.MustCompile(`(^|\s)([|&;]+|#.*|>.*)(\s|$)|;`)

// relayfsCommands are the words of each relayfs command in a line, behind the program's name.
func relayfsCommands(line string) (commands [][]string) {
	for _, command := range endOfCommand.Split(line, -1) {
		words := strings.Fields(command)
		for i, w := range words {
			if strings.HasSuffix("/"+w, "/relayfs") {
				commands = append(commands, words[i+1:])
				break
			}
		}
	}
	return commands
}

// manual is what the binary says of its commands.
type manual struct {
	sandbox *harness.Sandbox
	help    map[string]string // by the command's path
}

func (m *manual) of(t *testing.T, path string) string {
	t.Helper()
	text, ok := m.help[path]
	if !ok {
		text = m.sandbox.Run(t, append(strings.Fields(path)[1:], "--help")...).Stdout
		m.help[path] = text
	}
	return text
}

// below are the names of the commands below path that its help lists.
func (m *manual) below(t *testing.T, path string) (names []string) {
	t.Helper()
	_, list, _ := strings.Cut(m.of(t, path), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

// exists says whether path is a command, hidden ones included. The help of what is none is that of the command above it.
func (m *manual) exists(t *testing.T, path string) bool {
	t.Helper()
	return regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(path) + `( |$)`).MatchString(m.of(t, path))
}

var commandName = regexp.MustCompile(`^[a-z][a-z|-]*$`)

// check checks the words behind the program's name. A word accept|reject stands for both commands.
func (m *manual) check(t *testing.T, page string, words []string) {
	t.Helper()
	paths := []string{"relayfs"}
	for len(words) > 0 && m.below(t, paths[0]) != nil {
		word := strings.ReplaceAll(words[0], `\|`, "|") // in a table
		if !commandName.MatchString(word) {
			break
		}
		above := paths[0]
		paths, words = nil, words[1:]
		for name := range strings.SplitSeq(word, "|") {
			if path := above + " " + name; m.exists(t, path) {
				paths = append(paths, path)
			} else {
				t.Errorf("%s: there is no command %q", page, path)
				return
			}
		}
	}
	for _, w := range words {
		for _, path := range paths {
			if strings.HasPrefix(w, "-") && !hasFlag(m.of(t, path), w) {
				t.Errorf("%s: %q has no flag %s", page, path, w)
			}
		}
	}
}

// anyHasFlag says whether the command at path has the flag, or one below it.
func (m *manual) anyHasFlag(t *testing.T, path, flag string) bool {
	t.Helper()
	return hasFlag(m.of(t, path), flag) || slices.ContainsFunc(m.below(t, path), func(name string) bool {
		return m.anyHasFlag(t, path+" "+name, flag)
	})
}

// hasFlag says whether a help text lists a flag, given as --name, --name=VALUE or -x.
func hasFlag(help, flag string) bool {
	name, _, _ := strings.Cut(strings.Trim(flag, "[](),"), "=")
	return regexp.MustCompile(`(?m)^  +(-\w, )?` + regexp.QuoteMeta(name) + `[, \n]`).MatchString(help)
}
