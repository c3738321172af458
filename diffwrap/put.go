package diffwrap

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/marking"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Options configure a Put. The zero value is the recommended default.
type Options struct {
	Known       Known // known marks of the raw text
	FrontMatter FrontMatterPolicy
	Dialect     Dialect // attribution that new marks get inside the text
	Author      string  // name of the writer
	// Owners has the recorded owners of marks and comments, by offset in the raw text. A mark without an entry is the
	// writer's own if it has the author's name or no name. A comment without an entry is not the writer's.
	Owners map[int]Owner
	Now    time.Time // time for the attribution; zero for no time
}

// Owner is the author of a mark or comment, and the suggestion to which the mark or comment belongs.
type Owner = critic.Owner

// Access is a writer's permission for a mark or comment.
type Access = critic.Access

const (
	Own     = critic.Own
	Earlier = critic.Earlier
	Foreign = critic.Foreign
	Waiting = critic.Waiting
)

// Made is a suggestion or comment that a Put made or changed.
type Made = marking.MarkChange

// Move is text that a Put moves: it deletes the characters at one place and writes them at another.
type Move = marking.Move

type Result struct {
	Edits       []Edit             // edits of the raw text; nil if nothing changes
	Known       Known              // the marks of the new raw text; Options.Known if nothing changes
	FrontMatter *FrontMatterChange // nil if the front matter did not change
	Warnings    []string           // sentences for the writer; the edits are valid nevertheless
	Made        []Made             // new or changed suggestions, then comments, of the new raw text
	Moved       []Move
}

func Put(raw, accepted string) ([]Edit, error) {
	r, err := Options{}.Put(raw, accepted)
	return r.Edits, err
}

// Put returns the edits of raw for a writer who has changed the accepted view of raw into the given text. It returns a
// whole result or a *RefusedError, and has no side effects. The package comment lists the laws of a result.
func (o Options) Put(raw, accepted string) (Result, error) {
	if strings.HasPrefix(raw, ByteOrderMark) || strings.HasPrefix(accepted, ByteOrderMark) {
		accepted = KeepByteOrderMark(accepted, o.Known.Accepted(raw))
	}
	doc := o.Known.parse(raw)
	if doc.Shows(accepted) {
		return Result{Known: o.Known}, nil
	}
	if err := checkUTF8(raw, accepted); err != nil {
		return Result{}, err
	}
	old := doc.Render(AcceptedView)
	if span.SameButBreaks(old, accepted) {
		return Result{Known: o.Known}, nil
	}
	original := doc.Render(OriginalView)
	var rejected strings.Builder // the original view, with the comments whose breaks the writer has read
	for i := range doc.Cells {
		rejected.WriteString(doc.Cells[i].Deleted().Of(raw))
		if doc.Cells[i].Kind == critic.Comment {
			rejected.WriteString(doc.Cells[i].Added().Of(raw))
		}
	}
	accepted = KeepBreaks(accepted, old, rejected.String())
	matter, err := o.frontMatter(doc, old, original, accepted)
	if err != nil {
		return Result{}, err
	}
	p := putter{Options: o, original: original, matter: matter, Patch: marking.Patch{
		Doc: doc, Old: old, New: accepted, RawBody: matter.rawEnd, OldBody: matter.oldEnd, NewBody: matter.newEnd, Matter: matter.edits,
		Metadata: o.Dialect.Metadata(o.Author, o.Now), Tail: o.Dialect.Tail(o.Author, o.Now), Owners: o.Owners,
	}}
	p.Own = p.own
	return p.put()
}

type putter struct {
	Options
	marking.Patch
	original string // the original view of Doc
	matter   frontMatter
}

// put checks the new text, and runs the stages of the package comment from Compare on.
func (p *putter) put() (Result, error) {
	if err := p.checkSigned(); err != nil {
		return Result{}, err
	}
	if at, mark := p.newMark(); mark != "" {
		return Result{}, &RefusedError{Line: span.LineOf(p.New, at), Literal: mark, Err: ErrMark,
			advice: "relayfs makes the suggestions, so write plain text; to write about marks, use code or put a blank after the brace, as in \"{ ++\""}
	}
	p.Fixed = make(map[string]bool)
	for _, o := range p.Options.Owners {
		if o.Access == Earlier {
			p.Fixed[o.Suggestion] = true
		}
	}
	hunks, wall := p.Compare()
	if wall != nil {
		return Result{}, &RefusedError{Line: span.LineOf(p.Old, wall.View.Start), Literal: wall.Of(p.Doc.Raw), Err: ErrForeign,
			advice: "leave that text unchanged and change the text around it, or write a comment"}
	}
	var wrong error
	for _, how := range []marking.WriteOptions{{}, {Literal: true}, {InPlace: true}, {Literal: true, InPlace: true}} {
		drawing := p.Write(hunks, how)
		doc := p.read(drawing)
		if wrong = p.verify(drawing, doc); wrong == nil {
			r := p.result(drawing, doc)
			r.Made, r.Moved = p.Made(drawing, hunks, doc.Raw)
			return r, nil
		}
	}
	return Result{}, wrong
}

// read parses the raw text that a drawing produces. Known marks are the marks that counted before the change and the
// marks that the drawing writes, except in new front matter.
func (p *putter) read(d *marking.Drawing) *critic.Document {
	known := p.Doc.Counted().AfterEdits(p.Doc.Raw, d.Edits).And(d.Opens...)
	if p.matter.change != nil {
		known = known.From(len(p.matter.text)) // front matter is written without marks
	}
	return critic.Parse(Apply(p.Doc.Raw, d.Edits), known)
}

// newMark finds a suggestion, highlight or attribution in the written body that was not in the text that the writer had
// read. Acceptance would turn it into a mark, even if the writer meant it as text.
func (p *putter) newMark() (at int, mark string) {
	if len(critic.Openers(p.New[p.NewBody:])) == 0 {
		return 0, ""
	}
	shown := make(map[string]int)
	for _, c := range critic.Parse(p.Old, critic.Known{}).Cells {
		shown[c.Of(p.Old)]++
	}
	for _, c := range critic.Parse(p.New, critic.Known{}).Cells {
		if s := c.Of(p.New); c.Kind != critic.Text && c.Kind != critic.Comment {
			if shown[s]--; shown[s] < 0 && c.Start >= p.NewBody {
				return c.Start, s
			}
		}
	}
	return 0, ""
}

// own reports whether a cell is a suggestion or comment of the writer, other than the suggestions in p.Fixed.
func (p *putter) own(c *critic.Cell) bool {
	o, ok := p.Options.Owners[c.Start]
	switch {
	case !c.IsSuggestion() && c.Kind != critic.Comment, c.Kind == critic.Comment && !ok:
		return false
	case o.Access == Foreign, o.Access == Waiting, o.Access == Earlier && p.Fixed[o.Suggestion]:
		return false
	}
	return p.isWritersName(c.By().Author)
}

// isWritersName reports whether a name in the text is the writer's or empty.
func (p *putter) isWritersName(name string) bool {
	return name == "" || name == p.Author || name == critic.AttributeName(p.Author)
}

func (p *putter) result(d *marking.Drawing, doc *critic.Document) Result {
	r := Result{Edits: d.Edits, Known: Known{doc.Counted(), doc}, FrontMatter: p.matter.change}
	isShown := func(c critic.Cell) bool { return c.Kind != critic.Text && c.Start == d.LiteralOpener.Start }
	if !d.LiteralOpener.Empty() && slices.ContainsFunc(critic.Parse(p.New, critic.Known{}).Cells, isShown) {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"line %d: the new text has %q, which will be read as CriticMarkup once it is accepted",
			span.LineOf(p.New, d.LiteralOpener.Start), d.LiteralOpener.Of(p.New)))
	}
	hides := func(d *critic.Document) bool {
		isAfter := func(c critic.Cell) bool { return c.IsSuggestion() && c.Start > d.Unclosed }
		return d.Unclosed >= 0 && slices.ContainsFunc(d.Cells, isAfter)
	}
	if hides(doc) && !hides(p.Doc) {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"line %d: %q is never closed; Obsidian's Commentator shows no suggestion after it",
			span.LineOf(doc.Raw, doc.Unclosed), doc.Raw[doc.Unclosed:doc.Unclosed+3]))
	}
	return r
}

// checkUTF8 refuses invalid UTF-8, because a CRDT would replace the bytes.
func checkUTF8(texts ...string) error {
	for _, t := range texts {
		if utf8.ValidString(t) {
			continue
		}
		for i, r := range t {
			if r == utf8.RuneError && !strings.HasPrefix(t[i:], "\uFFFD") {
				return &RefusedError{Line: span.LineOf(t, i), Literal: t[i : i+1], Err: ErrInvalidUTF8, advice: "write the text as UTF-8"}
			}
		}
	}
	return nil
}

// ByteOrderMark is not part of the text of a note, although the note may start with it: no mark precedes it, and a
// writer cannot add or remove it. Many programs drop the byte order mark when they read a text, and then write the text
// without it.
const ByteOrderMark = "\ufeff"

// KeepByteOrderMark returns the text that a writer wrote, with the byte order marks that the shown text starts with. A
// program that takes the byte order mark for text writes a second one before it.
func KeepByteOrderMark(written, shown string) string {
	mark := shown[:len(shown)-len(strings.TrimLeft(shown, ByteOrderMark))]
	text := strings.TrimLeft(written, ByteOrderMark)
	if len(written)-len(text) == len(mark) {
		return written
	}
	return mark + text
}
