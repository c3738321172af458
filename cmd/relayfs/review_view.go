package main

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// View draws the review: a line on where we are, the suggestion in its context,
// and a line on what happened or what to press.
func (m reviewModel) View() string {
	if m.width == 0 {
		return "" // the size is yet to come
	}
	body := m.body()
	head, foot := m.head(), m.foot()
	room := max(1, m.height-lipgloss.Height(head)-lipgloss.Height(foot)-1)
	// Wrapped first: what is cut off must be lines of the screen.
	lines := strings.Split(lipgloss.NewStyle().Width(m.width).Render(strings.ReplaceAll(body, "\t", "    ")), "\n")
	if len(lines) > room {
		lines = append(lines[:room-1:room-1], m.sgr(sgrFaint, "…"))
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return head + "\n" + strings.Join(lines, "\n") + "\n" + foot
}

func (m reviewModel) head() string {
	if !m.loaded {
		return "reading the notes …"
	}
	if len(m.cards) == 0 {
		return fmt.Sprintf("0 of %s%s", plural(len(m.all), "suggestion"), m.filterNote())
	}
	where := fmt.Sprintf("%d of %d", m.at+1, len(m.cards))
	return m.sgr(sgrBold, m.fit(where+m.filterNote()))
}

func (m reviewModel) filterNote() string {
	if m.filter == "" {
		return ""
	}
	return " with " + printable(m.filter)
}

func (m reviewModel) body() string {
	s := m.current()
	switch {
	case m.mode == helping:
		return "\n" + reviewHelp
	case m.mode == editing:
		return "\n" + m.typed() + "\n"
	case !m.loaded:
		return ""
	case s == nil && len(m.all) > 0:
		return "\nNothing here matches. / changes the filter, Esc there removes it."
	case s == nil:
		return "\nNothing waits for review."
	}
	return "\n" + m.diff(s)
}

// typed shows the text in the editor with its cursor.
func (m reviewModel) typed() string {
	cursor := "▏"
	return printable(m.field.before) + cursor + printable(m.field.after)
}

func (m reviewModel) foot() string {
	switch m.mode {
	case editing:
		return m.sgr(sgrFaint, m.fit("Ctrl-S puts this text in the note · Esc leaves the suggestion as it is"))
	case filtering:
		return m.fit("/" + m.typed())
	case reasoning:
		return m.fit(fmt.Sprintf("%s because: %s", imperative(m.asked.Verdict), m.typed()))
	case confirming:
		if m.asked.Force {
			return m.fit("It changed since this was proposed. Accept all the same? y/n")
		}
		return m.fit(fmt.Sprintf("%s %d suggestions of this note? y/n", imperative(m.asked.Verdict), len(m.asked.IDs)))
	case helping:
		return m.sgr(sgrFaint, "any key goes back")
	}
	if m.message != "" {
		return m.fit(printable(m.message))
	}
	return m.sgr(sgrFaint, m.fit("y accept · n reject · e edit · u undo · j/k next/previous · ? more · q quit"))
}

// fit keeps text on one line of the screen.
func (m reviewModel) fit(text string) string {
	return lipgloss.NewStyle().MaxWidth(m.width).MaxHeight(1).Render(text)
}
