package change

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// Result is what came of a change of a document.
type Result struct {
	bridge.Result // of a note

	Before   string // the text that was changed
	Proposed bool   // the change of a file is proposed as a whole, and waits for a person
}

// Notice returns what a model should know of a change besides its success, on one line.
func (r Result) Notice() string {
	if r.Proposed {
		return "The change is proposed as a whole, and waits for a person."
	}
	return Notice(r.Result)
}

// CreateDocument creates a note, or another file that holds text.
func (c Changes) CreateDocument(ctx context.Context, p model.Path, content string) (Result, error) {
	if p.IsNote() {
		res, err := c.Create(ctx, p, content, "content")
		return Result{Result: res}, err
	}
	proposed, err := c.writeFile(ctx, file{path: p, text: content, seen: passage.All(content), operation: Create, what: "create " + string(p)})
	return Result{Proposed: proposed}, err
}

// MayWrite returns an error if the document at p cannot be written.
func (c Changes) MayWrite(p model.Path) error {
	if p.IsNote() {
		return c.Workspace.MayWrite(p)
	}
	return c.Workspace.MayWriteFile(p)
}

// Rewrite replaces the text of the document at p, which the session must have read, by the argument content.
func (c Changes) Rewrite(ctx context.Context, p model.Path, content string, by Reader, doing string) (Result, error) {
	if !p.IsNote() {
		if err := CheckFile(p, content); err != nil {
			return Result{}, err
		}
	}
	known, err := c.MustKnow(ctx, p, by, doing)
	if err == nil && !utf8.ValidString(known.Text) {
		err = &model.Error{Op: "write", Path: p, Err: model.ErrInvalidUTF8}
	}
	if err != nil {
		return Result{}, err
	}
	if !p.IsNote() {
		return c.rewriteFile(ctx, p, known, content, by)
	}
	content = passage.InStyleOf(known.Text, content)
	if err := passage.CheckMarkup("content", c.Workspace.Options().View, known.Text, content, 0); err != nil {
		return Result{}, err
	}
	res, err := c.Replace(ctx, p, known, content, by, "replace the content of "+string(p))
	return Result{Result: res, Before: known.Text}, err
}

// rewriteFile replaces the content of a file, if that is still what the session was shown.
func (c Changes) rewriteFile(ctx context.Context, p model.Path, known session.Knowledge, content string, by Reader) (Result, error) {
	edits := diffwrap.Diff(known.Text, content)
	if err := c.MayTake(p, known, edits, by); err != nil {
		return Result{}, err
	}
	proposed, err := c.writeFile(ctx, file{
		path: p, text: content, base: sumOf(known.Text), seen: known.Seen.Through(edits, true), operation: Update, what: "replace the content of " + string(p),
	})
	if errors.Is(err, model.ErrConflict) {
		err = answer.WrongArgument("%s has changed since you read it. Call %s again before replacing it.", p, by.Call(p, passage.Position{}))
	}
	return Result{Before: known.Text, Proposed: proposed}, err
}

// maxTries bounds how often an edit of a file is computed because another call was faster.
const maxTries = 8

// Edit makes the edits that fn returns for the current text of the document at p, of which the session has seen a part.
// It may call fn more than once.
func (c Changes) Edit(ctx context.Context, p model.Path, fn func(text string, seen passage.Set) ([]diffwrap.Edit, error)) (Result, error) {
	known, _ := c.Session.Known(p)
	if p.IsNote() {
		before, res, err := c.Update(ctx, p, "change the note "+string(p), func(cur *model.Version) ([]diffwrap.Edit, error) {
			return fn(cur.Text(), known.In(cur.Text()))
		})
		if err != nil {
			return Result{}, err
		}
		return Result{Result: res, Before: before.Text()}, nil
	}
	for range maxTries {
		text, err := document.Resolver{Workspace: c.Workspace}.ReadText(ctx, p)
		if err != nil {
			return Result{}, err
		}
		edits, err := fn(text, known.In(text))
		if err != nil {
			return Result{}, err
		}
		proposed, err := c.writeFile(ctx, file{
			path: p, text: diffwrap.Apply(text, edits), base: sumOf(text), seen: known.In(text).Through(edits, true), operation: Update, what: "change " + string(p),
		})
		if !errors.Is(err, model.ErrConflict) {
			return Result{Before: text, Proposed: proposed}, err
		}
	}
	return Result{}, &model.Error{Op: "write", Path: p, Err: model.ErrConflict}
}

// Quote is a text that a model quotes to have it replaced.
type Quote struct {
	Old, New string
	All      bool   // replace every occurrence, not the only one
	Section  string // look only in this section; "" is everywhere
	Known    string // the text of the document when the session was last shown it
}

// QuoteError says that a quoted text does not stand in a document exactly once.
type QuoteError struct {
	Err    error
	Text   string // of the document
	Places []passage.Place
}

func (e *QuoteError) Error() string { return e.Err.Error() }
func (e *QuoteError) Unwrap() error { return e.Err }

// Check returns an error if a quote cannot be replaced in any document.
func (q Quote) Check() error {
	if q.Old == q.New {
		return answer.WrongArgument("No changes to make: old_string and new_string are exactly the same.")
	}
	return nil
}

// Find returns the places of a quote in the text of the document at p, none of which overlap. A quote that stands nowhere
// exactly is found where one place has it but for blanks, quotes and the forms of characters. A quote that stands in
// several places and is to be replaced in one is a *QuoteError.
func (q Quote) Find(p model.Path, text string) ([]passage.Place, error) {
	in, inside := answer.Shown(p), func(passage.Place) bool { return true }
	if q.Section != "" {
		s, err := outline.SectionOf(text, q.Section)
		if err != nil {
			return nil, &model.Error{Op: "edit", Path: p, Err: err}
		}
		inside = func(p passage.Place) bool { return p.Start >= s.From && p.End <= s.To }
		in = fmt.Sprintf("the section %q of %s", q.Section, in)
	}
	outside := func(p passage.Place) bool { return !inside(p) }
	places := slices.DeleteFunc(passage.Find(text, q.Old), outside)
	if len(places) == 0 {
		near := slices.DeleteFunc(passage.FindNear(text, q.Old), outside)
		if len(near) == 1 {
			return near, nil
		}
		return nil, &QuoteError{q.notFound(in, text, near), text, nil}
	}
	if len(places) > 1 && !q.All {
		return nil, &QuoteError{answer.WrongArgument("old_string is not unique in %s (%d occurrences found). Include more surrounding context to make it unique, or set replace_all. It is on %s.",
			answer.Shown(p), len(places), passage.NameLines(text, places)), text, places}
	}
	return passage.Apart(places), nil
}

// notFound is the error for a quote that stands nowhere, or nearly in several places.
func (q Quote) notFound(in, text string, near []passage.Place) error {
	if q.Known != text {
		if was := passage.Find(q.Known, q.Old); len(was) > 0 {
			return answer.WrongArgument("%s has changed since you read it: old_string stood there on %s, and does not now. Read it again.", in, passage.NameLines(q.Known, was))
		}
	}
	const say = "old_string not found in %s. Make sure it matches exactly."
	if len(near) > 0 {
		return answer.WrongArgument(say+" It stands there on %s with other blanks, quotes or forms of characters; include more surrounding context.", in, passage.NameLines(text, near))
	}
	if nearest := passage.Nearest(text, q.Old); nearest != "" {
		return answer.WrongArgument(say+" %s", in, nearest)
	}
	return answer.WrongArgument(say, in)
}

// Replace returns the edits that replace a quote in the text of the document at p. unseen says that the session was not
// shown what is replaced: quoting a text that stands in one place shows that it is known, of several the others are not.
func (q Quote) Replace(p model.Path, view diffwrap.View, text string, seen passage.Set, by Reader) (edits []diffwrap.Edit, unseen bool, err error) {
	places, err := q.Find(p, text)
	if err != nil {
		return nil, false, err
	}
	for _, place := range places {
		part, lacks := seen.Lacks(place)
		if lacks && len(places) > 1 {
			return nil, false, NotShown(p, text, part, by)
		}
		unseen = lacks
	}
	edits = passage.Replace(text, places, q.Old, q.New)
	if p.IsNote() {
		err = passage.CheckMarkup("new_string", view, text, diffwrap.Apply(text, edits), places[0].Start)
	}
	return edits, unseen, err
}

// file is a change of a whole file that is not a note.
type file struct {
	path      model.Path
	text      string           // the new content
	base      model.ContentSum // of the content to replace; zero for a new file
	seen      passage.Set      // what the session knows of text afterwards
	operation Operation        // to be approved
	what      string           // the change as a verb phrase
}

// writeFile writes a file whose content is valid for its type. proposed says that the change waits for a person.
func (c Changes) writeFile(ctx context.Context, f file) (proposed bool, err error) {
	if err := CheckFile(f.path, f.text); err != nil {
		return false, err
	}
	if err := c.MayWrite(f.path); err != nil {
		return false, err
	}
	if err := c.approve(ctx, f.path, Request{Operation: f.operation, What: f.what}); err != nil {
		return false, err
	}
	done, err := c.Workspace.WriteFile(ctx, f.path, []byte(f.text), bridge.ChangeRequest{By: c.by(), Origin: c.Session, Base: f.base})
	if err != nil {
		return false, err
	}
	if _, read := c.Session.Known(f.path); read || f.operation == Create {
		c.Session.Remember(f.path, session.Knowledge{Text: f.text, Seen: f.seen})
	}
	return done.Proposal != "", nil
}

// CheckFile returns an error if text is not valid for a file of the name of p.
func CheckFile(p model.Path, text string) error {
	if err := document.TypeOf(string(p)).Check(text); err != nil {
		return answer.WrongArgument("%s was left as it is: %v.", p, err)
	}
	return nil
}

func sumOf(text string) model.ContentSum { return sha256.Sum256([]byte(text)) }
