package tui

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

type noteMsg struct {
	of   string // ID of the suggestion
	note reviewqueue.Note
	err  error
}

func (c commands) note(s *reviewqueue.Suggestion) tea.Cmd {
	id, path := s.ID, s.Path
	return func() tea.Msg {
		n, err := c.q.Note(c.ctx, path)
		return noteMsg{id, n, err}
	}
}

// hasText reports whether the suggestion has a note to read. Among proposals, only the deletion of a note has such a
// note.
func hasText(s *reviewqueue.Suggestion) bool {
	return !s.IsProposal() || s.Kind == string(model.ProposedDelete) && !s.Dir && strings.HasSuffix(s.Path, ".md")
}

// readNeeded returns the command that reads the note of the current suggestion. It returns nil if the screen needs no
// note, or if the note was read already.
func (m reviewModel) readNeeded() tea.Cmd {
	s := m.current()
	if s == nil || !hasText(s) || m.read.of == s.ID || !s.IsProposal() && m.mode != reading {
		return nil
	}
	return m.cmds.note(s)
}

// consequences draws the effect of a proposal: the text that a deletion removes, or the links that change with a
// rename.
func (m reviewModel) consequences(s *reviewqueue.Suggestion) string {
	var b strings.Builder
	switch {
	case !s.IsProposal():
	case hasText(s) && m.read.of != s.ID:
		b.WriteString("\nreading the note …\n")
	case hasText(s) && m.read.err != nil:
		fmt.Fprintf(&b, "\nThe note cannot be read: %s\n", cli.OneLine(m.read.err.Error()))
	case hasText(s):
		b.WriteString("\nText that is lost:\n\n" + m.Text([]reviewqueue.Piece{{Kind: reviewqueue.OldPiece, Text: m.read.note.Text}}))
	default:
		for i := range m.all {
			if x := &m.all[i]; x.Proposal == s.ID {
				if b.Len() == 0 {
					b.WriteString("\nLinks that change with it:\n")
				}
				fmt.Fprintf(&b, "    %s  %s\n", cli.OneLine(x.Place()), m.Text([]reviewqueue.Piece{{Kind: reviewqueue.OldPiece, Text: x.Old}, {Kind: reviewqueue.NewPiece, Text: x.New}}))
			}
		}
	}
	return b.String()
}

func (m reviewModel) noteLines(s *reviewqueue.Suggestion) (lines []string, at int) {
	switch {
	case m.read.of != s.ID:
		return []string{"reading the note …"}, 0
	case m.read.err != nil:
		return m.wrap(cli.OneLine(m.read.err.Error())), 0
	}
	before, rest := m.read.note.InPieces(s.ID)
	return m.wrap(m.Text(append(before[:len(before):len(before)], rest...))), len(m.wrap(m.Text(before))) - 1
}

// step returns the number of lines that a key scrolls, or 0 if the key does not scroll.
func step(k tea.KeyMsg, screen int) int {
	switch k.String() {
	case "j", "down":
		return 1
	case "k", "up":
		return -1
	case "pgdown", "ctrl+f":
		return screen
	case "pgup", "ctrl+b":
		return -screen
	}
	return 0
}

func (m reviewModel) readKey(k tea.KeyMsg) tea.Model {
	by, s := step(k, m.screen()), m.current()
	if k.String() == " " {
		by = m.screen()
	}
	if by == 0 || s == nil {
		m.mode = browsing
		return m
	}
	lines, at := m.noteLines(s)
	m.lines = max(-at, min(m.lines+by, len(lines)-at)) // relative to the line of the suggestion
	return m
}

type noteGroup struct {
	path  string // "" for the group of all proposals
	first int    // index of the first suggestion of the group
	count int
}

func (d *suggestionList) groups() []noteGroup {
	var list []noteGroup
	index := make(map[string]int)
	for i := range d.visible {
		path := d.visible[i].Path
		if d.visible[i].IsProposal() {
			path = ""
		}
		at, ok := index[path]
		if !ok {
			at = len(list)
			index[path] = at
			list = append(list, noteGroup{path: path, first: i})
		}
		list[at].count++
	}
	return list
}

func (d *suggestionList) currentGroup(list []noteGroup) int {
	at := 0
	for i, p := range list {
		if p.first <= d.at {
			at = i
		}
	}
	return at
}

func item(p render.Painter, text string, marked bool) string {
	if marked {
		return p.SGR(render.Bold, "> "+text)
	}
	return "  " + text
}

func (m reviewModel) overview() string {
	var b strings.Builder
	places := m.groups()
	at := min(m.lines, len(places)-1)
	for i, p := range places {
		name := cmp.Or(cli.OneLine(p.path), "Renames, deletions, files")
		b.WriteString(item(m.Painter, fmt.Sprintf("%4d  %s", p.count, name), i == at) + "\n")
	}
	for i, t := range m.threads {
		if i == 0 {
			b.WriteString("\nComments in the text:\n")
		}
		b.WriteString("      " + cli.OneLine(t.Place()) + "  " + t.Comments[len(t.Comments)-1].OneLine() + "\n")
	}
	return b.String()
}

func (m reviewModel) overviewKey(k tea.KeyMsg) tea.Model {
	list := m.groups()
	if by := step(k, m.screen()); by != 0 {
		m.lines = max(0, min(m.lines+by, len(list)+len(m.threads)-1)) // the rows below the groups can only be scrolled
		return m
	}
	if m.mode = browsing; k.String() == "enter" && len(list) > 0 {
		m.at = list[min(m.lines, len(list)-1)].first
	}
	return m
}

// suspend stops the process group, as Ctrl-Z does outside of raw mode. (tea.Suspend waits forever if no shell can
// continue the group: the kernel then ignores the signal.)
func suspend() tea.Cmd {
	return tea.ExecProcess(exec.Command("sh", "-c", "kill -TSTP 0"), func(error) tea.Msg { return nil })
}

type editedMsg struct {
	id, revision string // of the suggestion when the editor was started
	text, file   string
	err          error
}

func inEditor(id, revision, text string) tea.Cmd {
	cmd, file, err := editorOf(text)
	if err != nil {
		os.Remove(file)
		return func() tea.Msg { return editedMsg{err: err} }
	}
	return tea.ExecProcess(cmd, func(ended error) tea.Msg {
		edited, err := readEdited(file, text, ended)
		return editedMsg{id, revision, edited, file, err}
	})
}

// readEdited returns the text that the user has made of text in file. ended is the error of the editor. A changed text stays
// in its file if readEdited returns an error.
func readEdited(file, text string, ended error) (string, error) {
	data, err := os.ReadFile(file)
	edited := string(data)
	if !strings.HasSuffix(text, "\n") { // editors add a line break at the end
		edited = strings.TrimSuffix(strings.TrimSuffix(edited, "\n"), "\r")
	}
	switch {
	case err != nil:
		return "", err
	case edited == text:
		os.Remove(file)
		if ended != nil {
			return "", fmt.Errorf("the editor %s: %w; set $EDITOR to another editor", theEditor(), ended)
		}
		return "", errors.New("nothing was changed")
	case ended != nil:
		return "", fmt.Errorf("the editor %s: %w; the text is in %s", theEditor(), ended, file)
	case !utf8.ValidString(edited): // encoding/json would replace the user's characters
		return "", fmt.Errorf("the text is not UTF-8; it is in %s", file)
	}
	return edited, nil
}

func theEditor() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi") }

// editorOf returns the command that edits text, and the file in which it does so.
func editorOf(text string) (*exec.Cmd, string, error) {
	f, err := os.CreateTemp("", "relayfs-*.md")
	if err != nil {
		return nil, "", err
	}
	_, err = f.WriteString(text)
	// A shell runs the command, as in git. Windows need not have one.
	cmd := exec.Command("sh", "-c", theEditor()+` "$@"`, "sh", f.Name())
	if words := strings.Fields(theEditor()); runtime.GOOS == "windows" && len(words) > 0 {
		cmd = exec.Command(words[0], append(words[1:], f.Name())...)
	}
	return cmd, f.Name(), errors.Join(err, f.Close())
}
