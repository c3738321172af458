package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// Every change that a tool makes goes through one of the functions here. Each has
// it approved, once it is known that the workspace takes changes there: nobody is
// asked about what cannot be done. Those that change a document let it take away only
// text that the session was shown, or that the call itself quotes as what is to be
// replaced.

// create makes a new note.
func (s *Session) create(ctx context.Context, p bridge.Path, text string) (bridge.Result, error) {
	err := s.server.ws.MayWrite(p)
	if err == nil {
		err = s.gate.Approve(ctx, approval.Create, s.author().Name, "create the note "+string(p), nil)
	}
	if err != nil {
		return bridge.Result{}, err
	}
	res, err := s.server.ws.Create(ctx, p, bridge.Write{Text: text, By: s.author(), Origin: s})
	if err == nil {
		after := res.Version.Text()
		s.remember(p, shownDoc{text: after, seen: passage.All(after), version: res.Version, mine: diffwrap.Suggestions(res.Version.Marked())})
	}
	return res, err
}

// replace makes text what the note at p reads, merged with what others have
// changed since the session was shown it. tool is the one that reads it.
func (s *Session) replace(ctx context.Context, p bridge.Path, known shownDoc, text, tool, what string) (bridge.Result, error) {
	edits := diffwrap.Diff(known.text, text)
	err := s.mayTake(p, known, edits, tool)
	if err == nil {
		err = s.server.ws.MayWrite(p)
	}
	if err == nil {
		err = s.gate.Approve(ctx, approval.Update, s.author().Name, what, nil)
	}
	if err != nil {
		return bridge.Result{}, err
	}
	res, err := s.server.ws.Write(ctx, p, bridge.Write{Bases: []*bridge.Version{known.version}, Text: text, By: s.author(), Origin: s})
	if err == nil {
		s.changed(p, known.version, res.Version, known.seen.Through(edits, true).Between(text, res.Version.Text(), false))
	}
	return res, err
}

// update makes the edits that fn makes of whatever the note at p reads then. fn is
// called under the note's lock, and before, so that nobody is asked about what
// cannot be done. It returns what was changed.
func (s *Session) update(ctx context.Context, p bridge.Path, what string, fn func(cur *bridge.Version) ([]diffwrap.Edit, error)) (before *bridge.Version, res bridge.Result, err error) {
	cur, err := s.server.ws.Open(ctx, p)
	if err == nil {
		_, err = fn(cur)
	}
	if err == nil {
		err = s.server.ws.MayWrite(p)
	}
	if err == nil {
		err = s.gate.Approve(ctx, approval.Update, s.author().Name, what, nil)
	}
	if err != nil {
		return cur, res, err
	}
	var edits []diffwrap.Edit
	res, err = s.server.ws.Update(ctx, p, s.author(), s, func(cur *bridge.Version) (string, error) {
		var err error
		before = cur
		edits, err = fn(cur)
		return diffwrap.Apply(cur.Text(), edits), err
	})
	if known, read := s.known(p); read && err == nil {
		after := diffwrap.Apply(before.Text(), edits)
		s.changed(p, before, res.Version, known.in(before.Text()).Through(edits, true).Between(after, res.Version.Text(), false))
	}
	return before, res, err
}

// fileWrite is a change of a whole file that is not a note.
type fileWrite struct {
	kind entity.Type
	path bridge.Path
	text string             // that it is to have
	base bridge.ContentSum  // what it has to hold before; zero if it is new
	seen passage.Set        // what the session then knows of text
	op   approval.Operation // what is asked about
	what string
}

// writeFile makes a change that is valid, and says what became of it.
func (s *Session) writeFile(ctx context.Context, f fileWrite) (notice string, err error) {
	if err := f.kind.Check(f.text); err != nil {
		return "", answer.WrongArgument("%s was left as it is: %v.", f.path, err)
	}
	if err := s.server.ws.MayWriteFile(f.path); err != nil {
		return "", err
	}
	if err := s.gate.Approve(ctx, f.op, s.author().Name, f.what, nil); err != nil {
		return "", err
	}
	done, err := s.server.ws.WriteFile(ctx, f.path, []byte(f.text), bridge.Restructure{By: s.author(), Origin: s, Base: f.base})
	if err != nil {
		return "", err
	}
	if _, read := s.known(f.path); read || f.op == approval.Create {
		s.remember(f.path, shownDoc{text: f.text, seen: f.seen})
	}
	if done.Proposal != "" {
		return "The change is proposed as a whole, and waits for a person.", nil
	}
	return "", nil
}

// move gives what is at from the path to, and makes the folders that it needs.
func (s *Session) move(ctx context.Context, from, to bridge.Path) (bridge.Restructured, error) {
	how := bridge.Restructure{By: s.author(), Origin: s}
	for _, p := range []bridge.Path{from, to} {
		if err := s.server.ws.MayRestructure(p, how); err != nil {
			return bridge.Restructured{}, err
		}
	}
	if err := s.gate.Approve(ctx, approval.Update, s.author().Name, fmt.Sprintf("move %s to %s", from, to), nil); err != nil {
		return bridge.Restructured{}, err
	}
	if err := s.makeParents(ctx, to); err != nil {
		return bridge.Restructured{}, err
	}
	res, err := s.server.ws.Rename(ctx, from, to, how)
	if err == nil {
		s.moved(from, to)
	}
	return res, err
}

// remove deletes what is at p, of the given kind. linking is how many other notes
// link to it.
func (s *Session) remove(ctx context.Context, p bridge.Path, kind string, linking int, confirm *bool) (bridge.Restructured, error) {
	what := fmt.Sprintf("delete the %s %s", kind, p)
	if linking > 0 {
		what += " (" + linkTo(linking) + " to it)"
	}
	how := bridge.Restructure{By: s.author(), Origin: s}
	if err := s.server.ws.MayRestructure(p, how); err != nil {
		return bridge.Restructured{}, err
	}
	if err := s.gate.Approve(ctx, approval.Delete, s.author().Name, what, confirm); err != nil {
		return bridge.Restructured{}, err
	}
	res, err := s.server.ws.Remove(ctx, p, how)
	if err == nil {
		s.forget(p)
	}
	return res, err
}

// linkTo is "1 other note links", "2 other notes link".
func linkTo(n int) string {
	if n == 1 {
		return "1 other note links"
	}
	return answer.Count(n, "other note") + " link"
}

// mustKnow returns what the session was shown of the document at p, or an error
// that says to read it first, by the tool of that name.
func (s *Session) mustKnow(ctx context.Context, p bridge.Path, tool, doing string) (shownDoc, error) {
	known, ok := s.known(p)
	if ok {
		return known, nil
	}
	if p.IsNote() || tool == "read" {
		if _, err := s.server.ws.Open(ctx, p); err != nil {
			return known, err
		}
	}
	return known, answer.WrongArgument("You must read this document before %s it. Call %s first.", doing, readCall(tool, p, passage.Position{}))
}

// mayTake refuses edits of what is known that take away what the session was not
// shown.
func (s *Session) mayTake(p bridge.Path, known shownDoc, edits []diffwrap.Edit, tool string) error {
	for _, e := range edits {
		if part, lacks := known.seen.Lacks(passage.Place{Start: e.Off, End: e.Off + e.Len}); lacks {
			return notShown(p, known.text, part, tool)
		}
	}
	return nil
}

// notShown says how to read a part of text, before it is changed.
func notShown(p bridge.Path, text string, part passage.Place, tool string) error {
	begin := passage.At(text, part.Start)
	if begin.Column <= answer.MaxLine {
		begin.Column = 1
	}
	return answer.WrongArgument("%s was left as it is: the change would take away text that you have not been shown, in line %d. Call %s to see it first.",
		answer.Shown(p), begin.Line, readCall(tool, p, begin))
}

// reader is the tool by which a session with the toolsets notes or content reads a
// note before it changes it.
func (s *Session) reader() string {
	for _, name := range []string{"read_note", "get_content"} {
		if s.server.has(name) {
			return name
		}
	}
	return "read"
}

// readCall describes the call of a tool that reads the document at p, from begin
// on if that is set.
func readCall(tool string, p bridge.Path, begin passage.Position) string {
	line := "start_line"
	args := fmt.Sprintf("path: %q", string(p))
	switch tool {
	case "read":
		line, args = "offset", "file_path: "+args[len("path: "):]
	case "get_content":
		if begin.Line > 0 {
			tool = "read_content_lines"
		}
		args = fmt.Sprintf("entity_type: %q, %s", string(entity.Of(string(p))), args)
	}
	if begin.Line > 0 {
		args += fmt.Sprintf(", %s: %d", line, begin.Line)
	}
	if begin.Column > 1 {
		args += fmt.Sprintf(", column: %d", begin.Column)
	}
	return "the " + tool + " tool with " + args
}

// sumOf names the content of a file.
func sumOf(text string) bridge.ContentSum { return sha256.Sum256([]byte(text)) }

// warningsOf are the warnings of a change in one line.
func warningsOf(res bridge.Result) string { return strings.Join(res.Warnings, " ") }
