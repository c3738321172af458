package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// View draws a line with the position, the content of the mode (such as the suggestion in context), and a message or
// the keys.
func (m reviewModel) View() string {
	if m.width == 0 {
		return "" // before the first WindowSizeMsg
	}
	head, foot := m.head(), m.foot()
	room := max(1, m.height-2) // the head and the foot have one line each
	var lines []string
	switch s := m.current(); {
	case s != nil && m.mode == reading:
		whole, at := m.noteLines(s)
		lines = m.cut(whole, at+m.lines-m.height/3, room)
	case m.mode == overviewMode:
		lines = m.cut(m.wrap(m.overview()), m.lines-m.height/2, room)
	case m.mode == historyMode:
		lines = m.cut(m.history.lines(m), m.history.at-m.height/2, room)
	default:
		lines = m.window(m.wrap(m.body()), max(1, m.height-lipgloss.Height(head)-lipgloss.Height(foot)-1))
	}
	return head + "\n" + strings.Join(lines, "\n") + "\n" + foot
}

func (m reviewModel) wrap(text string) []string {
	return strings.Split(lipgloss.NewStyle().Width(m.width).Render(strings.ReplaceAll(text, "\t", "    ")), "\n")
}

// window returns as many lines as fit into room: the first lines or, if the focus is further down, the lines around the
// focus. Scrolling moves the window.
func (m reviewModel) window(lines []string, room int) []string {
	top := 0
	if at := m.focus(); at > room-3 {
		top = at - room/2
	}
	if s := m.current(); s != nil && m.scrolled.id == s.ID {
		top += m.scrolled.by * m.screen()
	}
	return m.cut(lines, top, room)
}

// cut returns room lines, beginning with line top if enough lines follow it, and adds empty lines if needed. If there
// are more lines above or below, it replaces its first or last line by a marker.
func (m reviewModel) cut(lines []string, top, room int) []string {
	top = max(0, min(top, len(lines)-room))
	below := len(lines) - top - room
	lines = append([]string(nil), lines[top:min(top+room, len(lines))]...)
	if below > 0 {
		lines[room-1] = m.SGR(render.Faint, "… PgDn")
	}
	if top > 0 && room > 1 {
		lines[0] = m.SGR(render.Faint, "… PgUp")
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return lines
}

// screen returns the number of lines that PgDn moves. Some lines of the previous screen stay visible.
func (m reviewModel) screen() int { return max(1, m.height-5) }

// focus returns the number of the first changed line, which must be visible.
func (m reviewModel) focus() int {
	s := m.current()
	if s == nil || m.mode == helping {
		return 0
	}
	before := s.InPieces()
	if i := slices.IndexFunc(before, func(p reviewqueue.Piece) bool { return p.Kind != reviewqueue.UnchangedPiece }); i >= 0 {
		before = before[:i]
	}
	return len(m.wrap("\n"+strings.TrimSuffix(m.Drawn(s, before), "\n"))) - 1
}

func (m reviewModel) head() string {
	if !m.loaded {
		return "reading the notes …"
	}
	if len(m.visible) == 0 {
		return fmt.Sprintf("0 of %s%s", cli.Plural(len(m.all), "suggestion"), m.filterNote())
	}
	where := fmt.Sprintf("%d of %d", m.at+1, len(m.visible))
	return m.SGR(render.Bold, m.fit(where+m.filterNote()))
}

func (m reviewModel) filterNote() string {
	if m.filter == "" {
		return ""
	}
	return " with " + cli.OneLine(m.filter)
}

func (m reviewModel) body() string {
	s := m.current()
	switch {
	case m.mode == helping:
		return "\n" + Help
	case !m.loaded:
		return ""
	case s == nil && len(m.all) > 0 && m.filter == "":
		return "\nNo suggestions match the conditions with which this review was started."
	case s == nil && len(m.all) > 0:
		return "\nNo suggestions match. / changes the filter; / and then Esc removes it."
	case s == nil:
		return "\nThere is nothing to review."
	}
	return "\n" + m.Diff(s) + m.consequences(s)
}

func (m reviewModel) typed() string {
	return cli.Printable(m.field.before) + "▏" + cli.Printable(m.field.after)
}

func (m reviewModel) foot() string {
	switch m.mode {
	case filtering:
		return m.prompt("/" + m.typed())
	case asking:
		return m.prompt("another version, please: " + m.typed())
	case reading:
		return m.SGR(render.Faint, m.fit("j/k and PgDn/PgUp move · any other key goes back"))
	case overviewMode:
		return m.SGR(render.Faint, m.fit("j/k move · Enter goes there · any other key goes back"))
	case historyMode:
		return m.SGR(render.Faint, m.fit("j/k move · Enter undoes it · any other key goes back"))
	case reasoning:
		return m.prompt(fmt.Sprintf("%s because: %s", reviewqueue.Imperative(m.asked.Verdict), m.typed()))
	case confirming:
		if m.asked.Force {
			return m.prompt("The note has changed since. Accept anyway? y/n")
		}
		return m.prompt(fmt.Sprintf("%s %d suggestions of this note? y/n", reviewqueue.Imperative(m.asked.Verdict), len(m.asked.Shown)))
	case helping:
		return m.SGR(render.Faint, "any key goes back")
	case replaced:
		return m.prompt(strings.TrimPrefix(cli.OneLine(m.message)+"; ", "; ") + "the suggestion has changed, or is gone and the next one is shown: any key goes on")
	}
	if m.message != "" { // wrapped, because the end of the message is the next step
		lines := m.wrap(cli.OneLine(m.message))
		return strings.Join(lines[:min(len(lines), max(1, m.height/2))], "\n")
	}
	return m.SGR(render.Faint, m.fit("y/n accept/reject · e edit · u undo · j/k move · ? · q quit"))
}

// prompt wraps a question. If it does not fit, its end stays visible, where the user types.
func (m reviewModel) prompt(text string) string {
	lines := m.wrap(text)
	return strings.Join(lines[max(0, len(lines)-max(1, m.height/2)):], "\n")
}

func (m reviewModel) fit(text string) string {
	return lipgloss.NewStyle().MaxWidth(m.width).MaxHeight(1).Render(text)
}
