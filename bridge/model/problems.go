package model

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Problems holds the current problems of one part of the program, for the status and the log.
//
// # When a problem exists
//
// An operation has a problem if and only if its last attempt failed. The problem began with the first failure after the
// last success. The next success ends the problem. Operations that fail at the same time do not hide each other.
//
// The log gets the beginning, each change and the end of a problem at WARN (see MuteLog), and repeated failures at
// DEBUG. Callers of Record do not log. All methods are safe for concurrent use. No other lock is taken while mu is
// held, except in the log: it is written under mu, so that lines are in order.
type Problems struct {
	log     *slog.Logger
	explain func(error) string

	mu    sync.Mutex // guards the fields below
	open  map[string]problem
	muted bool // see MuteLog
}

type problem struct {
	err   error
	text  string // the explanation of err
	since time.Time
}

const (
	logAbout  = "about"
	logLasted = "lasted"
)

// NewProblems returns Problems that use explain to describe errors to the user: what fails, where it fails, and the
// fix.
func NewProblems(log *slog.Logger, explain func(error) string) *Problems {
	return &Problems{log: log, explain: explain, open: make(map[string]problem)}
}

// MuteLog lowers the level of log lines to DEBUG until UnmuteLog. Use it during a start that returns an error about the
// same problem if it fails.
func (l *Problems) MuteLog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = true
}

// UnmuteLog ends MuteLog and logs the current problems.
func (l *Problems) UnmuteLog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.muted {
		return
	}
	l.muted = false
	for about, p := range l.open {
		l.logChange(slog.LevelWarn, begins, logAbout, about, LogErr, p.text)
	}
}

const begins = "problem"

func (l *Problems) logChange(level slog.Level, message string, attrs ...any) {
	if l.muted {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, message, attrs...)
}

// Record records the outcome of an attempt. err is nil if the attempt succeeded.
func (l *Problems) Record(about string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, open := l.open[about]
	if err == nil {
		if open {
			delete(l.open, about)
			l.logChange(slog.LevelWarn, "problem is over", logAbout, about, logLasted, time.Since(old.since).Round(time.Millisecond))
		}
		return
	}
	now := problem{err, l.explain(err), old.since}
	level, message := slog.LevelDebug, "problem continues"
	switch {
	case !open:
		now.since = time.Now()
		level, message = slog.LevelWarn, begins
	case now.text != old.text:
		level, message = slog.LevelWarn, "problem has changed"
	}
	l.open[about] = now
	l.logChange(level, message, logAbout, about, LogErr, now.text)
}

func (l *Problems) Err(about string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[about].err
}

// All returns the problems, oldest first.
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
