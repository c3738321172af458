package note

import (
	"context"
	"errors"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Write is the new text of a note's view, with its origin.
type Write struct {
	// ID is the ID of the note, or 0 for any note. Write returns fs.ErrNotExist if another note has the path now.
	ID uint64
	// Base is the version that the writer has read. If it is nil, the base is the current version.
	Base *model.Version
	// Unread is set if the writer may not have read Base. If its text has a suggestion of Base that a user has rejected
	// since, the write makes that suggestion again. Other writers keep the rejection.
	Unread  bool
	Text    string
	By      model.Author
	Origin  any       // copied to Event.Origin
	ModTime time.Time // zero means now
	Sync    bool      // the writer has synced its own copy, so sync the text before it replaces the note's file
	// InFolder is set if the writer has opened the note's folder. Create then makes no folder.
	InFolder bool
}

type Result struct {
	ID          uint64         // of the note, see Location
	Version     *model.Version // version after the write
	Changed     bool           // the document changed
	Merged      bool           // Version.Text also has another writer's change
	FrontMatter bool           // front matter changed; the change needs no decision and can be undone
	Warnings    []string

	before *model.Version // version before the write; nil for a new note
	part   diffwrap.Span  // the part of the version that the change was planned for; empty if that is all of it
}

// Suggestions returns the number of pending suggestions that the write added, or 0 if their number did not increase.
func (r Result) Suggestions() int {
	if !r.Changed {
		return 0
	}
	n := len(r.Version.Suggestions())
	if r.before != nil {
		n = max(0, n-len(r.before.Suggestions()))
	}
	return n
}

// Write makes wr.Text the view of the note at p, merged with the changes since the writer read it. When Write returns,
// the result survives a crash of the process. Errors: fs.ErrNotExist, fs.ErrPermission, and of package model
// ErrReadOnly, ErrInvalidUTF8, ErrTooLarge, ErrRefused, ErrOffline, ErrNoSpace. If Write returns an error, the note
// does not get the text.
func (n *Note) Write(ctx context.Context, p model.Path, wr Write) (Result, error) {
	if wr.ID != 0 && wr.ID != n.node.Location().ID {
		return Result{}, &model.Error{Op: "write", Path: p, Err: fs.ErrNotExist}
	}
	c := Change{Path: p, By: wr.By, Origin: wr.Origin, ModTime: wr.ModTime, Sync: wr.Sync}
	merged := wr.Text
	c.Plan = func(l *Locked, current *model.Version) (plan planner.Plan, err error) {
		plan, merged, err = l.planWrite(current, wr)
		return plan, err
	}
	res, err := n.Change(ctx, c)
	res.Merged = err == nil && merged != wr.Text
	return res, err
}

// CheckWrite returns the error with which Write would now refuse wr, or nil.
func (n *Note) CheckWrite(ctx context.Context, p model.Path, wr Write) error {
	l := n.Lock()
	defer l.Unlock()
	current, err := l.load(ctx)
	if err == nil {
		_, _, err = l.planWrite(current, wr)
	}
	return model.WrapError("write", p, err)
}

func (n *Locked) planWrite(current *model.Version, wr Write) (_ planner.Plan, merged string, err error) {
	merged = wr.Text
	if base := wr.Base; base != nil {
		if wr.Unread && base != current {
			base = n.withoutRejected(base)
		}
		merged = n.mergeInto(base, current, wr.Text)
		if err := frontmatter.CheckMerge(base.Text(), current.Text(), wr.Text, merged); err != nil {
			return planner.Plan{}, merged, model.RefusedError(err)
		}
	}
	plan, err := n.Plan(current, merged, wr.By)
	return plan, merged, err
}

// Update is Write for callers that compute the new text from the current one. It calls fn under the note's lock, and
// calls it again if the file has changed in the meantime. If fn fails, Update writes nothing and returns fn's error
// unchanged.
func (n *Note) Update(ctx context.Context, p model.Path, author model.Author, origin any, fn func(current *model.Version) (string, error)) (Result, error) {
	c := Change{Path: p, By: author, Origin: origin}
	c.Plan = func(l *Locked, current *model.Version) (planner.Plan, error) {
		text, err := fn(current)
		if err != nil {
			return planner.Plan{}, &callerError{err}
		}
		return l.Plan(current, text, author)
	}
	res, err := n.Change(ctx, c)
	if own, ok := errors.AsType[*callerError](err); ok {
		err = own.err
	}
	return res, err
}

type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// Change is one change of a note by a program. Plan computes the edits from the current version. Plan is called again
// if another program saves first.
type Change struct {
	Path    model.Path // path where the caller found the note
	By      model.Author
	Origin  any       // copied to Event.Origin
	ModTime time.Time // zero means now
	Sync    bool      // see Write
	Plan    func(*Locked, *model.Version) (planner.Plan, error)
}

// Change carries out c. Writes by programs and decisions use it. It publishes no event for a note that is not shown,
// for example because its deletion is pending.
func (n *Note) Change(ctx context.Context, c Change) (_ Result, err error) {
	start := time.Now()
	defer func() { n.set.o.Observe(start, err) }()
	if err := n.set.events.BeginOp(); err != nil {
		return Result{}, model.WrapError("write", c.Path, err)
	}
	defer n.set.events.EndOp()
	var events []model.Event
	defer func() {
		if n.node.Location().Shown {
			n.set.events.Publish(events...)
		}
	}()
	l := n.Lock()
	defer l.Unlock()
	for range maxAttempts {
		current, err := l.load(ctx)
		if err == nil {
			res, ev, err := l.attempt(ctx, c, current)
			events = appendEvent(events, ev)
			if !errors.Is(err, model.ErrConflict) {
				return res, err
			}
			if !l.node.Location().InTree { // its path may have another note now
				break
			}
		}
		if err == nil {
			var ev *model.Event
			ev, err = l.refresh(ctx, l.isOfOther)
			events = appendEvent(events, ev)
		}
		if err != nil && !l.awaitMove(ctx, err, start) {
			return Result{}, err
		}
	}
	return Result{}, &model.Error{Op: "write", Path: c.Path, Err: model.ErrConflict}
}

// A user may have moved the note's file. The source reports a move after some 300 ms, or after more than a second if it
// polls. Until moveWait has passed, a change tries again every moveStep.
const (
	moveWait = 2 * time.Second
	moveStep = 50 * time.Millisecond
)

// awaitMove waits for moveStep if err says that the file of a note in the tree is missing, or that its path has the file
// of another note. It reports whether the change, which began at start, may be tried again.
func (n *Locked) awaitMove(ctx context.Context, err error, start time.Time) bool {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, model.ErrConflict) || !n.node.Location().InTree || time.Since(start) > moveWait {
		return false
	}
	n.Unlock()
	defer n.writeLock.lock()
	select {
	case <-time.After(moveStep):
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt makes the change on the current version. It returns ErrConflict if the file has changed since it was read.
func (n *Locked) attempt(ctx context.Context, c Change, current *model.Version) (Result, *model.Event, error) {
	plan, err := c.Plan(n, current)
	if err != nil {
		return Result{}, nil, model.WrapError("write", c.Path, err)
	}
	if len(plan.Edits) == 0 && plan.Decision == nil && len(plan.Marks) == 0 {
		return Result{ID: n.node.Location().ID, Version: current, Warnings: plan.Warnings}, nil, nil
	}
	ev, err := n.commit(ctx, current, plan, c)
	if err != nil {
		return Result{}, nil, err
	}
	ev.Origin, ev.Asked = c.Origin, true
	if plan.Decision == nil {
		ev.By = c.By
	}
	n.set.o.Logger.Debug("note written", model.LogPath, string(ev.Path), model.LogAuthor, c.By.Name, model.LogEdits, len(plan.Edits))
	res := Result{ID: n.node.Location().ID, Version: ev.Version, Changed: true, Warnings: plan.Warnings, FrontMatter: plan.FrontMatter != nil, before: current}
	if plan.Part != nil {
		res.part = diffwrap.Span{Start: plan.Part.Start + 1, End: plan.Part.End + len(ev.Version.Raw()) - len(current.Raw()) - 1}
	}
	return res, ev, nil
}

// commit applies a plan's edits to the document, the log and the file. If the file is no longer the file from which
// current was read, it changes nothing and returns ErrConflict.
func (n *Locked) commit(ctx context.Context, current *model.Version, plan planner.Plan, c Change) (*model.Event, error) {
	loc := n.node.Location()
	raw := diffwrap.Apply(current.Raw(), plan.Edits)
	switch {
	case len(raw) > model.MaxNote:
		return nil, &model.Error{Op: "write", Path: loc.Path, Err: model.ErrTooLarge} // the marks exceed the limit
	case !utf8.ValidString(raw):
		return nil, &model.Error{Op: "write", Path: loc.Path, Err: model.ErrInvalidUTF8} // a user has saved invalid text
	}
	if n.live != nil {
		s, err := n.changeLive(ctx, current, &plan, c.By)
		if err != nil {
			return nil, model.WrapError("write", loc.Path, err)
		}
		return n.publishAfter(current, n.versionOf(s, model.NextModTime(current.ModTime(), orTime(c.ModTime, s.modTime)))), nil
	}
	if len(plan.Edits) == 0 {
		records, err := n.open(loc, raw)
		if err == nil {
			err = n.keep(loc, model.SumOf(raw), n.stamp, append(records, n.applyPlan(n.doc, raw, &plan, c.By)))
		}
		if err != nil {
			return nil, err
		}
		return n.publishAfter(current, n.newVersion(raw, current.ModTime())), nil
	}
	modTime := model.NextModTime(current.ModTime(), orTime(c.ModTime, time.Now()))
	d := draft{note: n, at: loc, current: current, raw: raw, sync: c.Sync, change: func(doc *ycrdt.Doc) model.Record {
		return n.applyPlan(doc, current.Raw(), &plan, c.By)
	}}
	if err := d.save(ctx, n.stamp, modTime); err != nil {
		return nil, err
	}
	if v, viewChanged := n.changedIn(current, raw, plan, modTime); v != nil {
		return n.publishAs(current, v, viewChanged), nil
	}
	v := model.NewVersion(raw, n.set.o.View, modTime)
	if plan.Part == nil {
		v.Attribute(plan.Known, nil, plan.Known)
		v.SetRuns(plan.Runs)
	}
	n.separate(v)
	return n.publishAfter(current, v), nil
}

// changedIn returns the version after a plan for a part of current, and whether the view changed. It returns nil if the plan
// is not for a part, or if its record also changes the marks of the rest.
func (n *Locked) changedIn(current *model.Version, raw string, plan planner.Plan, modTime time.Time) (*model.Version, bool) {
	part := plan.Part
	table, err := n.currentTable()
	if part == nil || err != nil {
		return nil, false
	}
	after := model.NewVersion(raw[part.Start:len(raw)-(len(current.Raw())-part.End)], n.set.o.View, modTime)
	after.Attribute(plan.Known, nil, plan.Known)
	attribute(after, table, plan.Runs, false)
	if !after.IsApart() {
		return nil, false
	}
	n.cachedLayout = cachedLayout{}
	return current.With(part.Span, after, part.From, part.To, plan.Runs, modTime)
}

func orTime(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t
}

func (n *Locked) Plan(current *model.Version, text string, author model.Author) (planner.Plan, error) {
	return n.set.plan(&n.document, current, text, author, false)
}

// PlanApart is Plan, but it does not merge the new suggestions with existing ones, not even with the author's own.
func (n *Locked) PlanApart(current *model.Version, text string, author model.Author) (planner.Plan, error) {
	return n.set.plan(&n.document, current, text, author, true)
}

// plan implements Plan. d is nil for a note that does not exist yet.
func (s *Set) plan(d *document, current *model.Version, text string, author model.Author, apart bool) (planner.Plan, error) {
	locked := s.o.ReadOnlyErr()
	switch {
	case text == current.Text():
		return planner.Plan{}, nil
	case locked != nil:
		return planner.Plan{}, locked
	case current.ReadOnly():
		return planner.Plan{}, model.ErrNotText
	case len(text) > model.MaxNote:
		return planner.Plan{}, model.ErrTooLarge
	case !utf8.ValidString(text):
		return planner.Plan{}, model.ErrInvalidUTF8
	case s.o.View == diffwrap.RawView:
		return planner.Plan{Edits: diffwrap.Diff(current.Raw(), text), Record: model.Record{Direct: true}}, nil
	case s.o.Mode == Direct:
		return planner.Plan{Edits: planner.DirectEdits(current, text), Record: model.Record{Direct: true}}, nil
	}
	lens := diffwrap.Options{FrontMatter: s.o.FrontMatter, Dialect: s.o.Dialect, Author: author.Name, Now: time.Now().UTC()}
	var x *attribution.Layout
	if d != nil && author.Name != "" && attribution.MarksIn(current.Canonical()) {
		var err error
		if x, err = d.Layout(current); err != nil {
			return planner.Plan{}, err
		}
	}
	return planner.Suggest(current, x, text, author, apart, lens)
}
