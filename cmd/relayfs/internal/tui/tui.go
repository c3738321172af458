// Package tui reviews suggestions one by one in a terminal.
//
// It is a bubbletea program. The reviewModel (model.go) is
// a value: update takes a message and returns the next reviewModel and what to do;
// view draws it. What is done happens in commands, functions that bubbletea runs
// on goroutines of their own and whose results come back as messages:
//
//	key ──> update ──> command: decide, undo, list (on the queue)
//	          ^            │
//	          └── message ─┘ outcomeMsg, listMsg, changedMsg, errMsg
//
// One command always waits for the workspace to change, and the list is read
// again when it did, whoever changed it.
package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
)

// Run reviews what sel chooses of q until the person quits or ctx ends.
func Run(ctx context.Context, q queue.Queue, sel queue.Selector, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(sel, render.NewPainter(out), commands{ctx, q, queue.Reviewer()})
	// Signals end ctx (main.go). bubbletea's own handler beside it would deadlock: it sends to a loop that ctx has already ended.
	final, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen()).Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = nil // every decision made is kept
	}
	if err != nil {
		return err
	}
	if m, ok := final.(reviewModel); ok {
		fmt.Fprintln(out, m.summary())
	}
	return nil
}

// Messages of the commands.
type (
	listMsg struct {
		number int
		list   []queue.Suggestion
		err    error
	}
	outcomeMsg struct{ queue.Outcome }
	changedMsg struct {
		now  uint64
		lost error // the owner does not answer
	}
	errMsg struct{ err error } // a decision or an undo that did not happen
)

// commands do what the review asks for, outside of the reviewModel.
type commands struct {
	ctx context.Context // of the program
	q   queue.Queue
	by  string
}

// list reads the queue; number says which reading it is.
func (c commands) list(number int) tea.Cmd {
	return func() tea.Msg {
		list, err := c.q.List(c.ctx, true)
		return listMsg{number, list, err}
	}
}

func (c commands) decide(r queue.DecideRequest) tea.Cmd {
	r.By = c.by
	return func() tea.Msg {
		out, err := c.q.Decide(c.ctx, r)
		if err != nil {
			return errMsg{err}
		}
		return outcomeMsg{out}
	}
}

// undo takes batch back.
func (c commands) undo(batch string) tea.Cmd {
	return func() tea.Msg {
		out, err := c.q.Undo(c.ctx, queue.UndoRequest{Batch: batch, By: c.by})
		if err != nil {
			return errMsg{err}
		}
		return outcomeMsg{out}
	}
}

// retryEvery is how often an owner that does not answer is asked again.
const retryEvery = 2 * time.Second

// watch waits for the workspace to change, at most once in settle so that a
// burst of changes is read once.
func (c commands) watch(seen uint64) tea.Cmd {
	return func() tea.Msg {
		now, err := c.q.Changed(c.ctx, seen)
		if err != nil {
			wait(c.ctx, retryEvery)
			return changedMsg{seen, err}
		}
		wait(c.ctx, settle)
		return changedMsg{now: now}
	}
}

const settle = 50 * time.Millisecond

// wait returns after d or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
