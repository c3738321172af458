// Package tui is the review in a terminal: Run shows pending suggestions one by one.
//
// It is a bubbletea program. A reviewModel (model.go) is an immutable value: Update takes a message and returns the
// next reviewModel and a command, and View draws it. bubbletea runs commands on goroutines and passes their results to
// Update as messages:
//
//	key ──> Update ──> command: decide, comment, undo, list, note, history (calls of the Queue)
//	          ^            │
//	          └── message ─┘ outcomeMsg, listMsg, noteMsg, historyMsg, editedMsg, errMsg
//
// A goroutine follows the changes that the owner reports (changedMsg); each causes a new read of the list. Keys typed
// during a decision, a comment or an undo wait for its result, so that each key decides on the suggestion for which it
// was typed.
// The Queue, a client of the owner, makes decisions; package render draws suggestions.
package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// Queue is the part of api.Client that a review needs.
type Queue interface {
	List(ctx context.Context, detailed bool) ([]reviewqueue.Suggestion, error)
	Threads(ctx context.Context, glob string) ([]reviewqueue.Thread, error)
	Note(ctx context.Context, path string) (reviewqueue.Note, error)
	Comment(ctx context.Context, r reviewqueue.CommentRequest) (reviewqueue.Outcome, error)
	Decide(ctx context.Context, r reviewqueue.DecideRequest) (reviewqueue.Outcome, error)
	Undo(ctx context.Context, r reviewqueue.UndoRequest) (reviewqueue.Outcome, error)
	Log(ctx context.Context, limit int) ([]reviewqueue.LogEntry, error)
	Follow(ctx context.Context, seen uint64, notify func(reviewqueue.Change) error) error
}

// Run reviews the suggestions that sel selects, until the user quits or ctx ends.
func Run(ctx context.Context, q Queue, sel reviewqueue.Selector, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(sel, render.NewPainter(out), commands{ctx, q})
	// A signal ends ctx (main.go). bubbletea's own signal handler would deadlock, because it sends to a loop that has
	// already ended with ctx.
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen())
	go m.cmds.follow(p.Send)
	final, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = nil
	}
	if err != nil {
		return err
	}
	if m, ok := final.(reviewModel); ok {
		fmt.Fprintln(out, m.summary())
	}
	return nil
}

type (
	listMsg struct {
		number  int
		list    []reviewqueue.Suggestion
		threads []reviewqueue.Thread
		err     error
	}
	outcomeMsg struct{ reviewqueue.Outcome }
	changedMsg struct {
		moved bool  // whether something has changed; otherwise the owner only responds again
		err   error // set if the owner does not respond
	}
	errMsg struct{ err error } // the error of a failed request to the Queue
)

type commands struct {
	ctx context.Context // context of the program
	q   Queue
}

// list returns a command that reads the queue. number identifies the read; see reviewModel.lists.
func (c commands) list(number int) tea.Cmd {
	return func() tea.Msg {
		list, err := c.q.List(c.ctx, true)
		if err != nil {
			return listMsg{number: number, err: err}
		}
		threads, err := c.q.Threads(c.ctx, "")
		return listMsg{number, list, threads, err}
	}
}

func (c commands) decide(r reviewqueue.DecideRequest) tea.Cmd {
	return func() tea.Msg { return outcomeOf(c.q.Decide(c.ctx, r)) }
}

// amend replaces the suggestion that was edited. The file with the user's text stays if the replacement fails.
func (c commands) amend(e editedMsg) tea.Cmd {
	r := reviewqueue.DecideRequest{Shown: map[string]string{e.id: e.revision}, Verdict: model.Changed, Text: &e.text}
	return func() tea.Msg {
		out, err := c.q.Decide(c.ctx, r)
		if err != nil {
			return errMsg{fmt.Errorf("%w; your text is in %s", err, e.file)}
		}
		os.Remove(e.file)
		return outcomeMsg{out}
	}
}

func (c commands) undo(r reviewqueue.UndoRequest) tea.Cmd {
	return func() tea.Msg { return outcomeOf(c.q.Undo(c.ctx, r)) }
}

func (c commands) comment(id, text string) tea.Cmd {
	return func() tea.Msg {
		return outcomeOf(c.q.Comment(c.ctx, reviewqueue.CommentRequest{Suggestion: id, Text: text}))
	}
}

func outcomeOf(out reviewqueue.Outcome, err error) tea.Msg {
	if err != nil {
		return errMsg{err}
	}
	return outcomeMsg{out}
}

const retryEvery = 2 * time.Second

func (c commands) follow(send func(tea.Msg)) {
	var seen uint64
	for c.ctx.Err() == nil {
		err := c.q.Follow(c.ctx, seen, func(d reviewqueue.Change) error {
			seen = d.Now
			send(changedMsg{moved: len(d.Paths) > 0})
			return nil
		})
		if err != nil {
			send(changedMsg{err: err})
		}
		select {
		case <-time.After(retryEvery):
		case <-c.ctx.Done():
		}
	}
}
