package model

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Problems keeps what does not work now in one part of the program, for the status and for the log.
//
//	problems := NewProblems(log, address.Explain)
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
// Everything is safe for concurrent use. The lock is a leaf, except for the log, which is
// written under it to have its lines in order.
type Problems struct {
	log     *slog.Logger
	explain func(error) string

	mu    sync.Mutex // protects the following
	open  map[string]problem
	muted bool // see Hold
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

// NewProblems returns a List without problems. explain returns a sentence about an error for a
// person: what fails, where, and what to do.
func NewProblems(log *slog.Logger, explain func(error) string) *Problems {
	return &Problems{log: log, explain: explain, open: make(map[string]problem)}
}

// MuteLog keeps the log from being told, until Release. It is for a start of which every problem
// is the end, with an error that says the same.
func (l *Problems) MuteLog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = true
}

// UnmuteLog ends Hold, and tells the log of the problems that there are.
func (l *Problems) UnmuteLog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.muted {
		return
	}
	l.muted = false
	for about, p := range l.open {
		l.tell(slog.LevelWarn, begins, logAbout, about, LogErr, p.text)
	}
}

// begins is the message of a problem that begins.
const begins = "problem"

// tell writes to the log, for who reads everything only while it is held.
func (l *Problems) tell(level slog.Level, message string, attrs ...any) {
	if l.muted {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, message, attrs...)
}

// Record records the outcome of an attempt at a thing: nil if it succeeded.
func (l *Problems) Record(about string, err error) {
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
	l.tell(level, message, logAbout, about, LogErr, now.text)
}

// Err returns the error of a thing's problem, nil if it has none.
func (l *Problems) Err(about string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[about].err
}

// All returns the problems, the oldest first.
func (l *Problems) All() []Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Problem, 0, len(l.open))
	for about, p := range l.open {
		all = append(all, Problem{About: about, Text: p.text, Since: p.since})
	}
	slices.SortFunc(all, func(a, b Problem) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.About, b.About)) })
	return all
}
