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
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

// maxReadStates bounds how many documents a session knows at a time, because it keeps their texts in
// memory. It forgets the one that it was shown first.
const maxReadStates = 4096

// Options of a Session.
type Options struct {
	ID        string
	Client    string            // the client's name, until it gives another
	Author    string            // of its changes; "" takes the client's name
	Workspace *bridge.Workspace // knows what became of suggestions
	Logger    *slog.Logger
}

// ReadState is what a session knows of a document.
type ReadState struct {
	Text       string             // when it was last shown
	ReadRanges textrange.RangeSet // the bytes of Text that were shown

	Version   *model.Version        // of a note, whose text is Text; nil for other files
	OwnMarks  []diffwrap.Suggestion // marks of Version that are the session's suggestions
	Decisions []bridge.Resolved     // decisions on earlier ones that the client was not told of
}

// WithRead returns the knowledge after a part of d is shown, without Mine and News.
func (n ReadState) WithRead(d document.Document, part textrange.Range) ReadState {
	if part == (textrange.Range{Start: 0, End: len(d.Text)}) {
		return ReadState{Text: d.Text, ReadRanges: textrange.All(d.Text), Version: d.Version}
	}
	return ReadState{Text: d.Text, ReadRanges: n.RangesIn(d.Text).With(part), Version: d.Version}
}

// RangesIn returns what the session knows of text, which the document has become.
func (n ReadState) RangesIn(text string) textrange.RangeSet {
	return n.ReadRanges.Rebase(n.Text, text, false)
}

// Session is one client.
type Session struct {
	o Options

	mu           sync.Mutex // protects the following
	client       string     // the client's name
	canAsk       bool       // the client can ask its user
	readStates   map[model.Path]ReadState
	order        []model.Path // the keys of shown, oldest first
	changeCursor ChangeCursor
}

// ChangeCursor is when a session was last told what others did.
type ChangeCursor struct {
	Number uint64 // of the newest change that it was told of
	Time   time.Time
}

// ChangeCursor returns when the session was last told what others did.
func (s *Session) ChangeCursor() ChangeCursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changeCursor
}

// SetChangeCursor records that the session was told of all changes up to that number.
func (s *Session) SetChangeCursor(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeCursor = ChangeCursor{number, time.Now()}
}

// New returns a Session that was shown nothing.
func New(o Options) *Session {
	return &Session{o: o, client: o.Client, readStates: make(map[model.Path]ReadState)}
}

// ID identifies the session.
func (s *Session) ID() string { return s.o.ID }

// Author is the author of the session's changes.
func (s *Session) Author() model.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	return model.Author{Name: cmp.Or(s.o.Author, s.client), Session: s.o.ID}
}

// CanAsk reports whether the client can ask its user.
func (s *Session) CanAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.canAsk
}

// SetClient sets the client's name, if it is not "", and whether the client can ask its user.
func (s *Session) SetClient(name string, elicits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canAsk = elicits
	if name != "" {
		s.client = name
	}
}

// RecordRead records that the session was shown parts of d, but not what became of its suggestions.
func (s *Session) RecordRead(d document.Document, parts ...textrange.Range) {
	known, _ := s.ReadStateOf(d.Path)
	n := ReadState{Text: d.Text, ReadRanges: known.RangesIn(d.Text), Version: d.Version}
	for _, part := range parts {
		n = n.WithRead(d, part)
	}
	n.Decisions = known.Decisions
	if len(known.OwnMarks) > 0 && d.Version != nil {
		marks := d.Version.Suggestions()
		n.OwnMarks, n.Decisions = subtractMarks(marks, subtractMarks(marks, known.OwnMarks)), s.DecisionsUpTo(d.Path, known, d.Version)
	}
	s.SetReadState(d.Path, n)
}

// Passage is a part of a note, not counting a byte order mark. Without a version it is of another file, or was not shown.
type Passage struct {
	Path    model.Path
	Version *model.Version
	Range   textrange.Range
}

func (p Passage) self() Passage { return p }

// RecordFound records that the session was shown what was found: the passages that are embedded in it. Those of one note
// stand together.
func RecordFound[T interface{ self() Passage }](s *Session, found []T) {
	var list []Passage
	for _, f := range found {
		if p := f.self(); p.Version != nil {
			list = append(list, p)
		}
	}
	for len(list) > 0 {
		d := document.OfNote(list[0].Path, list[0].Version)
		bom := len(d.Text) - len(strings.TrimPrefix(d.Text, textrange.BOM))
		var parts []textrange.Range
		for len(list) > 0 && list[0].Path == d.Path {
			at := list[0].Range
			parts = append(parts, textrange.Range{Start: at.Start + bom, End: at.End + bom})
			list = list[1:]
		}
		if d.Encoding == "" { // else the places may be those in the stored text, and nothing can be changed
			s.RecordRead(d, parts...)
		}
	}
}

// RecordReadAll records that the session was shown all of d.
func (s *Session) RecordReadAll(d document.Document) {
	s.RecordRead(d, textrange.Range{Start: 0, End: len(d.Text)})
}

// SetReadState makes n the session's knowledge of the document at p. Known parts of the same text stay.
func (s *Session) SetReadState(p model.Path, n ReadState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.readStates[p]
	if !known {
		s.order = append(s.order, p)
	}
	if known && old.Text == n.Text {
		for _, part := range old.ReadRanges {
			n.ReadRanges = n.ReadRanges.With(part)
		}
	}
	s.readStates[p] = n
	for len(s.order) > maxReadStates {
		delete(s.readStates, s.order[0])
		s.order = s.order[1:]
	}
}

// ReadStateOf returns what the session knows of the document at p.
func (s *Session) ReadStateOf(p model.Path) (ReadState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.readStates[p]
	return n, ok
}

// RecordMove moves the knowledge of a document to its new path.
func (s *Session) RecordMove(from, to model.Path) {
	if n, ok := s.ReadStateOf(from); ok {
		s.Forget(from)
		s.SetReadState(to, n)
	}
}

// Forget makes the session read p again before it changes it.
func (s *Session) Forget(p model.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readStates, p)
	s.order = slices.DeleteFunc(s.order, func(q model.Path) bool { return q == p })
}

// RecordCreate records that the session created the note at p.
func (s *Session) RecordCreate(p model.Path, v *model.Version) {
	text := v.Text()
	s.SetReadState(p, ReadState{Text: text, ReadRanges: textrange.All(text), Version: v, OwnMarks: v.Suggestions()})
}

// RecordChange records the session's change of a note from before to after.
func (s *Session) RecordChange(p model.Path, before, after *model.Version, known textrange.RangeSet) {
	old, _ := s.ReadStateOf(p)
	n := ReadState{Text: after.Text(), ReadRanges: known, Version: after, Decisions: s.DecisionsUpTo(p, old, before)}
	others := subtractMarks(before.Suggestions(), old.OwnMarks)
	n.OwnMarks = subtractMarks(after.Suggestions(), others)
	s.SetReadState(p, n)
}

// OwnMarksIn returns the marks of v that are the session's. list has the pending suggestions of v.
func (s *Session) OwnMarksIn(v *model.Version, list []model.Suggestion) []diffwrap.Suggestion {
	by := s.Author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == by.Session || sg.Author == by.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := v.Suggestions()
	return subtractMarks(marks, subtractMarks(marks, own))
}

// DecisionsUpTo returns the decisions on the session's suggestions up to the version cur, if known.
func (s *Session) DecisionsUpTo(p model.Path, n ReadState, cur *model.Version) []bridge.Resolved {
	if len(n.OwnMarks) == 0 || n.Version == cur || n.Version == nil {
		return n.Decisions
	}
	more, err := s.o.Workspace.Outcomes(p, n.Version, cur, n.OwnMarks)
	if err != nil {
		s.o.Logger.Warn("outcomes of suggestions not known", model.LogPath, string(p), model.LogErr, err)
	}
	return append(slices.Clip(n.Decisions), more...)
}

// Added returns the marks of one version that another lacks.
func Added(before, after *model.Version) []diffwrap.Suggestion {
	return subtractMarks(after.Suggestions(), before.Suggestions())
}

// subtractMarks returns the marks that others lacks. Of equal marks it keeps the last.
func subtractMarks(marks, others []diffwrap.Suggestion) []diffwrap.Suggestion {
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
