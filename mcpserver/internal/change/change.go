// Package change makes changes for tools. The methods of Changes that change one document first check whether the
// workspace accepts the change, and only then ask the user for approval (approval.go). A change of a text deletes only
// text that the client has read or that the call names.
package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

type Changes struct {
	Workspace *bridge.Workspace
	Session   *session.Session
	Gate      *Gate
	Batch     string // ID of a batch; "" if each change is separate
	// Reader describes the call with which the client reads the document at p. If from is not zero, the call starts at
	// that position.
	Reader func(p model.Path, from textrange.Position) string
}

func (c Changes) author() model.Author {
	author := c.Session.Author()
	author.Batch = c.Batch
	return author
}

// approve asks the user for approval of a change at p if the Gate requires it. The journal of the root records the
// reply.
func (c Changes) approve(ctx context.Context, p model.Path, r Request) error {
	author := c.Session.Author()
	r.Author = author.Name
	r.Answered = func(a model.Approval) error { return c.Workspace.RecordApproval(p, author, a) }
	return c.Gate.Approve(ctx, r)
}

func (c Changes) checkAndApprove(ctx context.Context, p model.Path, r Request) error {
	if err := c.Workspace.MayWrite(p); err != nil {
		return err
	}
	return c.approve(ctx, p, r)
}

// countChanges returns a sentence with the number of deleted and inserted words, and the deleted text.
func countChanges(before, after string) (sentence, loss string) {
	var struck, inserted int
	var all strings.Builder
	for _, e := range diffwrap.DiffWords(before, after) {
		old, _ := outline.Count(before[e.Off : e.Off+e.Len])
		now, _ := outline.Count(e.New)
		struck, inserted = struck+old, inserted+now
		fmt.Fprintf(&all, "%q", before[e.Off:e.Off+e.Len])
	}
	return fmt.Sprintf("It deletes %s and inserts %d.", result.Count(struck, "word"), inserted), all.String()
}

const maxQuoted = 80

// excerpt returns a sentence that quotes the beginning of text. becomes is the start of the sentence, such as "It
// writes".
func excerpt(becomes, text string) string {
	words, _ := outline.Count(text)
	quoted := []rune(result.OneLine(strings.Join(strings.Fields(text), " ")))
	more := ""
	if len(quoted) > maxQuoted {
		quoted, more = quoted[:maxQuoted], "..."
	}
	if len(quoted) == 0 {
		return becomes + " no text."
	}
	return fmt.Sprintf("%s %s: %q%s", becomes, result.Count(words, "word"), string(quoted), more)
}

const maxAsked = 20

// ApproveAll asks once about several updates, given as verb phrases, and returns a context in which they are approved.
func (c Changes) ApproveAll(ctx context.Context, whats []string) (context.Context, error) {
	if !c.Gate.Asks(Update) {
		return ctx, nil
	}
	more := ""
	if n := len(whats) - maxAsked; n > 0 {
		whats, more = whats[:maxAsked], fmt.Sprintf(", and make %s more", result.Count(n, "change"))
	}
	first := c.Workspace.Options().Roots[0]
	err := c.approve(ctx, model.Path(first.Name), Request{Operation: Update, Action: strings.Join(whats, ", ") + more})
	return context.WithValue(ctx, allowed{}, Update), err
}

// Create creates a note. argument is the name of the argument that contains text. If argument is "", Create does not
// check text for CriticMarkup.
func (c Changes) Create(ctx context.Context, p model.Path, text string, argument result.Words) (Result, error) {
	if argument != "" {
		if err := textrange.CheckMarkup(textrange.Argument{Name: argument, Text: text}, c.Workspace.Options().View, "", text, 0); err != nil {
			return Result{}, err
		}
	}
	if err := c.checkAndApprove(ctx, p, Request{
		Operation: Create, Action: "create the note " + string(p), Detail: func() (string, string) { return excerpt("It writes", text), "" },
	}); err != nil {
		return Result{}, err
	}
	res, err := c.Workspace.Create(ctx, p, bridge.Write{Text: text, By: c.author(), Origin: c.Session})
	if err == nil {
		c.Session.RecordCreate(p, text, res.Version)
	}
	return Result{Result: res}, err
}

// Replace replaces the text of the note at p, and merges it with changes that others have made since the session read
// it. what describes the change as a verb phrase.
func (c Changes) Replace(ctx context.Context, p model.Path, known session.ReadState, text, what string) (Result, error) {
	edits := diffwrap.Diff(known.Text, text)
	err := c.CheckDeletions(p, known, edits)
	if err == nil {
		detail := func() (string, string) { return countChanges(known.Text, text) }
		err = c.checkAndApprove(ctx, p, Request{Operation: Update, Action: what, Detail: detail})
	}
	if err != nil {
		return Result{}, err
	}
	res, err := c.Workspace.Write(ctx, p, bridge.Write{Base: known.Version, Text: text, By: c.author(), Origin: c.Session})
	if err == nil {
		c.Session.RecordChange(p, known.Version, res.Version, known.ReadRanges.AfterEdits(edits, true).Rebase(text, res.Version.Text()))
	}
	return Result{Result: res, Before: known.Text}, err
}

// Update applies the edits that fn returns for the current text of the note at p. It calls fn before it asks for
// approval, and again under the lock of the note if the note has another version by then. before is the version that was
// changed.
func (c Changes) Update(ctx context.Context, p model.Path, what string, fn func(current *model.Version) ([]diffwrap.Edit, error)) (before *model.Version, res bridge.Result, err error) {
	before, edits, err := c.plan(ctx, p, fn)
	if err == nil {
		detail := func() (string, string) { return countChanges(before.Text(), diffwrap.Apply(before.Text(), edits)) }
		err = c.checkAndApprove(ctx, p, Request{Operation: Update, Action: what, Detail: detail})
	}
	if err != nil {
		return before, res, err
	}
	res, err = c.Workspace.Update(ctx, p, c.author(), c.Session, func(current *model.Version) (string, error) {
		var err error
		if current != before {
			before = current
			edits, err = fn(current)
		}
		return diffwrap.Apply(before.Text(), edits), err
	})
	if known, read := c.Session.ReadStateOf(p); read && err == nil {
		after := diffwrap.Apply(before.Text(), edits)
		c.Session.RecordChange(p, before, res.Version, known.RangesIn(before.Text()).AfterEdits(edits, true).Rebase(after, res.Version.Text()))
	}
	return before, res, err
}

// CheckUpdate returns the error with which Update would fail before it asks the user or changes anything.
func (c Changes) CheckUpdate(ctx context.Context, p model.Path, fn func(current *model.Version) ([]diffwrap.Edit, error)) error {
	err := c.CheckWrite(p)
	if err == nil {
		_, _, err = c.plan(ctx, p, fn)
	}
	return err
}

func (c Changes) plan(ctx context.Context, p model.Path, fn func(current *model.Version) ([]diffwrap.Edit, error)) (current *model.Version, edits []diffwrap.Edit, err error) {
	if current, err = c.Workspace.Open(ctx, p); err == nil {
		err = checkUTF8(p, current)
	}
	if err == nil {
		edits, err = fn(current)
	}
	return current, edits, err
}

// Append adds content at the end of the note at p, or at the end of a section. If the section is missing, Append
// creates it and returns its heading. It deletes nothing, so the session need not have read the note.
func (c Changes) Append(ctx context.Context, p model.Path, section, content string, argument result.Words) (_ Result, made string, err error) {
	_, res, err := c.Update(ctx, p, "append to the note "+string(p), func(current *model.Version) ([]diffwrap.Edit, error) {
		doc := current.Text()
		off, insert, ok := 0, "", false
		made = ""
		if section == "" {
			off, insert = outline.Append(doc, nil, content)
		} else if at, err := outline.SectionOf(doc, section); err == nil {
			off, insert = outline.Append(doc, &at, content)
		} else if missing, _ := errors.AsType[*outline.SectionError](err); missing != nil && len(missing.Found) == 0 {
			off, insert, made, ok = outline.AppendNew(doc, section, content)
			if !ok {
				return nil, &model.Error{Op: "edit", Path: p, Err: err}
			}
		} else {
			return nil, &model.Error{Op: "edit", Path: p, Err: err}
		}
		edits, view := []diffwrap.Edit{{Off: off, New: insert}}, c.Workspace.Options().View
		if err := textrange.CheckMarkup(textrange.Argument{Name: "section", Text: made}, view, "", made, 0); err != nil {
			return nil, err
		}
		return edits, textrange.CheckMarkup(textrange.Argument{Name: argument, Text: content}, view, doc, diffwrap.Apply(doc, edits), off)
	})
	return Result{Result: res}, made, err
}

func checkUTF8(p model.Path, v *model.Version) error {
	if v != nil && !utf8.ValidString(v.Text()) {
		return &model.Error{Op: "edit", Path: p, Err: model.ErrInvalidUTF8}
	}
	return nil
}

// RequireRead returns the text and the ranges of the document at p that the session has read. It returns an error if
// the session has not read it.
func (c Changes) RequireRead(ctx context.Context, p model.Path, doing string) (session.ReadState, error) {
	known, ok := c.Session.ReadStateOf(p)
	if ok {
		return known, checkUTF8(p, known.Version)
	}
	if _, err := (document.Resolver{Workspace: c.Workspace}).Document(ctx, p); err != nil {
		return known, err
	}
	return known, result.InvalidArgument("You must read this document before %s it. Call %s first.", doing, c.Reader(p, textrange.Position{}))
}

func (c Changes) CheckDeletions(p model.Path, known session.ReadState, edits []diffwrap.Edit) error {
	for _, e := range edits {
		if part, missing := known.ReadRanges.FirstMissing(textrange.Range{Start: e.Off, End: e.Off + e.Len}); missing {
			return c.NotReadError(p, known.Text, part)
		}
	}
	return nil
}

// NotReadError returns an error that contains the call to read the missing range.
func (c Changes) NotReadError(p model.Path, text string, part textrange.Range) error {
	begin := textrange.PositionAt(text, part.Start)
	if begin.Column <= result.MaxLine {
		begin.Column = 1
	}
	return result.InvalidArgument("%s was left as it is: the change would delete text that you have not been shown, in line %d. Call %s first.",
		result.Escape(p), begin.Line, c.Reader(p, begin))
}

func (c Changes) restructure() bridge.ChangeRequest {
	return bridge.ChangeRequest{Author: c.author(), Origin: c.Session}
}

// Move moves a document. It also creates the parent folders of the new path.
func (c Changes) Move(ctx context.Context, from, to model.Path) (bridge.ChangeResult, error) {
	folder, _ := from.Split()
	if other, _ := to.Split(); other != folder {
		return bridge.ChangeResult{}, &model.Error{Op: "rename", Path: from, Err: errors.ErrUnsupported}
	}
	for _, p := range []model.Path{from, to} {
		if err := c.Workspace.MayChange(p); err != nil {
			return bridge.ChangeResult{}, err
		}
	}
	if err := c.approve(ctx, from, Request{Operation: Update, Action: fmt.Sprintf("move %s to %s", from, to)}); err != nil {
		return bridge.ChangeResult{}, err
	}
	if err := c.makeParents(ctx, to); err != nil {
		return bridge.ChangeResult{}, err
	}
	res, err := c.Workspace.Rename(ctx, from, to, c.restructure())
	if err == nil {
		c.Session.RecordMove(from, to)
	}
	return res, err
}

type Removed struct {
	bridge.ChangeResult
	Linking []model.Path // other documents that link to the deleted document
}

func (c Changes) Remove(ctx context.Context, p model.Path, confirm *bool) (Removed, error) {
	info, err := c.Workspace.Stat(ctx, p)
	if err != nil {
		return Removed{}, err
	}
	what, linking := fmt.Sprintf("delete the %s %s", info.Kind, p), c.Linking(ctx, p)
	if len(linking) > 0 {
		what += " (" + LinkTo(len(linking)) + " to it)"
	}
	if err := c.Workspace.MayChange(p); err != nil {
		return Removed{}, err
	}
	detail := func() (string, string) { return c.describeLoss(ctx, p) }
	if err := c.approve(ctx, p, Request{Operation: Delete, Action: what, Detail: detail, Confirm: confirm}); err != nil {
		return Removed{}, err
	}
	res, err := c.Workspace.Remove(ctx, p, c.restructure())
	if err == nil {
		c.Session.Forget(p)
	}
	return Removed{res, linking}, err
}

// describeLoss describes a document that is to be deleted. loss identifies the deleted content: it is the raw text of a
// note, or the size and time of a file.
func (c Changes) describeLoss(ctx context.Context, p model.Path) (sentence, loss string) {
	if !p.IsNote() {
		info, _ := c.Workspace.Stat(ctx, p) // a missing file cannot be deleted anyway
		return "", fmt.Sprint(info.Size, info.ModTime.UnixNano())
	}
	v, err := c.Workspace.Open(ctx, p)
	if err != nil {
		return "Its text cannot be read.", ""
	}
	return excerpt("It deletes", v.Text()), v.Raw()
}

func LinkTo(n int) string {
	if n == 1 {
		return "1 other note links"
	}
	return result.Count(n, "other note") + " link"
}

func (c Changes) makeParents(ctx context.Context, to model.Path) error {
	if c.Workspace.Options().Structure == bridge.StructureDeny {
		return nil
	}
	var missing []model.Path
	for dir := to.Dir(); dir != ""; dir = dir.Dir() {
		_, err := c.Workspace.Stat(ctx, dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if err := c.Workspace.Mkdir(ctx, dir, c.restructure()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (c Changes) Linking(ctx context.Context, p model.Path) []model.Path {
	index, err := c.Workspace.LinkIndex(ctx)
	if err != nil {
		return nil
	}
	var linking []model.Path
	for _, s := range index.Backlinks(string(p)) {
		if from := model.Path(s); from != p && c.Workspace.Contains(from) {
			linking = append(linking, from)
		}
	}
	return linking
}

const maxBroken = 20

// BrokenLinks returns a sentence with the documents whose links a deletion breaks, or "" if there are none.
func BrokenLinks(linking []model.Path) string {
	if len(linking) == 0 {
		return ""
	}
	return "This breaks links to it in " + result.ListNames(linking, maxBroken, "document") + "."
}
