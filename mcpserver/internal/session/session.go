// Package session holds what one client is to the server: what it calls itself, which
// documents it was shown, in which version and which parts of them, and what became of
// its suggestions. It reads and changes no document. The lock of a Session protects all
// of that.
package session

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// maxShown bounds how many documents a session may have read at a time: each keeps
// its text in memory. Beyond that the one read longest ago has to be read again.
const maxShown = 4096

// Outcomes tells what became of suggestions in the note at p between two versions.
type Outcomes interface {
	Outcomes(p model.Path, from, to *model.Version, mine []diffwrap.Suggestion) ([]bridge.Resolved, error)
}

// Options of a Session.
type Options struct {
	ID       string
	Client   string // the client's name, until it gives another
	Author   string // who its changes are by; "" takes the client's name
	Outcomes Outcomes
	Logger   *slog.Logger
}

// Session is what is known of one client.
type Session struct {
	o Options

	mu      sync.Mutex // protects the following
	client  string     // the client's own name for itself
	elicits bool       // the client can ask its user
	shown   map[model.Path]Knowledge
	order   []model.Path // the keys of shown, oldest first
}

// New makes a session that was shown nothing.
func New(o Options) *Session {
	return &Session{o: o, client: o.Client, shown: make(map[model.Path]Knowledge)}
}

// ID names the session.
func (s *Session) ID() string { return s.o.ID }

// Author is who the session's changes are by.
func (s *Session) Author() model.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.o.Author
	if name == "" {
		name = s.client
	}
	return model.Author{Name: name, Session: s.o.ID}
}

// Elicits says whether the client can ask its user.
func (s *Session) Elicits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elicits
}

// SetClient notes what the client calls itself, and whether it can ask its user.
func (s *Session) SetClient(name string, elicits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elicits = elicits
	if name != "" {
		s.client = name
	}
}

// Show notes that the session has been shown a part of d, without what became of
// its suggestions.
func (s *Session) Show(d Document, part passage.Place) {
	known, _ := s.Known(d.Path)
	n := known.Shown(d, part)
	if d.Version != nil {
		marks := diffwrap.Suggestions(d.Version.Marked())
		n.Mine, n.News = without(marks, without(marks, known.Mine)), s.Resolved(d.Path, known, d.Version)
	}
	s.Remember(d.Path, n)
}

// ShowAll notes that the session has been shown d as a whole.
func (s *Session) ShowAll(d Document) { s.Show(d, passage.Place{Start: 0, End: len(d.Text)}) }

// Remember makes n what the session knows of the document at p, beside what it
// knows of the same text already.
func (s *Session) Remember(p model.Path, n Knowledge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.shown[p]
	if !known {
		s.order = append(s.order, p)
	}
	if known && old.Text == n.Text {
		for _, part := range old.Seen {
			n.Seen = n.Seen.With(part)
		}
	}
	s.shown[p] = n
	for len(s.order) > maxShown {
		delete(s.shown, s.order[0])
		s.order = s.order[1:]
	}
}

// Known returns what the session was shown of the document at p.
func (s *Session) Known(p model.Path) (Knowledge, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.shown[p]
	return n, ok
}

// Moved carries what is known of a document to its new path.
func (s *Session) Moved(from, to model.Path) {
	if n, ok := s.Known(from); ok {
		s.Forget(from)
		s.Remember(to, n)
	}
}

// Forget makes the session read p again before it changes it.
func (s *Session) Forget(p model.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, p)
	s.order = slices.DeleteFunc(s.order, func(q model.Path) bool { return q == p })
}

// Created notes that the session has made the note at p.
func (s *Session) Created(p model.Path, v *model.Version) {
	text := v.Text()
	s.Remember(p, Knowledge{Text: text, Seen: passage.All(text), Version: v, Mine: diffwrap.Suggestions(v.Marked())})
}

// Changed notes the session's own change of a note, which made after of before.
func (s *Session) Changed(p model.Path, before, after *model.Version, known passage.Set) {
	old, _ := s.Known(p)
	n := Knowledge{Text: after.Text(), Seen: known, Version: after, News: s.Resolved(p, old, before)}
	others := without(diffwrap.Suggestions(before.Marked()), old.Mine)
	n.Mine = without(diffwrap.Suggestions(after.Marked()), others)
	s.Remember(p, n)
}
