// Package problem keeps what does not work now, for the status and for the log.
//
//	problems := problem.NewList(log, address.Explain)
//	problems.Tried("connection", err) // after each attempt, nil if it succeeded
//	for _, p := range problems.All() { ... }
//
// # The law
//
// A thing has a problem if and only if the last attempt at it failed. The problem says what
// the last attempt failed with, and began with the first attempt that failed after the last
// one that succeeded. So a problem needs no end of its own: the next success is its end, and
// things that fail side by side do not hide each other.
//
// # The log
//
// The log is told when a problem begins, when it changes and when it ends, with how long it
// lasted, all of it at the level WARN: who reads of the beginning has to read of the end.
// Attempts that fail as the last one did are at the level DEBUG. Whoever calls Tried does not
// log.
//
// # Concurrency
//
// Everything is safe for concurrent use. The lock is a leaf, but for the log, which is
// written under it to have its lines in order.
package problem

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// List is the problems of one part of the program.
type List struct {
	log     *slog.Logger
	explain func(error) string

	mu   sync.Mutex // protects the following
	open map[string]problem
	held bool // see Hold
}

type problem struct {
	err   error
	text  string // of err
	since time.Time
}

// The keys of the log attributes.
const (
	logAbout  = "about"
	logLasted = "lasted"
)

// NewList returns a List without problems. explain returns a sentence about an error for a
// person: what fails, where, and what to do.
func NewList(log *slog.Logger, explain func(error) string) *List {
	return &List{log: log, explain: explain, open: make(map[string]problem)}
}

// Hold keeps the log from being told, until Release. It is for a start of which every problem
// is the end, with an error that says the same.
func (l *List) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// Release ends Hold, and tells the log of the problems that there are.
func (l *List) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		return
	}
	l.held = false
	for about, p := range l.open {
		l.tell(slog.LevelWarn, begins, logAbout, about, model.LogErr, p.text)
	}
}

// begins is the message of a problem that begins.
const begins = "problem"

// tell writes to the log, for who reads everything only while it is held.
func (l *List) tell(level slog.Level, message string, attrs ...any) {
	if l.held {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, message, attrs...)
}

// Tried records the outcome of an attempt at a thing: nil if it succeeded.
func (l *List) Tried(about string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, open := l.open[about]
	if err == nil {
		if open {
			delete(l.open, about)
			l.tell(slog.LevelWarn, "problem is over", logAbout, about, logLasted, time.Since(was.since).Round(time.Millisecond))
		}
		return
	}
	now := problem{err, l.explain(err), was.since}
	level, message := slog.LevelDebug, "problem goes on"
	switch {
	case !open:
		now.since = time.Now()
		level, message = slog.LevelWarn, begins
	case now.text != was.text:
		level, message = slog.LevelWarn, "problem has changed"
	}
	l.open[about] = now
	l.tell(level, message, logAbout, about, model.LogErr, now.text)
}

// Err returns the error of a thing's problem, nil if it has none.
func (l *List) Err(about string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[about].err
}

// All returns the problems, the oldest first.
func (l *List) All() []model.Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]model.Problem, 0, len(l.open))
	for about, p := range l.open {
		all = append(all, model.Problem{About: about, Text: p.text, Since: p.since})
	}
	slices.SortFunc(all, func(a, b model.Problem) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.About, b.About)) })
	return all
}
