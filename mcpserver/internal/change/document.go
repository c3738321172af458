package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

type Result struct {
	bridge.Result // set only for a note

	Before   string // the text before the change
	Proposed bool   // whether the new content of a whole file is proposed until a user accepts it
}

func (r Result) Notice() string {
	if r.Proposed {
		return "The change is proposed as a whole file until a user accepts it."
	}
	notes := r.Warnings
	if r.Merged {
		notes = append(slices.Clip(notes), "Others had changed the note since you read it; their changes were kept. Read it again.")
	}
	return strings.Join(notes, " ")
}

func (c Changes) CreateDocument(ctx context.Context, p model.Path, content string) (Result, error) {
	if p.IsNote() {
		return c.Create(ctx, p, content, "content")
	}
	proposed, err := c.writeFile(ctx, file{path: p, text: content, seen: textrange.All(content), operation: Create, what: "create " + string(p)})
	return Result{Proposed: proposed}, err
}

func (c Changes) CheckWrite(p model.Path) error {
	if p.IsNote() {
		return c.Workspace.MayWrite(p)
	}
	return c.Workspace.MayWriteFile(p)
}

// Rewrite replaces the whole text of a document that the session has read.
func (c Changes) Rewrite(ctx context.Context, p model.Path, content, doing string) (Result, error) {
	if !p.IsNote() {
		if err := CheckFile(p, content); err != nil {
			return Result{}, err
		}
	}
	known, err := c.RequireRead(ctx, p, doing)
	if err != nil {
		return Result{}, err
	}
	if !p.IsNote() {
		return c.rewriteFile(ctx, p, known, content)
	}
	content = textrange.InStyleOf(known.Text, content)
	if err := textrange.CheckMarkup(textrange.Argument{Name: "content", Text: content}, c.Workspace.Options().View, known.Text, content, 0); err != nil {
		return Result{}, err
	}
	return c.Replace(ctx, p, known, content, "replace the content of "+string(p))
}

// rewriteFile replaces the text of a file. It fails if the file has changed since the session read it.
func (c Changes) rewriteFile(ctx context.Context, p model.Path, known session.ReadState, content string) (Result, error) {
	if _, err := (document.Resolver{Workspace: c.Workspace}).ReadText(ctx, p); err != nil {
		return Result{}, err
	}
	edits := diffwrap.Diff(known.Text, content)
	if err := c.CheckDeletions(p, known, edits); err != nil {
		return Result{}, err
	}
	proposed, err := c.writeFile(ctx, file{
		path: p, text: content, base: model.SumOf(known.Text), seen: known.ReadRanges.AfterEdits(edits, true), operation: Update, what: "replace the content of " + string(p),
	})
	if errors.Is(err, model.ErrConflict) {
		err = result.InvalidArgument("%s has changed since you read it. Call %s again before replacing it.", p, c.Reader(p, textrange.Position{}))
	}
	return Result{Before: known.Text, Proposed: proposed}, err
}

// maxTries is the maximum number of attempts to change a file that other calls keep changing in the meantime.
const maxTries = 8

// Edit applies the edits that fn returns for the current text of the document and the ranges that the session has
// read. It may call fn several times.
func (c Changes) Edit(ctx context.Context, p model.Path, fn func(text string, seen textrange.RangeSet) ([]diffwrap.Edit, error)) (Result, error) {
	known, _ := c.Session.ReadStateOf(p)
	if p.IsNote() {
		before, res, err := c.Update(ctx, p, "change the note "+string(p), func(current *model.Version) ([]diffwrap.Edit, error) {
			edits, err := fn(current.Text(), known.RangesIn(current.Text()))
			if err != nil {
				return nil, err
			}
			return edits, checkFrontMatter(p, known.Text, current.Text(), edits)
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
		edits, err := fn(text, known.RangesIn(text))
		if err != nil {
			return Result{}, err
		}
		proposed, err := c.writeFile(ctx, file{
			path: p, text: diffwrap.Apply(text, edits), base: model.SumOf(text), seen: known.RangesIn(text).AfterEdits(edits, true), operation: Update, what: "change " + string(p),
		})
		if !errors.Is(err, model.ErrConflict) {
			return Result{Before: text, Proposed: proposed}, err
		}
	}
	return Result{}, &model.Error{Op: "write", Path: p, Err: model.ErrConflict}
}

// checkFrontMatter refuses edits that add front matter below front matter that users have added since the session read
// the text known, which has none.
func checkFrontMatter(p model.Path, known, current string, edits []diffwrap.Edit) error {
	_, had := diffwrap.FrontMatter(known)
	if _, has := diffwrap.FrontMatter(current); had || !has {
		return nil
	}
	after := diffwrap.Apply(current, edits)
	body, _ := diffwrap.FrontMatter(after)
	if err := frontmatter.CheckMerge(known, current, strings.TrimLeft(after[body:], "\r\n"), after); err != nil {
		return &model.Error{Op: "edit", Path: p, Err: model.RefusedError(err)}
	}
	return nil
}

type Quote struct {
	Old, New string
	All      bool   // whether to replace every occurrence instead of the only one
	Section  string // the section to search; "" means the whole text
	known    string // the text that was last shown to the session
}

// QuoteError is the error for a quote that does not occur exactly once.
type QuoteError struct {
	Err    error
	Text   string // the text of the document
	Places []textrange.Range
}

func (e *QuoteError) Error() string { return e.Err.Error() }
func (e *QuoteError) Unwrap() error { return e.Err }

// Check returns an error if replacing the quote would change no document.
func (q Quote) Check() error {
	if q.Old == q.New {
		return result.InvalidArgument("No changes to make: old_string and new_string are exactly the same.")
	}
	return nil
}

// find returns the ranges of the quote, which do not overlap. If textrange.Find has no match, it accepts a single match
// of textrange.FindNear. It returns a *QuoteError if there is no match, or if a quote that is to be replaced once has
// several.
func (q Quote) find(p model.Path, text string) ([]textrange.Range, error) {
	in, inside := result.Escape(p), func(textrange.Range) bool { return true }
	if q.Section != "" {
		s, err := outline.SectionOf(text, q.Section)
		if err != nil {
			return nil, &model.Error{Op: "edit", Path: p, Err: err}
		}
		inside = func(p textrange.Range) bool { return p.Start >= s.From && p.End <= s.To }
		in = fmt.Sprintf("the section %q of %s", q.Section, in)
	}
	outside := func(p textrange.Range) bool { return !inside(p) }
	places := slices.DeleteFunc(textrange.Find(text, q.Old), outside)
	if len(places) == 0 {
		near := slices.DeleteFunc(textrange.FindNear(text, q.Old), outside)
		if len(near) == 1 {
			return near, nil
		}
		return nil, &QuoteError{q.notFound(in, text, near), text, nil}
	}
	if len(places) > 1 && !q.All {
		return nil, &QuoteError{result.InvalidArgument("old_string is not unique in %s (%d occurrences found). Include more surrounding context to make it unique, or set replace_all. It is on %s.",
			result.Escape(p), len(places), textrange.NameLines(text, places)), text, places}
	}
	return textrange.NonOverlapping(places), nil
}

func (q Quote) notFound(in, text string, near []textrange.Range) error {
	if q.known != text {
		if old := textrange.Find(q.known, q.Old); len(old) > 0 {
			return result.InvalidArgument("%s has changed since you read it: old_string was on %s and no longer is. Read it again.", in, textrange.NameLines(q.known, old))
		}
	}
	const say = "old_string not found in %s. Make sure it matches exactly."
	if len(near) > 0 {
		return result.InvalidArgument(say+" It is on %s with other blanks, quotes or forms of characters; include more surrounding context.", in, textrange.NameLines(text, near))
	}
	if nearest := textrange.Nearest(text, q.Old); nearest != "" {
		return result.InvalidArgument(say+" %s", in, nearest)
	}
	return result.InvalidArgument(say, in)
}

// ReplaceQuote returns the edits that replace a quote. If there are several matches, the session must have read all of
// them. If there is one match, the session need not have read it, because the call quotes it; unseen is set
// if it has not.
func (c Changes) ReplaceQuote(p model.Path, q Quote, text string, seen textrange.RangeSet) (edits []diffwrap.Edit, unseen bool, err error) {
	shown, _ := c.Session.ReadStateOf(p)
	q.known = shown.Text
	places, err := q.find(p, text)
	if err != nil {
		return nil, false, err
	}
	for _, place := range places {
		part, missing := seen.FirstMissing(place)
		if missing && len(places) > 1 {
			return nil, false, c.NotReadError(p, text, part)
		}
		unseen = missing
	}
	edits = textrange.Replace(text, places, q.Old, q.New)
	if p.IsNote() {
		err = textrange.CheckMarkup(textrange.Argument{Name: "new_string", Text: q.New}, c.Workspace.Options().View, text, diffwrap.Apply(text, edits), places[0].Start)
	}
	return edits, unseen, err
}

type file struct {
	path      model.Path
	text      string             // the new content
	base      model.ContentSum   // sum of the content to replace; zero for a new file
	seen      textrange.RangeSet // ranges of text that the session has read once the change is made
	operation Operation          // operation for which approval is needed
	what      string             // the change as a verb phrase
}

// writeFile validates and writes a file. proposed means that a user must still accept the change.
func (c Changes) writeFile(ctx context.Context, f file) (proposed bool, err error) {
	if err := CheckFile(f.path, f.text); err != nil {
		return false, err
	}
	if err := c.CheckWrite(f.path); err != nil {
		return false, err
	}
	if err := c.approve(ctx, f.path, Request{Operation: f.operation, Action: f.what}); err != nil {
		return false, err
	}
	done, err := c.Workspace.WriteFile(ctx, f.path, []byte(f.text), bridge.ChangeRequest{Author: c.author(), Origin: c.Session, Base: f.base})
	if err != nil {
		return false, err
	}
	if _, read := c.Session.ReadStateOf(f.path); read || f.operation == Create {
		c.Session.SetReadState(f.path, session.ReadState{Text: f.text, ReadRanges: f.seen})
	}
	return done.Proposal != "", nil
}

func CheckFile(p model.Path, text string) error {
	if err := filetype.TypeOf(string(p)).Check(text); err != nil {
		return result.InvalidArgument("%s was left as it is: %v.", p, err)
	}
	return nil
}
