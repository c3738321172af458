package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// The document is what the store's records say; the file is a replica of it. A record is
// kept before the file gets its text, so that a crash leaves a file that lacks the last
// records, and a record says what the file's stamp was before and after. A person's save is
// a stamp that relayfs did not make.

// state is the text after a record.
type state struct {
	version *model.Version
	save    *model.Save // of the record, nil if that was taken from the file
}

// recover compares the store's history with the file that was just read, and brings the two
// together again. The rows of its table, the first one that fits:
//
//	the file holds the newest text          they are in step
//	its stamp is before or after a save     a crash has kept the newest text from it, or torn it: it gets that
//	it holds what it held last              the same
//	otherwise                               a person has saved since: what that changes of what the file
//	                                        held last is carried onto the newest text
//
// A save of the last row does not revert what the file never held, and a file that was set
// back to an old text, from a backup or by git, is a person's save like any other.
//
// h is what the store has. If the file cannot be written, recover returns the newest text beside the error.
func (n *Locked) recover(ctx context.Context, at Place, h *model.History) (behind *model.Version, err error) {
	if n.id == "" {
		return nil, nil
	}
	file, stamp := n.cur.Load(), n.stamp
	if file.ReadOnly() || len(h.Records) == 0 || h.Settled(model.SumOf(file.Raw())) {
		return nil, nil
	}
	states, doc, err := statesOf(*h)
	if err != nil {
		return nil, model.WrapError("open", at.Path, err)
	}
	head := states[len(states)-1].version
	n.use(doc)
	n.kept = h.Records[len(h.Records)-1].Seq
	if head.Raw() == file.Raw() {
		n.settle(ctx, at, file)
		return nil, nil
	}
	held := lastHeld(states, n.source, file.Raw())
	interrupted := isInterrupted(states, stamp) || held.Raw() == file.Raw()
	if !interrupted && held == head {
		rec := n.changeSaved(n.doc, head.Raw(), file.Raw())
		rec.Found = true
		return nil, n.keep(at, model.SumOf(file.Raw()), []model.Record{rec})
	}
	newest := n.publish(n.newVersion(head.Raw(), model.NextModTime(file.ModTime(), time.Now())))
	n.set.o.Logger.Info("changes that a crash has kept from the file are put into it", model.LogPath, string(at.Path))
	var former model.Save
	if save := h.Records[len(h.Records)-1].Save; save != nil {
		former = *save
	}
	if interrupted {
		err = n.putInFile(ctx, at, newest, newest.ModTime(), former)
	} else {
		err = n.takeOver(ctx, held, file.Raw(), former)
	}
	if err != nil {
		n.set.o.Logger.Warn("they will be put there later", model.LogPath, string(at.Path), model.LogErr, err)
	}
	return newest, err
}

// putInFile makes the file hold cur, which the store has. former is what the store says of its
// save: it says so again if the file cannot be written.
func (n *Locked) putInFile(ctx context.Context, at Place, cur *model.Version, modTime time.Time, former model.Save) error {
	id, seq, sum := n.id, n.kept, model.SumOf(cur.Raw())
	return n.replace(ctx, at, cur.Raw(), modTime, model.Replacement{
		IfMatch: n.stamp,
		BeforeRename: func(post model.Stamp) error {
			return n.place(seq, model.Save{Pre: n.stamp, Post: post, Sum: sum[:]})
		},
		OnAbort: func() {
			if err := n.place(seq, former); err != nil {
				n.set.o.Logger.Error("a person's save may take back changes after a restart", model.LogPath, string(at.Path), model.LogErr, err)
			}
		},
		OnDurable: func() { n.store.Materialized(id, seq, sum) },
	})
}

// takeOver brings in what a person saved: what the save changed of base is
// carried onto the note as it is now, and the file gets the result. It returns
// ErrConflict if the file has changed again.
func (n *Locked) takeOver(ctx context.Context, base *model.Version, saved string, former model.Save) error {
	at, cur := n.node.Place(), n.cur.Load()
	merged := textmerge.Merge(textmerge.RawSide(base.Raw(), base.Runs()), textmerge.RawSide(cur.Raw(), n.runs(cur)), saved)
	if !model.Writable(merged) {
		return &model.Error{Op: "read", Path: at.Path, Err: model.ErrInvalidUTF8}
	}
	modTime := modTimeOf(cur, n.stamp)
	if merged == cur.Raw() {
		return n.putInFile(ctx, at, cur, modTime, former)
	}
	d := draft{note: n, at: at, cur: cur, held: saved, raw: merged, change: func(doc *ycrdt.Doc) model.Record {
		return n.changeSaved(doc, cur.Raw(), merged)
	}}
	if err := d.save(ctx, n.stamp, modTime); err != nil {
		return err
	}
	n.publish(n.newVersion(merged, modTime))
	return nil
}

// settle makes the file durable, which holds what the store has, and notes that. The process
// that wrote it may have been killed before it did.
func (n *Locked) settle(ctx context.Context, at Place, file *model.Version) {
	if s, ok := n.source.(model.Durable); ok {
		if err := s.Sync(ctx, at.Rel); err != nil {
			n.set.o.Logger.Warn("note is not synced: a power cut may bring back what it held", model.LogPath, string(at.Path), model.LogErr, err)
			return
		}
	}
	n.store.Materialized(n.id, n.kept, model.SumOf(file.Raw()))
}

// statesOf replays a history: the states of the document since the file was last known to
// hold one, which is the first of them. A record without a Save was taken from the file.
func statesOf(h model.History) ([]state, *ycrdt.Doc, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text(model.ContentsName)
	var states []state
	for i, rec := range h.Records {
		if rec.Seq > h.Materialized && len(states) == 0 {
			states = append(states, state{version: rawState(text)})
		}
		if err := doc.ApplyUpdate(rec.Update, sourceOrigin{}); err != nil {
			return nil, nil, err
		}
		if rec.Seq > h.Materialized || i == len(h.Records)-1 {
			states = append(states, state{rawState(text), rec.Save})
		}
	}
	return states, doc, nil
}

func rawState(text *ycrdt.Text) *model.Version { return model.RawVersion(text.String(), text.Runs()) }

// lastHeld is the newest text that the file has held before somebody saved what it holds now.
// A save may have been interrupted before the file got its text, or a power cut has torn it and the
// file is again what it was before. Of a save before the last one the source tells the latter alone.
func lastHeld(states []state, source model.Source, now string) *model.Version {
	saves := 0
	for i := len(states) - 1; i > 0; i-- {
		s := states[i]
		if s.save == nil {
			return s.version
		}
		if len(s.save.Sum) == 0 { // it was taken back
			continue
		}
		saves++
		switch placed, known := wasPlaced(source, *s.save); {
		case placed, !known && saves > 1:
			return s.version
		case !known: // a power cut has taken what would tell
			return textmerge.Nearest([]*model.Version{lastHeld(states[:i], source, now), s.version}, (*model.Version).Raw, now)
		}
	}
	return states[0].version
}

// wasPlaced says whether the new file of a save got its name, as far as the source can tell.
func wasPlaced(source model.Source, save model.Save) (placed, known bool) {
	if p, ok := source.(model.RenameChecker); ok {
		return p.Renamed(save)
	}
	return true, true
}

// isInterrupted says whether the stamp is that of the file before or after a save of relayfs that
// may have been interrupted.
func isInterrupted(states []state, stamp model.Stamp) bool {
	for _, s := range states[1:] {
		if s.save != nil && len(s.save.Sum) > 0 && (stamp.SameFile(s.save.Pre) || stamp.SameFile(s.save.Post)) {
			return true
		}
	}
	return false
}

// This file keeps a note's document in step with the text of its file.

// prepare makes sure that the note has a document in the state of raw, in memory and in the
// store.
func (n *Locked) prepare(at Place, raw string) error {
	records, err := n.open(at, raw)
	if err != nil {
		return err
	}
	return n.keep(at, model.SumOf(raw), records)
}

// closeDoc forgets the in-memory document, whose state the store may not hold.
func (n *Locked) closeDoc() {
	n.doc, n.text, n.table, n.laid, n.shared = nil, nil, nil, laid{}, facts.Facts{}
}

// keep has the store keep records of what the file holds, whose text has that sum. If it
// cannot, the document is forgotten: the next one is made of what the store has and of the
// file.
func (n *Locked) keep(at Place, sum model.ContentSum, records []model.Record) error {
	if len(records) == 0 {
		return nil
	}
	seq, err := n.store.Append(n.id, model.Path(at.Rel), records...)
	if err != nil {
		n.closeDoc()
		return model.WrapError("write", at.Path, err)
	}
	n.advance(seq, sum, records)
	return nil
}

// reconcile takes over raw, which a person's program put in the file, as plain
// text. The event is to be published after the lock's release.
func (n *Locked) reconcile(raw string, modTime time.Time) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.node.Place()
	if !model.Writable(raw) || (n.doc == nil && n.id == "") {
		n.nameRuns(cur)
		n.closeDoc()
		return n.succeed(cur, n.newVersion(raw, modTime)), nil
	}
	had := cur.Raw()
	if !model.Writable(had) {
		had = raw // a file cut within a character: the document was never at that
	}
	records, err := n.open(at, had)
	if err != nil {
		return nil, err
	}
	if had == cur.Raw() {
		n.nameRuns(cur)
	}
	if err := n.keepSaved(at, had, raw, records); err != nil {
		// The file is the truth and has been read; the store catches up later.
		n.set.o.Logger.Warn("person's change is not in the store yet", model.LogPath, string(at.Path), model.LogErr, err)
	}
	return n.succeed(cur, n.newVersion(raw, modTime)), nil
}

// keepSaved makes the change in the document by which a person's program got from had to raw, and
// has the store keep it.
func (n *Locked) keepSaved(at Place, had, raw string, records []model.Record) error {
	if had == raw {
		return n.keep(at, model.SumOf(raw), records)
	}
	rec := n.changeSaved(n.doc, had, raw)
	return n.keep(at, model.SumOf(raw), append(slices.Clip(records), rec))
}

// separate finds the marks that relayfs has recorded, and takes what people typed inside of agents' marks out of them, in a
// version that the document is at.
func (n *Locked) separate(v *model.Version) {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return
	}
	if n.live == nil && (n.doc == nil || n.text.String() != v.Raw()) {
		return // a program's write that waits, which leaves nothing of that kind
	}
	l, err := n.tableNow()
	if err != nil {
		n.set.o.Logger.Warn("whose the marks are is not known", model.LogPath, string(n.node.Place().Path), model.LogErr, err)
		return
	}
	n.laid = attribute(v, l, n.runs(v), n.live != nil)
}

// attribute says of a version what the table tells of its marks, which it lays out. The marks may be tangled if the document
// is shared: other mounts write to it at the same moment.
func attribute(v *model.Version, t *attribution.Table, runs []ycrdt.Run, shared bool) laid {
	raw, u := v.Raw(), t.UnitsOf(runs)
	known := attribution.Known(raw, u)
	var untangled []diffwrap.Edit
	if shared {
		untangled = t.Untangled(raw, known, u)
	}
	whole, inWhole := diffwrap.Apply(raw, untangled), known
	if len(untangled) > 0 {
		u = u.Through(raw, untangled)
		inWhole = attribution.Known(whole, u)
	}
	separated, x := t.Separated(whole, inWhole, u)
	if len(untangled)+len(separated) == 0 {
		known = x.Known
	}
	v.Attribute(known, diffwrap.Compose(len(raw), untangled, separated), x.Known)
	return laid{version: v, layout: x}
}

// separateStored is separate for a note that was just read, whose document is in the
// store, unless the two have yet to be compared. h is what the store has, nil if it was not asked.
func (n *Locked) separateStored(at Place, v *model.Version, h *model.History) error {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return nil
	}
	if n.doc != nil && n.text.String() == v.Raw() {
		n.separate(v)
		return nil
	}
	if n.id == "" {
		return nil
	}
	if h == nil {
		kept, err := n.store.Load(n.id)
		if err != nil {
			return model.WrapError("open", at.Path, err)
		}
		h = &kept
	}
	if !h.MayHaveTyped() && diffwrap.IsCertain(v.Raw()) || !h.InStep(model.SumOf(v.Raw())) {
		return nil
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil // who needs the document gets the error
	}
	attribute(v, attribution.NewTable(h.Records), runsAs(doc, v.Raw()), false)
	return nil
}
