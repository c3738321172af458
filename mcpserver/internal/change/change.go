// Package change makes the changes that tools want. Each function of Changes first checks
// that the workspace accepts the change, and then asks for approval (approval.go): nobody is asked about
// what cannot be done. A change of a document removes only text that the session was
// shown, or that the call quotes as the text to replace. The package knows no tool. It has
// no locks.
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
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// Changes makes the changes of one client.
type Changes struct {
	Workspace *bridge.Workspace
	Session   *session.Session
	Gate      *Gate
	Batch     string // names changes that are made in one go; "" if each is by itself
}

// by is the author of the changes.
func (c Changes) by() model.Author {
	by := c.Session.Author()
	by.Batch = c.Batch
	return by
}

// approve asks about a change at p. The journal of its Folder has the answer.
func (c Changes) approve(ctx context.Context, p model.Path, r Request) error {
	by := c.Session.Author()
	r.By = by.Name
	r.Answered = func(a model.Approval) error { return c.Workspace.RecordApproval(p, by, a) }
	return c.Gate.Approve(ctx, r)
}

func (c Changes) mayWrite(ctx context.Context, p model.Path, r Request) error {
	if err := c.Workspace.MayWrite(p); err != nil {
		return err
	}
	return c.approve(ctx, p, r)
}

// rewritten tells how many words a change of a text strikes and inserts, and returns what it strikes.
func rewritten(before, after string) (sentence, gone string) {
	var struck, inserted int
	var all strings.Builder
	for _, e := range diffwrap.DiffWords(before, after) {
		old, _ := outline.Count(before[e.Off : e.Off+e.Len])
		now, _ := outline.Count(e.New)
		struck, inserted = struck+old, inserted+now
		fmt.Fprintf(&all, "%q", before[e.Off:e.Off+e.Len])
	}
	return fmt.Sprintf("It strikes %s and inserts %d.", answer.Count(struck, "word"), inserted), all.String()
}

// maxQuoted is how many characters of a text a question quotes.
const maxQuoted = 80

// contains tells what is in a text, as what becomes of it: "It writes" or "It takes away".
func contains(becomes, text string) string {
	words, _ := outline.Count(text)
	quoted := []rune(answer.OneLine(strings.Join(strings.Fields(text), " ")))
	more := ""
	if len(quoted) > maxQuoted {
		quoted, more = quoted[:maxQuoted], "..."
	}
	if len(quoted) == 0 {
		return becomes + " no text."
	}
	return fmt.Sprintf("%s %s: %q%s", becomes, answer.Count(words, "word"), string(quoted), more)
}

// maxAsked is how many of the changes of one call a question names.
const maxAsked = 20

// ApproveAll asks once about several updates, and returns a context in which they are approved. planned are
// those that can be made, as verb phrases; it is called only if the person is to be asked.
func (c Changes) ApproveAll(ctx context.Context, planned func() []string) (context.Context, error) {
	if !c.Gate.Asks(Update) {
		return ctx, nil
	}
	whats := planned()
	if len(whats) == 0 {
		return ctx, nil
	}
	more := ""
	if n := len(whats) - maxAsked; n > 0 {
		whats, more = whats[:maxAsked], fmt.Sprintf(", and make %s more", answer.Count(n, "change"))
	}
	first := c.Workspace.Options().Folders[0]
	err := c.approve(ctx, model.Path(first.Name), Request{Operation: Update, What: strings.Join(whats, ", ") + more})
	return Allow(ctx, Update), err
}

// Create creates a note. argument names the argument that text is from; "" if it is known to have no marks.
func (c Changes) Create(ctx context.Context, p model.Path, text, argument string) (bridge.Result, error) {
	if argument != "" {
		if err := passage.CheckMarkup(argument, c.Workspace.Options().View, "", text, 0); err != nil {
			return bridge.Result{}, err
		}
	}
	if err := c.mayWrite(ctx, p, Request{
		Operation: Create, What: "create the note " + string(p), Detail: func() (string, string) { return contains("It writes", text), "" },
	}); err != nil {
		return bridge.Result{}, err
	}
	res, err := c.Workspace.Create(ctx, p, bridge.Write{Text: text, By: c.by(), Origin: c.Session})
	if err == nil {
		c.Session.Created(p, res.Version)
	}
	return res, err
}

// Replace replaces the text of the note at p by text, merged with what others have changed
// since the session was shown it. what describes the change as a verb phrase.
func (c Changes) Replace(ctx context.Context, p model.Path, known session.Knowledge, text string, by Reader, what string) (bridge.Result, error) {
	edits := diffwrap.Diff(known.Text, text)
	err := c.MayTake(p, known, edits, by)
	if err == nil {
		detail := func() (string, string) { return rewritten(known.Text, text) }
		err = c.mayWrite(ctx, p, Request{Operation: Update, What: what, Detail: detail})
	}
	if err != nil {
		return bridge.Result{}, err
	}
	res, err := c.Workspace.Write(ctx, p, bridge.Write{Bases: []*model.Version{known.Version}, Text: text, By: c.by(), Origin: c.Session})
	if err == nil {
		c.Session.Changed(p, known.Version, res.Version, known.Seen.Through(edits, true).Between(text, res.Version.Text(), false))
	}
	return res, err
}

// Update makes the edits that fn returns for the current text of the note at p. It calls fn before it asks
// for approval, and again under the note's lock. before is the version that it changed.
func (c Changes) Update(ctx context.Context, p model.Path, what string, fn func(cur *model.Version) ([]diffwrap.Edit, error)) (before *model.Version, res bridge.Result, err error) {
	cur, err := c.Workspace.Open(ctx, p)
	var edits []diffwrap.Edit
	if err == nil {
		edits, err = fn(cur)
	}
	if err == nil {
		detail := func() (string, string) { return rewritten(cur.Text(), diffwrap.Apply(cur.Text(), edits)) }
		err = c.mayWrite(ctx, p, Request{Operation: Update, What: what, Detail: detail})
	}
	if err != nil {
		return cur, res, err
	}
	res, err = c.Workspace.Update(ctx, p, c.by(), c.Session, func(cur *model.Version) (string, error) {
		var err error
		before = cur
		edits, err = fn(cur)
		return diffwrap.Apply(cur.Text(), edits), err
	})
	if known, read := c.Session.Known(p); read && err == nil {
		after := diffwrap.Apply(before.Text(), edits)
		c.Session.Changed(p, before, res.Version, known.In(before.Text()).Through(edits, true).Between(after, res.Version.Text(), false))
	}
	return before, res, err
}

// Append adds content at the end of the note at p, or of a section of it if that is not "". A heading that is missing is
// made; made is that heading. argument names the argument that content is from. Nothing is taken away, so the session need
// not have been shown the note.
func (c Changes) Append(ctx context.Context, p model.Path, section, content, argument string) (res bridge.Result, made string, err error) {
	_, res, err = c.Update(ctx, p, "append to the note "+string(p), func(cur *model.Version) ([]diffwrap.Edit, error) {
		doc := cur.Text()
		if !utf8.ValidString(doc) {
			return nil, &model.Error{Op: "edit", Path: p, Err: model.ErrInvalidUTF8}
		}
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
		edits := []diffwrap.Edit{{Off: off, New: insert}}
		return edits, passage.CheckMarkup(argument, c.Workspace.Options().View, doc, diffwrap.Apply(doc, edits), off)
	})
	return res, made, err
}

// Notice returns what a model should know of a change besides its success, on one line.
func Notice(res bridge.Result) string {
	notes := res.Warnings
	if res.Merged {
		notes = append(slices.Clip(notes), "Others had changed the note since you read it; their changes were kept. Read it again.")
	}
	return strings.Join(notes, " ")
}

// Reader is the tool by which a client reads a document before it changes it.
type Reader struct {
	// Call describes the call that reads the document at p, from a position if that is not zero.
	Call func(p model.Path, from passage.Position) string
}

// MustKnow returns what the session was shown of the document at p, or an error that says to read it.
func (c Changes) MustKnow(ctx context.Context, p model.Path, by Reader, doing string) (session.Knowledge, error) {
	known, ok := c.Session.Known(p)
	if ok {
		return known, nil
	}
	if _, err := (document.Resolver{Workspace: c.Workspace}).Document(ctx, p); err != nil {
		return known, err
	}
	return known, answer.WrongArgument("You must read this document before %s it. Call %s first.", doing, by.Call(p, passage.Position{}))
}

// MayTake returns an error if edits of known.Text remove text that the session was not shown.
func (c Changes) MayTake(p model.Path, known session.Knowledge, edits []diffwrap.Edit, by Reader) error {
	for _, e := range edits {
		if part, lacks := known.Seen.Lacks(passage.Place{Start: e.Off, End: e.Off + e.Len}); lacks {
			return NotShown(p, known.Text, part, by)
		}
	}
	return nil
}

// NotShown returns the error that says how to read a part of text before it is changed.
func NotShown(p model.Path, text string, part passage.Place, by Reader) error {
	begin := passage.At(text, part.Start)
	if begin.Column <= answer.MaxLine {
		begin.Column = 1
	}
	return answer.WrongArgument("%s was left as it is: the change would take away text that you have not been shown, in line %d. Call %s to see it first.",
		answer.Shown(p), begin.Line, by.Call(p, begin))
}

// ReadCall describes a call of tool. document has the arguments that name the document.
// line is the name of the argument for the first line, which is added if from is not zero.
func ReadCall(tool, document, line string, from passage.Position) string {
	if from.Line > 0 {
		document += ", " + from.Arguments(line)
	}
	return "the " + tool + " tool with " + document
}

func (c Changes) restructure() bridge.ChangeRequest {
	return bridge.ChangeRequest{By: c.by(), Origin: c.Session}
}

// MayMove returns an error if what is at from cannot be moved to to, as far as that does not depend on what is
// there.
func (c Changes) MayMove(from, to model.Path) error {
	folder, _ := from.Split()
	if other, _ := to.Split(); other != folder {
		return &model.Error{Op: "rename", Path: from, Err: errors.ErrUnsupported}
	}
	for _, p := range []model.Path{from, to} {
		if err := c.Workspace.MayRestructure(p, c.restructure()); err != nil {
			return err
		}
	}
	return nil
}

// Move moves a note, file or folder, and creates the folders above to.
func (c Changes) Move(ctx context.Context, from, to model.Path) (bridge.ChangeResult, error) {
	if err := c.MayMove(from, to); err != nil {
		return bridge.ChangeResult{}, err
	}
	if err := c.approve(ctx, from, Request{Operation: Update, What: fmt.Sprintf("move %s to %s", from, to)}); err != nil {
		return bridge.ChangeResult{}, err
	}
	if err := c.makeParents(ctx, to); err != nil {
		return bridge.ChangeResult{}, err
	}
	res, err := c.Workspace.Rename(ctx, from, to, c.restructure())
	if err == nil {
		c.Session.Moved(from, to)
	}
	return res, err
}

// Removed is what came of a deletion.
type Removed struct {
	bridge.ChangeResult
	Linking []model.Path // other documents that link to what was deleted
}

// Remove deletes what is at p.
func (c Changes) Remove(ctx context.Context, p model.Path, confirm *bool) (Removed, error) {
	info, err := c.Workspace.Stat(ctx, p)
	if err != nil {
		return Removed{}, err
	}
	kind := map[model.NodeKind]string{model.KindDir: "folder", model.KindNote: "note", model.KindFile: "file", model.KindLink: "link"}[info.Kind]
	what, linking := fmt.Sprintf("delete the %s %s", kind, p), c.Linking(ctx, p)
	if len(linking) > 0 {
		what += " (" + LinkTo(len(linking)) + " to it)"
	}
	if err := c.Workspace.MayRestructure(p, c.restructure()); err != nil {
		return Removed{}, err
	}
	detail := func() (string, string) { return c.lost(ctx, p) }
	if err := c.approve(ctx, p, Request{Operation: Delete, What: what, Detail: detail, Confirm: confirm}); err != nil {
		return Removed{}, err
	}
	res, err := c.Workspace.Remove(ctx, p, c.restructure())
	if err == nil {
		c.Session.Forget(p)
	}
	return Removed{res, linking}, err
}

// lost tells what goes with the document at p, and returns its text, or of a file what changes with its content.
func (c Changes) lost(ctx context.Context, p model.Path) (sentence, gone string) {
	if !p.IsNote() {
		info, _ := c.Workspace.Stat(ctx, p) // what is not there is not removed
		return "", fmt.Sprint(info.Size, info.ModTime.UnixNano())
	}
	v, err := c.Workspace.Open(ctx, p)
	if err != nil {
		return "Its text cannot be read.", ""
	}
	return contains("It takes away", v.Text()), v.Raw()
}

// LinkTo returns "1 other note links" or "2 other notes link".
func LinkTo(n int) string {
	if n == 1 {
		return "1 other note links"
	}
	return answer.Count(n, "other note") + " link"
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

// Linking returns the other documents that link to the document at p, none if there is no such document.
func (c Changes) Linking(ctx context.Context, p model.Path) []model.Path {
	links, err := c.Workspace.Links(ctx, p)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(links.Backlinks), func(from model.Path) bool { return from == p })
}

// maxLosers is how many documents an answer names whose links a deletion breaks.
const maxLosers = 20

// Losers is a sentence about documents whose links lead nowhere after a deletion, "" if there are none.
func Losers(linking []model.Path) string {
	if len(linking) == 0 {
		return ""
	}
	return "Links to it lead nowhere without it, in " + answer.Names(linking, maxLosers, "document") + "."
}
