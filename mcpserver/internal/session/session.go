// Package session holds what the server knows of one client: its name, which parts of which
// versions of documents it was shown, and what became of its suggestions. It reads and changes no
// document. The lock of a Session protects all of that.
package session

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// maxShown bounds how many documents a session knows at a time, because it keeps their texts in
// memory. It forgets the one that it was shown first.
const maxShown = 4096

// Options of a Session.
type Options struct {
	ID        string
	Client    string            // the client's name, until it gives another
	Author    string            // of its changes; "" takes the client's name
	Workspace *bridge.Workspace // knows what became of suggestions
	Logger    *slog.Logger
}

// Document is a document that a client is shown.
type Document struct {
	Path    model.Path
	Text    string         // as it is shown
	Version *model.Version // of a note; nil for another file
}

// NoteOf returns a version of the note at p.
func NoteOf(p model.Path, v *model.Version) Document {
	return Document{Path: p, Text: v.Text(), Version: v}
}

// Knowledge is what a session knows of a document.
type Knowledge struct {
	Text string      // when it was last shown
	Seen passage.Set // the bytes of Text that were shown

	Version *model.Version        // of a note, whose text is Text; nil for other files
	Mine    []diffwrap.Suggestion // marks of Version that are the session's suggestions
	News    []bridge.Resolved     // decisions on earlier ones that the client was not told of
}

// Shown returns the knowledge after a part of d is shown, without Mine and News.
func (n Knowledge) Shown(d Document, part passage.Place) Knowledge {
	if part == (passage.Place{Start: 0, End: len(d.Text)}) {
		return Knowledge{Text: d.Text, Seen: passage.All(d.Text), Version: d.Version}
	}
	return Knowledge{Text: d.Text, Seen: n.In(d.Text).With(part), Version: d.Version}
}

// In returns what the session knows of text, which the document has become.
func (n Knowledge) In(text string) passage.Set { return n.Seen.Between(n.Text, text, false) }

// Session is one client.
type Session struct {
	o Options

	mu      sync.Mutex // protects the following
	client  string     // the client's name
	elicits bool       // the client can ask its user
	shown   map[model.Path]Knowledge
	order   []model.Path // the keys of shown, oldest first
	looked  Looked
}

// Looked is when a session was last told what others did.
type Looked struct {
	Number uint64 // of the newest change that it was told of
	Time   time.Time
}

// Looked returns when the session was last told what others did.
func (s *Session) Looked() Looked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked
}

// Look records that the session was told of all changes up to that number.
func (s *Session) Look(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = Looked{number, time.Now()}
}

// New returns a Session that was shown nothing.
func New(o Options) *Session {
	return &Session{o: o, client: o.Client, shown: make(map[model.Path]Knowledge)}
}

// ID identifies the session.
func (s *Session) ID() string { return s.o.ID }

// Author is the author of the session's changes.
func (s *Session) Author() model.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	return model.Author{Name: cmp.Or(s.o.Author, s.client), Session: s.o.ID}
}

// Elicits reports whether the client can ask its user.
func (s *Session) Elicits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elicits
}

// SetClient sets the client's name, if it is not "", and whether the client can ask its user.
func (s *Session) SetClient(name string, elicits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elicits = elicits
	if name != "" {
		s.client = name
	}
}

// Show records that the session was shown parts of d, but not what became of its suggestions.
func (s *Session) Show(d Document, parts ...passage.Place) {
	known, _ := s.Known(d.Path)
	n := Knowledge{Text: d.Text, Seen: known.In(d.Text), Version: d.Version}
	for _, part := range parts {
		n = n.Shown(d, part)
	}
	n.News = known.News
	if len(known.Mine) > 0 && d.Version != nil {
		marks := d.Version.Suggestions()
		n.Mine, n.News = without(marks, without(marks, known.Mine)), s.Resolved(d.Path, known, d.Version)
	}
	s.Remember(d.Path, n)
}

// Passage is a part of a note, not counting a byte order mark. Without a version it is of another file, or was not shown.
type Passage struct {
	Path    model.Path
	Version *model.Version
	Place   passage.Place
}

func (p Passage) self() Passage { return p }

// ShowAny records that the session was shown what was found: the passages that are embedded in it. Those of one note
// stand together.
func ShowAny[T interface{ self() Passage }](s *Session, found []T) {
	var list []Passage
	for _, f := range found {
		if p := f.self(); p.Version != nil {
			list = append(list, p)
		}
	}
	for len(list) > 0 {
		d := NoteOf(list[0].Path, list[0].Version)
		bom := len(d.Text) - len(strings.TrimPrefix(d.Text, passage.BOM))
		var parts []passage.Place
		for len(list) > 0 && list[0].Path == d.Path {
			at := list[0].Place
			parts = append(parts, passage.Place{Start: at.Start + bom, End: at.End + bom})
			list = list[1:]
		}
		s.Show(d, parts...)
	}
}

// ShowAll records that the session was shown all of d.
func (s *Session) ShowAll(d Document) { s.Show(d, passage.Place{Start: 0, End: len(d.Text)}) }

// Remember makes n the session's knowledge of the document at p. Known parts of the same text stay.
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

// Known returns what the session knows of the document at p.
func (s *Session) Known(p model.Path) (Knowledge, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.shown[p]
	return n, ok
}

// Moved moves the knowledge of a document to its new path.
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

// Created records that the session created the note at p.
func (s *Session) Created(p model.Path, v *model.Version) {
	text := v.Text()
	s.Remember(p, Knowledge{Text: text, Seen: passage.All(text), Version: v, Mine: v.Suggestions()})
}

// Changed records the session's change of a note from before to after.
func (s *Session) Changed(p model.Path, before, after *model.Version, known passage.Set) {
	old, _ := s.Known(p)
	n := Knowledge{Text: after.Text(), Seen: known, Version: after, News: s.Resolved(p, old, before)}
	others := without(before.Suggestions(), old.Mine)
	n.Mine = without(after.Suggestions(), others)
	s.Remember(p, n)
}

// Own returns the marks of v that are the session's. list has the pending suggestions of v.
func (s *Session) Own(v *model.Version, list []model.Suggestion) []diffwrap.Suggestion {
	by := s.Author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == by.Session || sg.Author == by.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := v.Suggestions()
	return without(marks, without(marks, own))
}

// Resolved returns the decisions on the session's suggestions up to the version cur, if known.
func (s *Session) Resolved(p model.Path, n Knowledge, cur *model.Version) []bridge.Resolved {
	if len(n.Mine) == 0 || n.Version == cur || n.Version == nil {
		return n.News
	}
	more, err := s.o.Workspace.Outcomes(p, n.Version, cur, n.Mine)
	if err != nil {
		s.o.Logger.Warn("outcomes of suggestions not known", model.LogPath, string(p), model.LogErr, err)
	}
	return append(slices.Clip(n.News), more...)
}

// Added returns the marks of one version that another lacks.
func Added(before, after *model.Version) []diffwrap.Suggestion {
	return without(after.Suggestions(), before.Suggestions())
}

// without returns the marks that others lacks. Of equal marks it keeps the last.
func without(marks, others []diffwrap.Suggestion) []diffwrap.Suggestion {
	key := func(s diffwrap.Suggestion) [3]string { return [3]string{s.Kind.String(), s.Old, s.New} }
	have := make(map[[3]string]int, len(others))
	for _, o := range others {
		have[key(o)]++
	}
	return slices.DeleteFunc(slices.Clone(marks), func(m diffwrap.Suggestion) bool {
		have[key(m)]--
		return have[key(m)] >= 0
	})
}
