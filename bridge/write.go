package bridge

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Write is the new text of a note's view, and where it comes from.
type Write struct {
	// Bases are the versions the writer was shown since it opened the note,
	// oldest first; none means the version that is current when the write is made.
	Bases   []*model.Version
	Text    string
	By      model.Author
	Origin  any       // comes back in Event.Origin
	ModTime time.Time // zero means now
	Sync    bool      // the writer has synced its own copy: the text is on the disk before the note's file has it
}

// Result says what a write did.
type Result struct {
	Version     *model.Version // the note's state after it
	Changed     bool           // the document changed
	Merged      bool           // another's change is in Version.Text too
	FrontMatter bool           // front matter changed; which is made at once, and can be undone
	Warnings    []string

	before string // the marked text before it
}

// Suggestions is how many pending suggestions more there are than before.
func (r Result) Suggestions() int {
	if !r.Changed {
		return 0
	}
	return max(0, countSuggestions(r.Version.Marked())-countSuggestions(r.before))
}

func countSuggestions(raw string) int { return len(diffwrap.Suggestions(raw)) }

// maxAttempts bounds how often a write is computed anew because the file
// changed under it. Each time somebody else's save went through.
const maxAttempts = 32

// Write makes wr.Text the view of the note at p, merged with what changed since
// the writer read it. It is durable when Write returns. Errors: fs.ErrNotExist,
// ErrNotNote, ErrReadOnly, ErrInvalidUTF8, ErrTooLarge, ErrRefused, ErrOffline,
// ErrNoSpace, fs.ErrPermission. After an error the note is as it was.
func (w *Workspace) Write(ctx context.Context, p model.Path, wr Write) (Result, error) {
	c := change{path: p, by: wr.By, origin: wr.Origin, modTime: wr.ModTime, sync: wr.Sync}
	merged := wr.Text
	c.plan = func(n *note, cur *model.Version) (planner.Plan, error) {
		if len(wr.Bases) > 0 {
			merged = n.mergeInto(textmerge.Nearest(wr.Bases, (*model.Version).Text, wr.Text), cur, wr.Text)
		}
		return w.plan(n, cur, merged, wr.By)
	}
	res, err := w.change(ctx, c)
	res.Merged = err == nil && merged != wr.Text
	return res, err
}

// mergeInto is the view text that results when a writer who was shown base wrote text.
func (n *note) mergeInto(base, cur *model.Version, text string) string {
	if base.Raw() == cur.Raw() {
		return text
	}
	runs := n.runs()
	if base.Runs() == nil && runs != nil {
		base.SetRuns(n.runsOf(base))
	}
	was, is := base.Side(), cur.Side()
	is.Runs = runs
	if was.Runs == nil || base.ReadOnly() { // read-only is what shows something else than the text of its document
		is.Runs = nil
	} else if l, err := n.ledgerNow(); err == nil && l.HasRevived() {
		was.Runs, is.Runs = l.FirstRuns(was.Runs), l.FirstRuns(runs)
	}
	return textmerge.Merge(was, is, text)
}

// runsOf are the identities of the characters of a version that was replaced while the
// document was not in memory, nil if they cannot be found: those of the document when
// it had that text, or else, since the version is older than the document then, when it
// began. What agents have proposed since is in neither, whatever its letters are.
func (n *note) runsOf(v *model.Version) (runs []ycrdt.Run) {
	h, err := n.where().store.Load(n.id)
	if err != nil || len(h.Records) == 0 {
		return nil
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text(contentsName)
	units := textmerge.UTF16Len(v.Raw())
	for _, rec := range h.Records {
		if doc.ApplyUpdate(rec.Update, sourceOrigin{}) != nil {
			return nil
		}
		if text.Len() == units && text.String() == v.Raw() {
			runs = text.Runs()
		}
	}
	if runs != nil {
		return runs
	}
	first, err := replay(h.Records[:1])
	if err != nil {
		return nil
	}
	return runsAs(first, v.Raw())
}

// Update is Write for callers that compute the new text from the current one:
// fn is called with it, under the note's lock, and again if the file changed
// meanwhile. An error of fn is returned unchanged and nothing is written.
func (w *Workspace) Update(ctx context.Context, p model.Path, by model.Author, origin any, fn func(cur *model.Version) (string, error)) (Result, error) {
	c := change{path: p, by: by, origin: origin}
	c.plan = func(n *note, cur *model.Version) (planner.Plan, error) {
		text, err := fn(cur)
		if err != nil {
			return planner.Plan{}, &callerError{err}
		}
		return w.plan(n, cur, text, by)
	}
	res, err := w.change(ctx, c)
	var own *callerError
	if errors.As(err, &own) {
		err = own.err
	}
	return res, err
}

// callerError is an error of a caller's function on its way back to the caller.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// change is one change of a note by a program: plan says what it makes of the
// current version, again each time that somebody else's save came first.
type change struct {
	path    model.Path
	by      model.Author
	origin  any
	modTime time.Time // zero means now
	sync    bool
	plan    func(*note, *model.Version) (planner.Plan, error)
}

// change is the one way by which programs change a note.
func (w *Workspace) change(ctx context.Context, c change) (Result, error) {
	n, err := w.note("write", c.path)
	if err != nil {
		return Result{}, err
	}
	return w.changeNote(ctx, n, c)
}

// changeNote is change for a note that was found, which may be proposed to be deleted:
// then nobody is told.
func (w *Workspace) changeNote(ctx context.Context, n *note, c change) (Result, error) {
	if err := w.begin(); err != nil {
		return Result{}, model.WrapError("write", c.path, err)
	}
	defer w.inflight.Done()
	var events []model.Event
	defer func() {
		if n.isShown() {
			w.publishAll(events)
		}
	}()
	n.write.Lock()
	defer n.write.Unlock()
	for range maxAttempts {
		res, ev, err := n.attempt(ctx, c)
		events = appendEvent(events, ev)
		if !errors.Is(err, model.ErrConflict) {
			return res, err
		}
		ev, err = n.refresh(ctx)
		if err != nil {
			return Result{}, err
		}
		events = appendEvent(events, ev)
	}
	return Result{}, &model.Error{Op: "write", Path: c.path, Err: model.ErrConflict}
}

// attempt makes the change on the version that is current now. ErrConflict says
// that the file has changed since that was read. The write lock is held.
func (n *note) attempt(ctx context.Context, c change) (Result, *model.Event, error) {
	cur, err := n.load(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	plan, err := c.plan(n, cur)
	if err != nil {
		return Result{}, nil, model.WrapError("write", c.path, err)
	}
	if len(plan.Edits) == 0 {
		return Result{Version: cur, Warnings: plan.Warnings}, nil, nil
	}
	res, ev, err := n.commit(ctx, cur, plan, c)
	if ev != nil {
		ev.Origin, ev.Asked = c.origin, true
	}
	return res, ev, err
}

func appendEvent(events []model.Event, ev *model.Event) []model.Event {
	if ev == nil {
		return events
	}
	return append(events, *ev)
}

func (w *Workspace) publishAll(events []model.Event) {
	for _, ev := range events {
		w.events.publish(ev)
	}
}

// commit makes a plan's edits: in the file, in the document, in the store. It
// changes nothing and returns ErrConflict if the file is not what cur was read
// from. The write lock is held.
func (n *note) commit(ctx context.Context, cur *model.Version, plan planner.Plan, c change) (Result, *model.Event, error) {
	at := n.where()
	raw := diffwrap.Apply(cur.Raw(), plan.Edits)
	if len(raw) > model.MaxNote {
		return Result{}, nil, &model.Error{Op: "write", Path: at.path, Err: model.ErrTooLarge} // its marks are what is too much
	}
	if n.live != nil {
		return n.commitLive(ctx, at, cur, plan, c)
	}
	modTime := c.modTime
	if modTime.IsZero() {
		modTime = time.Now()
	}
	modTime = model.NextModTime(cur.ModTime(), modTime)
	d := draft{note: n, at: at, cur: cur, raw: raw, sync: c.sync, change: func(doc *ycrdt.Doc) model.Record {
		return n.carryOut(doc, cur.Raw(), &plan, c.by)
	}}
	if err := d.save(ctx, n.stamp, modTime); err != nil {
		return Result{}, nil, err
	}
	ev := n.succeed(cur, raw, modTime)
	return n.written(at, cur, ev.Version, plan, c), ev, nil
}

// draft is a change of note and file on its way. The store keeps its record before the
// file gets its text; if the file does not, the record is taken back.
type draft struct {
	note   *note
	at     place
	cur    *model.Version
	raw    string // what is to follow cur
	sync   bool
	change func(*ycrdt.Doc) model.Record // makes it, in a document that is in the state of cur

	begun   bool // the document is open, and may have changed
	onCopy  bool // a copy of it has changed
	seq     uint64
	sum     model.ContentSum
	records []model.Record // what was kept; the last is that of the write
}

// save makes the file, which is as expect says, hold the text.
func (d *draft) save(ctx context.Context, expect model.Stamp, modTime time.Time) error {
	stamp, err := d.at.source.Replace(ctx, d.at.rel, model.Replacement{
		Expect: expect, Data: []byte(d.raw), ModTime: modTime, Sync: d.sync,
		Meanwhile: func(post model.Stamp) error { return d.keep(expect, post) },
	})
	if err != nil {
		d.abort()
		return model.WrapError("write", d.at.path, err)
	}
	n := d.note
	n.stamp = stamp
	n.keepFlushed()
	n.caughtUp()
	d.finish()
	return nil
}

// keep makes the change in the document, and has the store keep it. A document that others
// have open changes when the file has: until then a copy does.
func (d *draft) keep(pre, post model.Stamp) error {
	n := d.note
	d.begun = true
	records, err := n.openDoc(d.at, d.cur.Raw())
	if err != nil {
		return err
	}
	doc := n.doc
	if d.onCopy = n.isShared(); d.onCopy {
		if doc, err = replayOne(n.doc.EncodeStateAsUpdate(nil)); err != nil {
			return err
		}
	} else {
		n.replaced(d.cur)
	}
	rec := d.change(doc)
	rec.Created = n.kept == 0 && len(records) == 0 && n.bornOf.Name != "" // it was made empty
	d.sum = model.SumOf(d.raw)
	rec.Save = &model.Save{Pre: pre, Post: post, Sum: d.sum[:]}
	d.records = append(slices.Clip(records), rec)
	d.seq, err = d.at.store.Append(n.id, model.Path(d.at.rel), d.records...)
	if err != nil {
		d.records = nil
	}
	return err
}

// abort forgets the document of a write that is not in the file, and takes back its
// record. The next one has another client: what was taken back may have been seen.
func (d *draft) abort() {
	n := d.note
	if !d.begun {
		return
	}
	if len(d.records) > 0 {
		if err := d.at.store.Abort(n.id, d.seq); err != nil {
			n.ws.log.Error("a write that failed may show after a restart", model.LogPath, string(d.at.path), model.LogErr, err)
		}
	}
	if d.onCopy {
		return
	}
	n.closeDoc()
	if len(d.records) < 2 && n.kept == 0 {
		d.cur.SetRuns(nil) // the next document gives its characters other identities
	}
}

// finish is for when the file has the text.
func (d *draft) finish() {
	n := d.note
	if d.onCopy {
		n.replaced(d.cur)
		err := d.at.store.Sync() // before others get it, who keep it whatever a power cut takes here
		if err == nil {
			err = n.doc.ApplyUpdate(d.records[len(d.records)-1].Update, nil)
		}
		if err != nil {
			n.ws.log.Error("a change is not in the live document", model.LogPath, string(d.at.path), model.LogErr, err)
			n.closeDoc()
		}
	}
	n.advance(d.at, d.seq, d.sum, d.records)
}

// written describes a write that led from cur to v.
func (n *note) written(at place, cur, v *model.Version, plan planner.Plan, c change) Result {
	n.ws.log.Debug("note written", model.LogPath, string(at.path), model.LogAuthor, c.by.Name, model.LogEdits, len(plan.Edits))
	return Result{Version: v, Changed: true, Warnings: plan.Warnings, FrontMatter: plan.FrontMatter != nil, before: cur.Marked()}
}

// plan decides, before anything is written, what text makes of cur's raw text.
// n is nil for a note that does not exist yet; else its write lock is held.
func (w *Workspace) plan(n *note, cur *model.Version, text string, by model.Author) (planner.Plan, error) {
	locked := w.o.Locked()
	switch {
	case text == cur.Text():
		return planner.Plan{}, nil
	case locked != nil:
		return planner.Plan{}, locked
	case cur.ReadOnly():
		return planner.Plan{}, model.ErrReadOnly
	case len(text) > model.MaxNote:
		return planner.Plan{}, model.ErrTooLarge
	case !utf8.ValidString(text):
		return planner.Plan{}, model.ErrInvalidUTF8
	case w.o.View == diffwrap.RawView:
		return planner.Plan{Edits: diffwrap.Diff(cur.Raw(), text)}, nil
	case w.o.Mode == Direct:
		return planner.Plan{Edits: planner.DirectEdits(cur, text)}, nil
	}
	return w.suggest(n, cur, text, by)
}

func (w *Workspace) suggest(n *note, cur *model.Version, text string, by model.Author) (planner.Plan, error) {
	lens := diffwrap.Options{FrontMatter: w.o.FrontMatter, Dialect: w.o.Dialect, Author: by.Name, Now: time.Now().UTC()}
	if n != nil && by.Name != "" && attribution.MarksIn(cur.Marked()) {
		x, known, u, err := n.layout(cur)
		if err != nil {
			return planner.Plan{}, err
		}
		lens.Foreign = known.Foreign(x, u, by.Name)
	}
	return planner.Suggest(cur, text, lens)
}
