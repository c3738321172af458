package mcpserver

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
)

// maxShown bounds how many notes a session may have read at a time: each keeps
// its text in memory. Beyond that the one read longest ago has to be read again.
const maxShown = 4096

// Session is one client of a Server.
type Session struct {
	server *Server
	id     string

	mu     sync.Mutex // protects the following
	client string     // the client's own name for itself
	shown  map[bridge.Path]shownNote
	order  []bridge.Path                     // the keys of shown, oldest first
	files  map[bridge.Path]bridge.ContentSum // what files that are no notes held when they were shown

	elicits  bool               // the client can ask its user
	approved map[operation]bool // without asking again
}

// shownNote is what a session knows of a note.
type shownNote struct {
	version *bridge.Version
	// partly is set when the note holds changes that the session made blindly
	// into, or merged with, a text that it has not seen: enough to edit, not enough
	// to replace the whole.
	partly bool
	mine   []diffwrap.Suggestion // marks of version that are the session's own suggestions
	news   []bridge.Resolved     // what became of earlier ones, not told yet
}

// show notes that the session has been shown v, without what became of its
// suggestions.
func (s *Session) show(p bridge.Path, v *bridge.Version) {
	known, _ := s.known(p)
	marks := diffwrap.Suggestions(v.Raw())
	s.remember(p, shownNote{version: v, mine: without(marks, without(marks, known.mine)), news: s.resolved(p, known, v)})
}

// remember makes n what the session knows of the note at p.
func (s *Session) remember(p bridge.Path, n shownNote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.shown[p]; !known {
		s.order = append(s.order, p)
	}
	s.shown[p] = n
	for len(s.order) > maxShown {
		delete(s.shown, s.order[0])
		s.order = s.order[1:]
	}
}

// known returns what the session was shown of the note at p.
func (s *Session) known(p bridge.Path) (shownNote, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.shown[p]
	return n, ok
}

// moved carries what is known of a note to its new path.
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

// changed notes the session's own change, which made after of before. It is
// complete if the session knows everything that is in after.
func (s *Session) changed(p bridge.Path, before, after *bridge.Version, complete bool) {
	known, _ := s.known(p)
	n := shownNote{version: after, partly: !complete, news: s.resolved(p, known, before)}
	others := without(diffwrap.Suggestions(before.Raw()), known.mine)
	n.mine = without(diffwrap.Suggestions(after.Raw()), others)
	s.remember(p, n)
}

// showFile notes that the session knows what a file that is not a note holds.
func (s *Session) showFile(p bridge.Path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = make(map[bridge.Path]bridge.ContentSum)
	}
	if _, known := s.files[p]; !known && len(s.files) >= maxShown {
		for any := range s.files {
			delete(s.files, any)
			break
		}
	}
	s.files[p] = sha256.Sum256([]byte(text))
}

// knownFile names what the session knows the file at p to hold; zero if it does
// not.
func (s *Session) knownFile(p bridge.Path) bridge.ContentSum {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[p]
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
