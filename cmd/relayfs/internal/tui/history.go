package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

const recent = 200

type historyMsg struct {
	list []undoable
	err  error
}

type history struct {
	list []undoable
	at   int
}

type undoable struct {
	batch string
	id    string // ID of a suggestion, or "" for the whole batch
	text  string
}

func (c commands) history() tea.Cmd {
	return func() tea.Msg {
		log, err := c.q.Log(c.ctx, recent)
		return historyMsg{undoablesOf(log), err}
	}
}

// undoablesOf returns the undoable entries of a log, newest first: each batch, and after it the suggestions of the
// batch if there are several.
func undoablesOf(log []reviewqueue.LogEntry) (list []undoable) {
	log = slices.DeleteFunc(slices.Clone(log), func(x reviewqueue.LogEntry) bool { return !x.Undoable() })
	for _, batch := range reviewqueue.Batches(log) {
		list = append(list, undoablesOfBatch(batch)...)
	}
	return list
}

func undoablesOfBatch(entries []reviewqueue.LogEntry) []undoable {
	first := &entries[0]
	whole := undoable{batch: first.Batch}
	var items []undoable
	for i := range entries {
		x := &entries[i]
		for k := range x.Suggestions {
			if s := &x.Suggestions[k]; !s.Undone {
				it := s.AsSuggestion(x.Path)
				items = append(items, undoable{x.Batch, s.ID, cli.OneLine(it.Place() + "  " + it.Summary())})
			}
		}
	}
	when := fmt.Sprintf("%s  %s", first.Time.Local().Format("15:04"), first.Action)
	switch len(items) {
	case 0:
		whole.text = when + "  " + cli.OneLine(first.Path)
		return []undoable{whole}
	case 1:
		whole.text = when + "  " + items[0].text
		return []undoable{whole}
	}
	whole.text = when + "  " + cli.Plural(len(items), "suggestion")
	for i := range items {
		items[i].text = "         " + items[i].text
	}
	return append([]undoable{whole}, items...)
}

func (h history) lines(m reviewModel) []string {
	lines := make([]string, len(h.list))
	for i, x := range h.list {
		lines[i] = m.fit(item(m.Painter, x.text, i == h.at))
	}
	return lines
}

func (m reviewModel) historyKey(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	h := &m.history
	if by := step(k, m.screen()); by != 0 {
		h.at = max(0, min(h.at+by, len(h.list)-1))
		return m, nil
	}
	if m.mode = browsing; k.String() == "enter" {
		return m.undoEntry(h.list[h.at])
	}
	return m, nil
}

func (m reviewModel) undoEntry(x undoable) (tea.Model, tea.Cmd) {
	r := reviewqueue.UndoRequest{Batch: x.batch}
	if x.id != "" {
		r.IDs = []string{x.id}
	} else {
		m.done = slices.DeleteFunc(slices.Clone(m.done), func(batch string) bool { return batch == x.batch })
	}
	m.busy, m.lists = true, m.lists+1
	return m, m.cmds.undo(r)
}
