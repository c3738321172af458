package mcpserver

import (
	"context"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// maxShown bounds how many documents a session may have read at a time: each keeps
// its text in memory. Beyond that the one read longest ago has to be read again.
const maxShown = 4096

// Result is what a tool call gives back.
type Result = answer.Result

// Session is one client of a Server.
type Session struct {
	server *Server
	id     string
	gate   *approval.Gate

	mu     sync.Mutex // protects the following
	client string     // the client's own name for itself
	shown  map[bridge.Path]shownDoc
	order  []bridge.Path // the keys of shown, oldest first

	elicits bool // the client can ask its user
}

// shownDoc is what a session knows of a document.
type shownDoc struct {
	text string      // when it was shown last
	seen passage.Set // what of the text the session knows

	version *bridge.Version       // of a note, whose text it is; nil for other files
	mine    []diffwrap.Suggestion // marks of version that are the session's own suggestions
	news    []bridge.Resolved     // what became of earlier ones, not told yet
}

// show notes that the session has been shown a part of d, without what became of
// its suggestions.
func (s *Session) show(d document, part passage.Place) {
	known, _ := s.known(d.path)
	n := known.shown(d, part)
	if d.version != nil {
		marks := diffwrap.Suggestions(d.version.Marked())
		n.mine, n.news = without(marks, without(marks, known.mine)), s.resolved(d.path, known, d.version)
	}
	s.remember(d.path, n)
}

// shown is what is known of a document once a part of d is shown.
func (n shownDoc) shown(d document, part passage.Place) shownDoc {
	if part == (passage.Place{Start: 0, End: len(d.text)}) {
		return shownDoc{text: d.text, seen: passage.All(d.text), version: d.version}
	}
	return shownDoc{text: d.text, seen: n.in(d.text).With(part), version: d.version}
}

// in is what the session knows of text, which the document has become.
func (n shownDoc) in(text string) passage.Set { return n.seen.Between(n.text, text, false) }

// remember makes n what the session knows of the document at p, beside what it
// knows of the same text already.
func (s *Session) remember(p bridge.Path, n shownDoc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.shown[p]
	if !known {
		s.order = append(s.order, p)
	}
	if known && old.text == n.text {
		for _, part := range old.seen {
			n.seen = n.seen.With(part)
		}
	}
	s.shown[p] = n
	for len(s.order) > maxShown {
		delete(s.shown, s.order[0])
		s.order = s.order[1:]
	}
}

// known returns what the session was shown of the document at p.
func (s *Session) known(p bridge.Path) (shownDoc, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.shown[p]
	return n, ok
}

// moved carries what is known of a document to its new path.
func (s *Session) moved(from, to bridge.Path) {
	if n, ok := s.known(from); ok {
		s.forget(from)
		s.remember(to, n)
	}
}

// forget makes the session read p again before it changes it.
func (s *Session) forget(p bridge.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, p)
	s.order = slices.DeleteFunc(s.order, func(q bridge.Path) bool { return q == p })
}

// changed notes the session's own change of a note, which made after of before.
func (s *Session) changed(p bridge.Path, before, after *bridge.Version, known passage.Set) {
	old, _ := s.known(p)
	n := shownDoc{text: after.Text(), seen: known, version: after, news: s.resolved(p, old, before)}
	others := without(diffwrap.Suggestions(before.Marked()), old.mine)
	n.mine = without(diffwrap.Suggestions(after.Marked()), others)
	s.remember(p, n)
}

// ReadAll notes that the session has read the note at name as a whole: a person's
// commands read it without a tool.
func (s *Session) ReadAll(ctx context.Context, name string) error {
	p, v, err := s.note(ctx, name)
	if err == nil {
		s.show(document{path: p, text: v.Text(), version: v}, passage.Place{Start: 0, End: len(v.Text())})
	}
	return err
}

// author is who the session's changes are by: the author set for the server, or
// what the client calls itself.
func (s *Session) author() bridge.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.server.o.Author
	if name == "" {
		name = s.client
	}
	return bridge.Author{Name: name, Session: s.id}
}

// asks says whether the client can ask its user.
func (s *Session) asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elicits
}

// setClient notes what the client calls itself, and whether it can ask its user.
func (s *Session) setClient(name string, elicits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elicits = elicits
	if name != "" {
		s.client = name
	}
}
