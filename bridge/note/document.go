package note

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// document is a note's document in memory and in the store, with the attribution from the store's records.
type document struct {
	store        model.Store
	id           model.DocID // "" while the note has no document
	doc          *ycrdt.Doc
	text         *ycrdt.Text
	storedSeq    uint64             // store sequence number of the document's last record
	table        *attribution.Table // attribution from the store's records up to storedSeq; nil if not loaded
	live         model.Document     // used instead of doc where the document is authoritative; see live.go
	cachedLayout cachedLayout
	// shared has the entries that other machines wrote to the live document.
	shared facts.Facts
}

func NewDocID() model.DocID {
	var b [16]byte
	rand.Read(b[:])
	return model.DocID(hex.EncodeToString(b[:]))
}

// changeSaved applies a user's save to doc: the change from oldText, the document's text, to raw. It returns the
// record.
func (d *document) changeSaved(doc *ycrdt.Doc, oldText, raw string) model.Record {
	text := doc.Text(model.ContentsName)
	table := attribution.NewTable(nil) // authors of the marks
	if attribution.MarksIn(oldText) {
		if l, err := d.currentTable(); err == nil {
			table = l
		}
	}
	plan := planner.Save(table, text, oldText, raw, func() ([]model.Record, []model.Revision) {
		h, err := d.store.Load(d.id)
		if err != nil {
			return nil, nil // the text counts as newly typed
		}
		return h.Records, d.revisions()
	})
	return d.applyPlan(doc, oldText, &plan, model.Author{})
}

// revisions returns the document's states from before the store merged their records into one.
func (d *document) revisions() []model.Revision {
	past, err := d.store.Revisions(d.id)
	if err != nil {
		return nil
	}
	return append([]model.Revision{past.Begin}, past.Revisions...)
}

func replay(records []model.Record) (*ycrdt.Doc, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range records {
		if err := rec.ApplyTo(doc); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// runsAs changes doc's text to raw and returns the identities of its characters. Characters that doc did not have get
// identities without an author.
func runsAs(doc *ycrdt.Doc, raw string) []ycrdt.Run {
	text := doc.Text(model.ContentsName)
	if have := text.String(); have != raw {
		doc.Transact(func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, text, have, textmerge.DiffSave(have, raw)) })
	}
	return text.Runs()
}

func (d *document) use(doc *ycrdt.Doc) { d.doc, d.text = doc, doc.Text(model.ContentsName) }

func (d *document) lookupID(loc Location) (model.DocID, error) {
	id, err := d.store.DocID(model.Path(loc.Rel))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return id, model.WrapError("open", loc.Path, err)
}

// open loads or creates the document if it is not in memory, and updates its text to raw. It returns the records that
// the store does not have yet.
func (d *document) open(loc Location, raw string) ([]model.Record, error) {
	if d.doc != nil {
		return nil, nil
	}
	if d.id == "" {
		d.id = NewDocID() // identify found no document
	}
	h, err := d.store.Load(d.id)
	if err != nil {
		return nil, model.WrapError("open", loc.Path, err)
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, model.WrapError("open", loc.Path, err)
	}
	d.use(doc)
	d.storedSeq = h.LastSeq()
	have := d.text.String()
	if have == raw {
		return nil, nil
	}
	rec := d.changeSaved(d.doc, have, raw)
	rec.DetectedLate = d.storedSeq > 0
	return []model.Record{rec}, nil
}

// applyPlan applies a plan's edits to doc, whose text is raw, and returns the record.
func (d *document) applyPlan(doc *ycrdt.Doc, raw string, plan *planner.Plan, author model.Author) model.Record {
	clock := func() uint64 { return doc.StateVector()[doc.ClientID()] }
	rec := plan.Record
	rec.Time, rec.Client, rec.Clock, rec.Update = time.Now().UTC(), uint64(doc.ClientID()), clock(), model.EmptyUpdate()
	doc.OnUpdate(func(update []byte) { rec.Update = update })
	defer doc.OnUpdate(nil)
	plan.Apply(doc, doc.Text(model.ContentsName), raw, author, &rec)
	rec.Len = clock() - rec.Clock
	return rec
}

// nameRuns stores the identities of current's characters in current, which is about to be replaced, for a later merge.
// The document must be in the state of current.
func (d *document) nameRuns(current *model.Version) {
	if d.doc != nil && current.Runs() == nil {
		current.SetRuns(d.runs(current))
	}
}

func (d *document) runs(current *model.Version) []ycrdt.Run {
	switch {
	case d.live != nil || d.doc != nil && current.Runs() != nil:
		return current.Runs()
	case d.cachedLayout.version == current && len(current.CanonicalEdits()) == 0:
		return d.cachedLayout.layout.Units.Runs
	case d.doc != nil:
		return d.text.Runs()
	}
	return nil
}

// runsOf returns the identities of the characters of a version that was replaced while the document was not in memory,
// or nil if it cannot find them. It takes them from the document's state when the version was published. If the version
// had text of a user that was not stored yet, the next record stored it. Equal text that agents proposed later does not
// match.
func (d *document) runsOf(v *model.Version) []ycrdt.Run {
	h, err := d.store.Load(d.id)
	if err != nil || len(h.Records) == 0 {
		return nil
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range h.Records {
		if rec.Seq > v.Recorded() && doc.Text(model.ContentsName).String() == v.Raw() {
			break
		}
		if doc.ApplyUpdate(rec.Update) != nil {
			return nil
		}
		if rec.Seq > v.Recorded() {
			break
		}
	}
	return runsAs(doc, v.Raw())
}

// BaseOf returns the base version for a writer that replaces the whole text, and that has last read the text with the
// given checksum. It is the newest version with that text, or the current version if the text has since been changed
// only by decisions and by links that follow renames. BaseOf returns nil if the store does not have that text any more.
func (n *Note) BaseOf(ctx context.Context, sum model.ContentSum) *model.Version {
	l := n.Lock()
	defer l.Unlock()
	current, err := l.load(ctx)
	if err != nil {
		return nil
	}
	if model.SumOf(current.Raw()) == sum {
		return current
	}
	records, upTo, _ := l.recordsSince(sum)
	if upTo < 0 {
		return nil
	}
	since := records[upTo:] // empty if a user has typed in a note without a document
	if len(since) > 0 && !slices.ContainsFunc(since, func(r model.Record) bool { return r.Decision == nil && r.Proposal == "" && len(r.Links) == 0 }) {
		return current
	}
	doc, err := replay(records[:upTo])
	if err != nil {
		return nil
	}
	text := doc.Text(model.ContentsName)
	v := model.NewVersion(text.String(), l.set.o.View, time.Time{})
	v.SetRuns(text.Runs())
	attribute(v, attribution.NewTable(l.shared.With(records[:upTo])), v.Runs(), l.live != nil)
	return v
}

// TypedSince reports whether a user has changed the text since it had the given checksum, or whether that is unknown.
// Changes that the note has not taken over yet do not count.
func (n *Note) TypedSince(ctx context.Context, sum model.ContentSum) bool {
	l := n.Lock()
	defer l.Unlock()
	if _, err := l.load(ctx); err != nil {
		return true
	}
	_, upTo, typed := l.recordsSince(sum)
	return typed || upTo < 0
}

// recordsSince returns the records of a note that was read, and the number of records up to the newest state whose text
// has the given checksum. The number is -1 if the store does not have that state, as after a merge of the records. typed
// reports whether a user has changed the text since.
func (n *Locked) recordsSince(sum model.ContentSum) (records []model.Record, upTo int, typed bool) {
	h, err := n.store.Load(n.id)
	if err != nil {
		return nil, -1, false
	}
	upTo = -1
	doc := ycrdt.NewDoc(ycrdt.Options{})
	before := model.SumOf("")
	for i := 0; ; i++ {
		after := model.SumOf(doc.Text(model.ContentsName).String())
		if after == sum {
			upTo, typed = i, false
		} else if after != before && h.Records[i-1].IsByUser() {
			typed = true
		}
		if before = after; i == len(h.Records) {
			return h.Records, upTo, typed
		}
		if doc.ApplyUpdate(h.Records[i].Update) != nil {
			return nil, -1, false
		}
	}
}

// withText calls fn with the document's text. It returns ErrConflict if a live document does not have the text of current.
func (d *document) withText(ctx context.Context, current *model.Version, fn func(*ycrdt.Text) error) error {
	if d.live == nil {
		return fn(d.text)
	}
	return d.live.View(ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		text := doc.Text(model.ContentsName)
		if !isAt(text, current) {
			return model.ErrConflict
		}
		return fn(text)
	})
}

// mergeInto returns the view text that results if a writer has read the version base and written text, and the note has
// changed to the version current in the meantime. Converted line breaks and byte order marks are no changes, because
// current may have the same conversion.
func (d *document) mergeInto(base, current *model.Version, text string) string {
	if base.Raw() == current.Raw() {
		return text
	}
	text = diffwrap.KeepBreaks(diffwrap.KeepByteOrderMark(text, base.Text()), base.Text())
	table, runs, err := d.identities(current)
	if base.Runs() == nil && runs != nil {
		base.SetRuns(d.runsOf(base))
	}
	old, is := base.Side(), current.Side()
	if err != nil || runs == nil || old.Runs == nil || base.ReadOnly() { // a read-only version does not show the text of its document
		is.Runs = nil
	} else {
		old.Runs, is.Runs = table.OriginalRuns(old.Runs), table.OriginalRuns(runs)
	}
	return textmerge.Merge(old, is, text)
}

func (d *document) currentTable() (*attribution.Table, error) {
	if d.id == "" || d.doc != nil && d.storedSeq == 0 {
		return attribution.NewTable(nil), nil // the store has no records of the document
	}
	if d.table != nil && (d.live != nil || d.table.LastSeq == d.storedSeq) {
		return d.table, nil
	}
	h, err := d.store.Load(d.id)
	if err != nil {
		return nil, err
	}
	l := attribution.NewTable(d.shared.With(h.Records))
	if d.live != nil || d.doc != nil {
		d.table = l
	}
	return l, nil
}

func (d *document) markStored(seq uint64, records []model.Record) {
	current := d.table != nil && d.table.LastSeq == d.storedSeq
	d.storedSeq = seq
	if !current {
		d.table = nil
		return
	}
	for i := range records {
		records[i].Seq = seq - uint64(len(records)-1-i)
		d.table.Add(&records[i])
	}
}

// identities returns the attribution of current and the identities of its raw text. Both are empty if the note was
// never written through relayfs.
func (d *document) identities(current *model.Version) (*attribution.Table, []ycrdt.Run, error) {
	switch {
	case d.id == "":
		return attribution.NewTable(nil), nil, nil
	case d.live != nil || d.doc != nil:
		l, err := d.currentTable()
		return l, d.runs(current), err
	}
	h, err := d.store.Load(d.id)
	if err != nil || len(h.Records) == 0 {
		return attribution.NewTable(nil), nil, err
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, nil, err
	}
	return attribution.NewTable(h.Records), runsAs(doc, current.Raw()), nil
}

// cachedLayout is the layout of a version, and its suggestions at a path if they were requested.
type cachedLayout struct {
	version *model.Version
	layout  *attribution.Layout
	list    []model.Suggestion
	path    model.Path // path of the suggestions; "" if no caller requested them
}

// Layout returns the marks of current and their authors.
func (d *document) Layout(current *model.Version) (*attribution.Layout, error) {
	if d.cachedLayout.version == current {
		return d.cachedLayout.layout, nil
	}
	l, runs, err := d.identities(current)
	if err != nil {
		return nil, err
	}
	x := l.LayOut(current.Known(), l.UnitsOf(current.Raw(), runs).AfterEdits(current.CanonicalEdits()))
	if d.doc != nil && d.table == l {
		d.cachedLayout = cachedLayout{version: current, layout: x}
	}
	return x, nil
}

// recordSave durably records the file that will hold the text as of record seq. After a user saves over that file, only
// this record shows which part of the text the user typed.
func (d *document) recordSave(seq uint64, save model.Save) error {
	if err := d.store.RecordSave(d.id, seq, save); err != nil {
		return err
	}
	return d.store.Sync()
}
