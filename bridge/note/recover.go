package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// The store's records define the document; the file is a replica of it. The store appends a record before the file gets
// its text, so after a crash the file may lack the last records. A record has the file's stamps before and after its
// write. A stamp that relayfs did not make shows a user's save.

type fileState struct {
	version *model.Version
	save    *model.Save // save of this state by relayfs; nil if the record was taken from the file
}

// recover compares the store's history with the file that was just read, and reconciles them. The first matching row
// applies:
//
//	the file holds the newest text          nothing to do
//	its stamp is Pre or Post of a save      the file lacks the newest text because of a crash, or a crash tore the
//	                                        file: write the newest text
//	it holds its last recorded text         as in the previous row
//	otherwise                               a user has saved: apply the changes of that save, relative to the
//	                                        file's last recorded text, to the newest text
//
// In the last row, a save does not revert text that the file never held. A file that was set back to an old text, from
// a backup or by git, counts as a user's save.
//
// h is the stored history. If the document has text that the file lacks, recover publishes and returns the newest text.
// If it cannot write that text to the file, it also returns an error.
func (n *Locked) recover(ctx context.Context, loc Location, file *model.Version, h *model.History) (newest *model.Version, err error) {
	stamp := n.stamp
	if n.id == "" || file.ReadOnly() || len(h.Records) == 0 {
		return nil, nil
	}
	if sum := model.SumOf(file.Raw()); h.FileIsDurable(sum) {
		if !stamp.IsFile(h.File) { // a program has copied the text back
			n.store.RecordFileSeq(n.id, h.FileSeq, sum, stamp)
		}
		return nil, nil
	}
	states, doc, err := statesOf(*h)
	if err != nil {
		return nil, model.WrapError("open", loc.Path, err)
	}
	head := states[len(states)-1].version
	n.use(doc)
	if head.Raw() == file.Raw() {
		n.syncFile(ctx, loc, file)
		return nil, nil
	}
	held := lastFileText(states, n.source, file.Raw())
	interrupted := isInterrupted(states, stamp) || held.Raw() == file.Raw()
	if !interrupted && held == head {
		rec := n.changeSaved(n.doc, head.Raw(), file.Raw())
		rec.DetectedLate = true
		n.keepSaved(loc, model.SumOf(file.Raw()), stamp, []model.Record{rec})
		return nil, nil
	}
	newest = n.publish(n.newVersion(head.Raw(), model.NextModTime(file.ModTime(), time.Now())))
	n.set.o.Logger.Info("writing changes that did not reach the file before a crash", model.LogPath, string(loc.Path))
	var former model.Save
	if save := h.Records[len(h.Records)-1].Save; save != nil {
		former = *save
	}
	if interrupted {
		err = n.writeFile(ctx, loc, newest, newest.ModTime(), former)
	} else {
		err = n.mergeSave(ctx, held, file.Raw(), former)
	}
	if err != nil {
		n.set.o.Logger.Warn("changes not written to the file yet, will retry", model.LogPath, string(loc.Path), model.LogErr, err)
	}
	return newest, err
}

// writeFile writes the version current, which the store has, to the file. former is the stored save of the last record;
// if the write fails, writeFile stores it again.
func (n *Locked) writeFile(ctx context.Context, loc Location, current *model.Version, modTime time.Time, former model.Save) error {
	id, seq, sum, file := n.id, n.storedSeq, model.SumOf(current.Raw()), model.Stamp{}
	return n.replace(ctx, loc, current.Raw(), modTime, model.Replacement{
		IfMatch: n.stamp,
		BeforeRename: func(post model.Stamp) error {
			file = post
			return n.recordSave(seq, model.Save{Pre: n.stamp, Post: post, Sum: sum[:]})
		},
		OnAbort: func() {
			if err := n.recordSave(seq, former); err != nil {
				n.set.o.Logger.Error("a user's save may revert changes after a restart", model.LogPath, string(loc.Path), model.LogErr, err)
			}
		},
		OnDurable: func() { n.store.RecordFileSeq(id, seq, sum, file) },
	})
}

// mergeSave merges a user's save: it applies the changes from base to saved to the current note, and writes the result
// to the file. It returns ErrConflict if the file has changed again.
func (n *Locked) mergeSave(ctx context.Context, base *model.Version, saved string, former model.Save) error {
	loc, current := n.node.Location(), n.current.Load()
	merged := textmerge.Merge(textmerge.RawSide(base.Raw(), base.Runs()), textmerge.RawSide(current.Raw(), n.runs(current)), saved)
	if !model.Writable(merged) {
		return &model.Error{Op: "read", Path: loc.Path, Err: model.ErrInvalidUTF8}
	}
	modTime := modTimeOf(current, n.stamp)
	if merged == current.Raw() {
		return n.writeFile(ctx, loc, current, modTime, former)
	}
	d := draft{note: n, at: loc, current: current, raw: merged, change: func(doc *ycrdt.Doc) model.Record {
		return n.changeSaved(doc, current.Raw(), merged)
	}}
	if err := d.save(ctx, n.stamp, modTime); err != nil {
		return err
	}
	n.publish(n.newVersion(merged, modTime))
	return nil
}

// syncFile syncs the file, which holds the stored text, and records that it is synced. The process that wrote the file
// may have been killed before it synced it.
func (n *Locked) syncFile(ctx context.Context, loc Location, file *model.Version) {
	if s, ok := n.source.(model.Durable); ok {
		if err := s.Sync(ctx, loc.Rel); err != nil {
			n.set.o.Logger.Warn("note is not synced: a power cut may restore its previous content", model.LogPath, string(loc.Path), model.LogErr, err)
			return
		}
	}
	n.store.RecordFileSeq(n.id, n.storedSeq, model.SumOf(file.Raw()), n.stamp)
}

// statesOf replays a history. It returns the states of the document, starting with the last state that the file is
// known to have held. A record without a Save was taken from the file.
func statesOf(h model.History) ([]fileState, *ycrdt.Doc, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text(model.ContentsName)
	var states []fileState
	for i, rec := range h.Records {
		if rec.Seq > h.FileSeq && len(states) == 0 {
			states = append(states, fileState{version: rawState(text)})
		}
		if err := rec.ApplyTo(doc); err != nil {
			return nil, nil, err
		}
		if rec.Seq > h.FileSeq || i == len(h.Records)-1 {
			states = append(states, fileState{rawState(text), rec.Save})
		}
	}
	return states, doc, nil
}

func rawState(text *ycrdt.Text) *model.Version { return model.RawVersion(text.String(), text.Runs()) }

// lastFileText returns the newest text that the file held before the user's save. It skips saves that did not reach the
// file, and saves that a power cut tore: in both cases the file has its previous text. If the source has no evidence
// about the last save, lastFileText returns the candidate nearest to now, the file's present text. Earlier saves
// without evidence count as saves that reached the file.
func lastFileText(states []fileState, source model.Source, now string) *model.Version {
	saves := 0
	for i := len(states) - 1; i > 0; i-- {
		s := states[i]
		if s.save == nil {
			return s.version
		}
		if len(s.save.Sum) == 0 { // the save was aborted
			continue
		}
		saves++
		switch placed, ok := wasRenamed(source, *s.save); {
		case placed, !ok && saves > 1:
			return s.version
		case !ok: // a power cut destroyed the evidence of the last save
			if before := lastFileText(states[:i], source, now); textmerge.Distance(before.Raw(), now) < textmerge.Distance(s.version.Raw(), now) {
				return before
			}
			return s.version
		}
	}
	return states[0].version
}

// wasRenamed reports whether the new file of a save was renamed to its name. If the source is not a
// RenameChecker, it assumes that the file was renamed. known is false if the source has no evidence.
func wasRenamed(source model.Source, save model.Save) (placed, known bool) {
	if p, ok := source.(model.RenameChecker); ok {
		return p.Renamed(save)
	}
	return true, true
}

// isInterrupted reports whether the file had this stamp directly before or after a save by relayfs that may have been
// interrupted.
func isInterrupted(states []fileState, stamp model.Stamp) bool {
	for _, s := range states[1:] {
		if s.save != nil && len(s.save.Sum) > 0 && (stamp.SameFile(s.save.Pre) || stamp.SameFile(s.save.Post)) {
			return true
		}
	}
	return false
}

// The functions below make a note's document follow the text of its file.

// unloadDoc drops the document from memory. The store may lack its last state.
func (n *Locked) unloadDoc() {
	n.doc, n.text, n.table, n.cachedLayout, n.shared = nil, nil, nil, cachedLayout{}, facts.Facts{}
}

// keep appends records to the store. The file has the given stamp and the text after the last record. sum is the
// checksum of that text. If the append fails, keep drops the document. The next change builds the document again from
// the store and the file.
func (n *Locked) keep(loc Location, sum model.ContentSum, file model.Stamp, records []model.Record) error {
	if len(records) == 0 {
		return nil
	}
	seq, err := n.store.Append(n.id, model.Path(loc.Rel), records...)
	if err != nil {
		n.unloadDoc()
		return model.WrapError("write", loc.Path, err)
	}
	n.markStored(seq, records)
	n.store.RecordFileSeq(n.id, seq, sum, file)
	return nil
}

// keepSaved is keep for what a user has saved in the file. If the append fails, it only logs the error: the file is
// authoritative and was read, and a later change updates the store.
func (n *Locked) keepSaved(loc Location, sum model.ContentSum, file model.Stamp, records []model.Record) bool {
	err := n.keep(loc, sum, file, records)
	if err != nil {
		n.set.o.Logger.Warn("user's change is not in the store yet", model.LogPath, string(loc.Path), model.LogErr, err)
	}
	return err == nil
}

// reconcile merges raw, which a user's program saved in the file, into the note as plain text. The caller publishes the
// event after it releases the lock.
func (n *Locked) reconcile(raw string, file model.Stamp, modTime time.Time) (*model.Event, error) {
	current := n.current.Load()
	loc := n.node.Location()
	// Marks and threads that were listed keep their IDs only with a document.
	if !model.Writable(raw) || n.doc == nil && n.id == "" && !attribution.MarksIn(current.Raw()) {
		n.nameRuns(current)
		n.unloadDoc()
		return n.publishAfter(current, n.newVersion(raw, modTime)), nil
	}
	oldText := current.Raw()
	if !model.Writable(oldText) {
		oldText = raw // the file was cut within a character, and the document never had its text
	}
	records, err := n.open(loc, oldText)
	if err != nil {
		return nil, err
	}
	if oldText == current.Raw() {
		n.nameRuns(current)
	}
	if oldText != raw {
		records = append(slices.Clip(records), n.changeSaved(n.doc, oldText, raw))
	}
	if !n.keepSaved(loc, model.SumOf(raw), file, records) {
		current.SetRuns(nil) // the next document may give these characters other identities
	}
	v := model.NewVersion(raw, n.set.o.View, modTime)
	if err := n.separateStored(loc, v, nil); err != nil {
		n.set.o.Logger.Warn("authors of the marks are unknown", model.LogPath, string(loc.Path), model.LogErr, err)
	}
	return n.publishAfter(current, v), nil
}

// separate attributes the recorded marks in v, whose text is the document's, and moves users' text out of agents' marks.
// In a shared document it also removes text that was rejected late, which may have no mark.
func (n *Locked) separate(v *model.Version) {
	if v.ReadOnly() || n.shared.IsEmpty() && !attribution.MarksIn(v.Raw()) {
		return
	}
	l, err := n.currentTable()
	if err != nil {
		n.set.o.Logger.Warn("authors of the marks are unknown", model.LogPath, string(n.node.Location().Path), model.LogErr, err)
		return
	}
	n.cachedLayout = attribute(v, l, n.runs(v), n.live != nil)
}

// attribute sets the authorship of a version's marks from the table and lays them out. The marks of a shared document
// may be tangled, because other mounts write to it concurrently.
func attribute(v *model.Version, t *attribution.Table, runs []ycrdt.Run, shared bool) cachedLayout {
	u := t.UnitsOf(v.Raw(), runs)
	known := attribution.Known(u)
	if planned := v.RawKnown(); planned.Same(known) {
		known = planned // the planner may have parsed the text
	}
	inWhole, untangled := known, []diffwrap.Edit(nil)
	correct := func(edits []diffwrap.Edit) {
		if len(edits) > 0 {
			u = u.AfterEdits(edits)
			inWhole, untangled = attribution.Known(u), diffwrap.Compose(len(v.Raw()), untangled, edits)
		}
	}
	if shared {
		correct(t.Leftovers(u))
		correct(t.Corrected(u, inWhole))
	}
	separated, x := t.CanonicalEdits(inWhole, u)
	if len(untangled)+len(separated) == 0 {
		known = x.Known
	}
	v.Attribute(known, diffwrap.Compose(len(v.Raw()), untangled, separated), x.Known)
	return cachedLayout{version: v, layout: x}
}

// separateStored does the work of separate for a note that was just read, and whose document is in the store. It does
// nothing if the marks are certain without the records. Text that the store does not have is a user's. h is the stored
// history; nil if not loaded.
func (n *Locked) separateStored(loc Location, v *model.Version, h *model.History) error {
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
			return model.WrapError("open", loc.Path, err)
		}
		h = &kept
	}
	if len(h.Records) == 0 || !h.MayHaveHumanEdits() && diffwrap.IsCertain(v.Raw()) && h.FileIsCurrent(model.SumOf(v.Raw())) {
		return nil
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil // callers that need the document get the error
	}
	attribute(v, attribution.NewTable(h.Records), runsAs(doc, v.Raw()), false)
	return nil
}
