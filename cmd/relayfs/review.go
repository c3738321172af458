package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/mcpserver"
)

// The interactive review is a bubbletea program. The model (review_model.go) is
// a value: update takes a message and returns the next model and what to do;
// view draws it. What is done happens in commands, functions that bubbletea runs
// on goroutines of their own and whose results come back as messages:
//
//	key ──> update ──> command: decide, undo, list (on the queue)
//	          ^            │
//	          └── message ─┘ outcomeMsg, listMsg, changedMsg, errMsg
//
// One command always waits for the workspace to change, and the list is read
// again when it did, whoever changed it.

func newReviewCommand(e *env) *cobra.Command {
	var f queueFlags
	var sel queue.Selector
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions one by one in the terminal",
		Long:  "Review shows the pending suggestions one by one.\n\n" + reviewHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sel.Check(nil); err != nil {
				return err
			}
			return runReview(cmd.Context(), e, &f, sel, args)
		},
	}
	registerSelector(cmd, &sel)
	f.registerState(cmd)
	f.log.register(cmd)
	return cmd
}

// runReview reviews the queue of the running owner, or owns the workspace while
// the review lasts, so that what others change meanwhile is seen.
func runReview(ctx context.Context, e *env, f *queueFlags, sel queue.Selector, sources []string) error {
	in, inOK := e.stdin.(*os.File)
	out, outOK := e.stdout.(*os.File)
	if !inOK || !outOK || !output.IsTerminal(in) || !output.IsTerminal(out) {
		return clierr.Usagef("review needs a terminal; 'relayfs suggestions list', 'show', 'accept' and 'reject' do not")
	}
	c, err := followOwner(ctx, &f.workspaceFlags, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return runProgram(ctx, queue.NewRemote(c), sel, in, out)
	}
	return f.withSession(ctx, e, sources, func(s *session) error {
		c := newControl(s, mcpserver.Options{Author: defaultAuthor(), Version: version(), Logger: s.log})
		defer c.mcp.Close()
		return s.serve(ctx, c, "review", func(ctx context.Context) error {
			q, cancel := queue.NewLocal(s.ws)
			defer cancel()
			return runProgram(ctx, q, sel, in, out)
		})
	})
}

func runProgram(ctx context.Context, q queue.Queue, sel queue.Selector, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newReviewModel(sel, render.NewPainter(out), reviewCommands{ctx, q, queue.Reviewer()})
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

// Messages of the review's commands.
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

// reviewCommands do what the review asks for, outside of the model.
type reviewCommands struct {
	ctx context.Context // of the program
	q   queue.Queue
	by  string
}

// list reads the queue; number says which reading it is.
func (c reviewCommands) list(number int) tea.Cmd {
	return func() tea.Msg {
		list, err := c.q.List(c.ctx, true)
		return listMsg{number, list, err}
	}
}

func (c reviewCommands) decide(r queue.DecideRequest) tea.Cmd {
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
func (c reviewCommands) undo(batch string) tea.Cmd {
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
func (c reviewCommands) watch(seen uint64) tea.Cmd {
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
