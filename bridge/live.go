package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file is for notes whose document is the truth: those of a Source that
// shares its documents live. There is no file to keep in step, and the document
// may change at any moment. A version is the text of one state of the document
// together with the identities of its characters, taken at once.

// Documents is a Source whose notes are live documents, which peers change at
// any time. Their text is the root Text "contents". The source keeps everything
// that it receives, and what Change makes, in the Folder's Store. It reports
// EventChanged for what peers did.
type Documents interface {
	// Document returns the note's document. For one that was never fetched it
	// waits, within a bound, and then fails with ErrNotFetched.
	Document(ctx context.Context, rel string) (Document, error)

	// NewDocument makes a new note with what fn puts into its empty document, and
	// keeps that as Document.Change does. Missing parent folders are made.
	// fs.ErrExist if the name is taken.
	NewDocument(ctx context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (Document, error)
}

// Document is one live document. It stays valid over renames and evictions.
type Document interface {
	// ID is the document's name in the Store.
	ID() model.DocID

	// View calls fn with the document, which does not change until fn returns.
	View(ctx context.Context, fn func(doc *ycrdt.Doc, modTime time.Time) error) error

	// Change calls fn, which may change the document, and keeps what it did: as rec,
	// whose Update, Client, Clock and Len it fills in and fn the rest, in the Store, durably, and
	// then on its way to the peers. An error of fn, which has changed nothing then,
	// is returned unchanged. After any error the document is as it was. ErrReadOnly
	// if the peers would not take a change.
	Change(ctx context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error
}

// SyncStatus says how far a Source and its server are in step.
type SyncStatus struct {
	Server    string `json:"server"`
	Connected bool   `json:"connected"`
	// Unsent are the documents with changes that the server has not acknowledged.
	Unsent int `json:"unsent"`
	// Unfetched are the notes that are known by name only.
	Unfetched int  `json:"unfetched"`
	ReadOnly  bool `json:"readOnly,omitempty"` // the server takes no changes
	// Hidden are the paths of what is not shown because its name holds control
	// characters: a person has to give it another one on the server.
	Hidden []string `json:"hidden,omitempty"`
	// LastError says why there is no connection, or what the server refused, and
	// what to do about it.
	LastError string    `json:"lastError,omitempty"`
	Synced    time.Time `json:"synced,omitzero"` // when both were last known to be in step
}

// Syncer is a Source that is in step with a server.
type Syncer interface {
	SyncStatus() SyncStatus
	// Attempted waits until it is known whether the server can be reached, within a
	// bound of some seconds.
	Attempted(ctx context.Context)
	// Acknowledged waits until the server has all of the note at rel, within a bound
	// of some seconds, and says whether it has. It does not wait for a server that
	// is not connected.
	Acknowledged(ctx context.Context, rel string) bool
}

// noWaitKey marks a context whose holder takes what is there.
type noWaitKey struct{}

func noWait(ctx context.Context) context.Context { return context.WithValue(ctx, noWaitKey{}, true) }

// Waits says whether a Source is to wait, within its bound, for what it has yet
// to fetch. Indexes do not wait: they hear of it when it is there.
func Waits(ctx context.Context) bool { return ctx.Value(noWaitKey{}) == nil }

// liveState is one state of a live document.
type liveState struct {
	raw     string
	runs    []ycrdt.Run
	modTime time.Time
	// foreign: the text holds more than characters, so that places in raw are not
	// places in the text.
	foreign bool
}

func stateOf(doc *ycrdt.Doc, modTime time.Time) liveState {
	text := doc.Text(contentsName)
	s := liveState{raw: text.String(), runs: text.Runs(), modTime: modTime}
	s.foreign = text.Len() != textmerge.UTF16Len(s.raw)
	return s
}

// openLive makes sure that the note has its live document. The write lock is held.
func (n *note) openLive(ctx context.Context, at place, docs Documents) error {
	if n.live != nil {
		return nil
	}
	d, err := docs.Document(ctx, at.rel)
	if err != nil {
		return model.WrapError("open", at.path, err)
	}
	n.live, n.id = d, d.ID()
	return nil
}

// loadLive reads a live note. The write lock is held.
func (n *note) loadLive(ctx context.Context, at place, docs Documents) (*model.Version, error) {
	if err := n.openLive(ctx, at, docs); err != nil {
		return nil, err
	}
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("open", at.path, err)
	}
	return n.publishVersion(n.versionOf(s, s.modTime)), nil
}

func (n *note) readLive(ctx context.Context) (s liveState, err error) {
	err = n.live.View(ctx, func(doc *ycrdt.Doc, modTime time.Time) error {
		s = stateOf(doc, modTime)
		return nil
	})
	return s, err
}

// versionOf makes the version of a state.
func (n *note) versionOf(s liveState, modTime time.Time) *model.Version {
	v := model.NewVersion(s.raw, n.ws.o.View, 0, modTime)
	v.SetRuns(s.runs)
	defer n.separate(v)
	if s.foreign {
		v.LockWrites()
	}
	return v
}

// refreshLive brings the note up to its document, which peers changed. The write
// lock is held.
func (n *note) refreshLive(ctx context.Context, at place, cur *model.Version) (*model.Event, error) {
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("read", at.path, err)
	}
	if s.raw == cur.Raw() && slices.Equal(s.runs, cur.Runs()) {
		return nil, nil
	}
	return n.succeedBy(cur, n.versionOf(s, model.NextModTime(cur.ModTime(), s.modTime))), nil
}

// commitLive makes a plan's edits in the note's live document. It changes
// nothing and returns ErrConflict if the text is not cur's any more. The write
// lock is held.
func (n *note) commitLive(ctx context.Context, at place, cur *model.Version, plan planner.Plan, c change) (Result, *model.Event, error) {
	rec := model.Record{Time: time.Now().UTC()}
	known, err := n.ledgerNow()
	if err != nil {
		return Result{}, nil, model.WrapError("write", at.path, err)
	}
	var s liveState
	err = n.live.Change(ctx, &rec, func(doc *ycrdt.Doc) error {
		text := doc.Text(contentsName)
		if text.String() != cur.Raw() || !slices.Equal(text.Runs(), cur.Runs()) {
			return model.ErrConflict
		}
		plan.CarryOut(doc, text, cur.Raw(), c.by, known, &rec)
		s = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return Result{}, nil, model.WrapError("write", at.path, err)
	}
	had := known.Size()
	if known.Add(&rec); known.GrownFrom(had) {
		known.Prune(s.runs)
	}
	modTime := c.modTime
	if modTime.IsZero() {
		modTime = rec.Time
	}
	ev := n.succeedBy(cur, n.versionOf(s, model.NextModTime(cur.ModTime(), modTime)))
	return n.written(at, cur, ev.Version, plan, c), ev, nil
}

// createLive makes a new live note whose raw text is raw. names is held.
func (w *Workspace) createLive(ctx context.Context, at place, docs Documents, raw string, plan planner.Plan, wr Write) (Result, error) {
	rec := model.Record{Time: time.Now().UTC()}
	plan.Edits = []diffwrap.Edit{{New: raw}}
	var s liveState
	d, err := docs.NewDocument(ctx, at.rel, &rec, func(doc *ycrdt.Doc) error {
		plan.CarryOut(doc, doc.Text(contentsName), "", wr.By, attribution.NewLedger(nil), &rec)
		s = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return Result{}, model.WrapError("create", at.path, err)
	}
	stamp := model.Stamp{Size: int64(len(raw)), ModTime: s.modTime.UnixNano()}
	n := w.put0(at.folder, model.SourceEntry{Rel: at.rel, Mode: 0o644, Stamp: stamp}, wr.By).note
	n.write.Lock()
	n.live, n.id, n.bornOf = d, d.ID(), wr.By
	v := n.publishVersion(n.versionOf(s, s.modTime))
	n.write.Unlock()
	at.names.tell(model.Event{Kind: model.EventCreated, Path: at.path, Version: v, ViewChanged: true, Origin: wr.Origin})
	return Result{Version: v, Changed: true, Warnings: plan.Warnings}, nil
}
