package note

import (
	"context"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Creation is a note that is being created. It gets a new document, even if a note of the same name had a document
// before.
type Creation struct {
	raw        string
	plan       planner.Plan
	author     model.Author
	newFolders []string
	doc        document
	file       model.Stamp
	state      liveState
}

// Create plans a new note whose view is text, with a document in the given store. Errors: model.ErrTooLarge,
// ErrReadOnly, ErrInvalidUTF8, ErrRefused.
func (s *Set) Create(store model.Store, text string, author model.Author) (*Creation, error) {
	start := text[:len(text)-len(strings.TrimPrefix(text, diffwrap.ByteOrderMark))] // not a part of the suggestion
	plan, err := s.plan(nil, model.NewVersion(start, s.o.View, time.Time{}), text, author, false)
	if err != nil {
		return nil, err
	}
	c := &Creation{raw: diffwrap.Apply(start, plan.Edits), plan: plan, author: author, doc: document{store: store, id: NewDocID()}}
	if len(c.raw) > model.MaxNote {
		return nil, model.ErrTooLarge
	}
	c.plan.Edits = []diffwrap.Edit{{New: c.raw}}
	return c, nil
}

func (c *Creation) Raw() string { return c.raw }

func (c *Creation) SetNewFolders(folders []string) { c.newFolders = folders }

func (c *Creation) Warn(warning string) { c.plan.Warnings = append(c.plan.Warnings, warning) }

// Keep creates the document and appends it to the store for the note at rel, before the note's file exists. The file
// will have the given stamp.
func (c *Creation) Keep(rel string, post model.Stamp) error {
	d := &c.doc
	d.use(ycrdt.NewDoc(ycrdt.Options{}))
	if c.raw == "" {
		return nil // the document is created once there is text
	}
	rec := d.applyPlan(d.doc, "", &c.plan, c.author)
	if c.author.Name != "" {
		rec.Created, rec.Made = true, c.newFolders
	}
	c.file = post
	sum := model.SumOf(c.raw)
	rec.Save = &model.Save{Post: post, Sum: sum[:]}
	seq, err := d.store.Append(d.id, model.Path(rel), rec)
	if err == nil {
		d.storedSeq = seq
	}
	return err
}

// Abandon aborts the record of Keep.
func (c *Creation) Abandon() error {
	if c.doc.storedSeq == 0 {
		return nil
	}
	return c.doc.store.Abort(c.doc.id, c.doc.storedSeq)
}

func (c *Creation) RecordFile() {
	if c.doc.storedSeq > 0 {
		c.doc.store.RecordFileSeq(c.doc.id, c.doc.storedSeq, model.SumOf(c.raw), c.file)
	}
}

// KeepLive creates the note at rel in docs. It returns a stamp of the new document's state.
func (c *Creation) KeepLive(ctx context.Context, docs model.Documents, rel string) (model.Stamp, error) {
	rec := c.plan.Record
	rec.Time = time.Now().UTC()
	d, err := docs.NewDocument(ctx, rel, &rec, func(doc *ycrdt.Doc) error {
		c.plan.Apply(doc, doc.Text(model.ContentsName), "", c.author, &rec)
		c.state = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return model.Stamp{}, err
	}
	c.doc.live, c.doc.id = d, d.ID()
	return model.Stamp{Size: int64(len(c.raw)), ModTime: c.state.modTime.UnixNano()}, nil
}

// Create gives this new note the document of c. The note's file has the given stamp.
func (n *Note) Create(c *Creation, stamp model.Stamp) Result {
	l := n.Lock()
	defer l.Unlock()
	l.document, l.creation = c.doc, &creation{author: c.author, folders: c.newFolders}
	res := Result{ID: n.node.Location().ID, Changed: true, Warnings: c.plan.Warnings}
	if l.live != nil {
		res.Version = l.publish(l.versionOf(c.state, c.state.modTime))
		return res
	}
	l.stamp, l.synced, l.creation.at = stamp, true, time.Now()
	res.Version = l.publish(l.newVersion(c.raw, time.Unix(0, stamp.ModTime)))
	return res
}
