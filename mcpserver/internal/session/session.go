// Package session has the state of one client. A [Session] has the client's name, and the place up to which the tool
// "changes" has reported changes and decisions to the client ([ChangeCursor]). For each document that the client has
// read, it has a [ReadState]: the text at the last read, the ranges of the text that the client was shown, the client's
// own marks in that text, and the decisions that were not reported to the client yet. It keeps at most 4096 documents.
// Beyond that, it drops any of them, and the client must read that document again before it changes it. A Session gets
// the decisions from the workspace, and changes no documents. It has one lock; no other lock is taken while that lock is
// held.
package session

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

// maxReadStates is the maximum number of documents whose texts stay in memory.
const maxReadStates = 4096

type Options struct {
	ID        string
	Client    string            // default name of the client
	Author    string            // author of all changes; "" means the name of the client
	Workspace *bridge.Workspace // used to look up the outcomes of suggestions
	Logger    *slog.Logger
}

// ReadState describes the parts of a document that a client has read.
type ReadState struct {
	Text       string             // the text at the client's last read or change
	ReadRanges textrange.RangeSet // the bytes of Text that the client was shown

	Version   *model.Version        // nil for files other than notes
	OwnMarks  []diffwrap.Suggestion // the marks of Version that belong to the session's suggestions
	Decisions []bridge.Resolved     // decisions on earlier suggestions that were not reported yet
}

// WithRead returns the state after the client has also read part of d. It does not set OwnMarks and Decisions.
func (n ReadState) WithRead(d document.Document, part textrange.Range) ReadState {
	if part == (textrange.Range{Start: 0, End: len(d.Text)}) {
		return ReadState{Text: d.Text, ReadRanges: textrange.All(d.Text), Version: d.Version}
	}
	return ReadState{Text: d.Text, ReadRanges: n.RangesIn(d.Text).With(part), Version: d.Version}
}

// RangesIn returns the ranges of text that the client has read. text is a later state of the document.
func (n ReadState) RangesIn(text string) textrange.RangeSet {
	return n.ReadRanges.Rebase(n.Text, text)
}

type Session struct {
	o Options

	mu           sync.Mutex // guards the fields below
	client       string     // name of the client
	canAsk       bool
	readStates   map[model.Path]ReadState
	changeCursor ChangeCursor
}

// ChangeCursor is the place up to which the changes of others were reported to the client.
type ChangeCursor struct {
	Number uint64 // number of the last reported change
	Order  uint64 // JournalEntry.Order of the last reported decision
}

func (s *Session) ChangeCursor() ChangeCursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changeCursor
}

func (s *Session) SetChangeCursor(number, order uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeCursor = ChangeCursor{number, order}
}

func New(o Options) *Session {
	return &Session{o: o, client: o.Client, readStates: make(map[model.Path]ReadState)}
}

func (s *Session) ID() string { return s.o.ID }

func (s *Session) Author() model.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	return model.Author{Name: cmp.Or(s.o.Author, s.client), Session: s.o.ID}
}

func (s *Session) CanAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.canAsk
}

// SetClient sets the name of the client, and whether it can ask its user. It ignores an empty name.
func (s *Session) SetClient(name string, elicits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canAsk = elicits
	if name != "" {
		s.client = name
	}
}

// RecordRead records that the client has read parts of d. Decisions on the client's suggestions stay unreported.
func (s *Session) RecordRead(d document.Document, parts ...textrange.Range) {
	known, _ := s.ReadStateOf(d.Path)
	n := ReadState{Text: d.Text, ReadRanges: known.RangesIn(d.Text), Version: d.Version}
	for _, part := range parts {
		n = n.WithRead(d, part)
	}
	n.Decisions = known.Decisions
	if len(known.OwnMarks) > 0 && d.Version != nil {
		marks := d.Version.Suggestions()
		n.OwnMarks, n.Decisions = diffwrap.Subtract(marks, diffwrap.Subtract(marks, known.OwnMarks)), s.DecisionsUpTo(d.Path, known, d.Version)
	}
	s.SetReadState(d.Path, n)
}

// Passage is a range of a note. The Range has offsets in the text without a byte order mark. Version is nil for files
// that are not notes, and usually for ranges that were not shown completely.
type Passage struct {
	Path    model.Path
	Version *model.Version
	Range   textrange.Range
}

func (p Passage) self() Passage { return p }

// RecordFound records as read those passages in found that have a Version. Passages of one note must be next to each
// other in found.
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
		if d.Encoding == "" { // with an Encoding, passages may be offsets in the stored text; such a note is read-only
			s.RecordRead(d, parts...)
		}
	}
}

// SetReadState sets the state of the document at p. It keeps the ranges that the client read earlier if the text is the
// same.
func (s *Session) SetReadState(p model.Path, n ReadState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.readStates[p]
	if ok && old.Text == n.Text {
		for _, part := range old.ReadRanges {
			n.ReadRanges = n.ReadRanges.With(part)
		}
	}
	for other := range s.readStates {
		if ok || len(s.readStates) < maxReadStates {
			break
		}
		delete(s.readStates, other)
	}
	s.readStates[p] = n
}

func (s *Session) ReadStateOf(p model.Path) (ReadState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.readStates[p]
	return n, ok
}

func (s *Session) RecordMove(from, to model.Path) {
	if n, ok := s.ReadStateOf(from); ok {
		s.Forget(from)
		s.SetReadState(to, n)
	}
}

// Forget makes the client read p again before a change.
func (s *Session) Forget(p model.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readStates, p)
}

// RecordCreate records that the client has created a note by writing text. The new version may also have text of others,
// if the note's deletion was pending.
func (s *Session) RecordCreate(p model.Path, text string, v *model.Version) {
	s.SetReadState(p, ReadState{Text: v.Text(), ReadRanges: textrange.All(text).Rebase(text, v.Text()), Version: v, OwnMarks: v.Suggestions()})
}

// RecordChange records that the client has changed one version of a note (before) into another (after). known has the
// ranges of the new text that the client has read or written.
func (s *Session) RecordChange(p model.Path, before, after *model.Version, known textrange.RangeSet) {
	old, _ := s.ReadStateOf(p)
	n := ReadState{Text: after.Text(), ReadRanges: known, Version: after, Decisions: s.DecisionsUpTo(p, old, before)}
	others := diffwrap.Subtract(before.Suggestions(), old.OwnMarks)
	n.OwnMarks = diffwrap.Subtract(after.Suggestions(), others)
	s.SetReadState(p, n)
}

// OwnMarksIn returns the marks of v that belong to the session or have its author. list must be the pending suggestions
// of v.
func (s *Session) OwnMarksIn(v *model.Version, list []model.Suggestion) []diffwrap.Suggestion {
	author := s.Author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == author.Session || sg.Author == author.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := v.Suggestions()
	return diffwrap.Subtract(marks, diffwrap.Subtract(marks, own))
}

// DecisionsUpTo returns the decisions on the session's suggestions that were not reported yet, up to a version
// (current).
func (s *Session) DecisionsUpTo(p model.Path, n ReadState, current *model.Version) []bridge.Resolved {
	if len(n.OwnMarks) == 0 || n.Version == current || n.Version == nil {
		return n.Decisions
	}
	more, err := s.o.Workspace.Outcomes(p, n.Version, current, n.OwnMarks)
	if err != nil {
		s.o.Logger.Warn("cannot find the outcomes of suggestions", model.LogPath, string(p), model.LogErr, err)
	}
	return append(slices.Clip(n.Decisions), more...)
}
