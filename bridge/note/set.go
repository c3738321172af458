package note

import (
	"log/slog"
	"sync"

	"github.com/relayfs/relayfs/bridge/activity"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Mode says what a write becomes.
type Mode uint8

const (
	// Suggest makes every write a set of suggestions in the document.
	Suggest Mode = iota
	// Direct makes every write plain text at once.
	Direct
)

func (m Mode) String() string { return [...]string{"suggest", "direct"}[m] }

// Options say how notes are shown and written.
type Options struct {
	Mode        Mode
	View        diffwrap.View
	ReadOnly    bool
	FrontMatter diffwrap.FrontMatterPolicy
	Dialect     diffwrap.Dialect
	// CacheBytes bounds the memory of notes that are loaded and that nobody is
	// changing, with what is known of who wrote them; 0 is 256 MiB.
	CacheBytes int
	Logger     *slog.Logger // nil discards
}

// Locked says why no note can be written, with an ErrReadOnly; nil if they can. A raw
// view would be stored as it is written: past every review.
func (o *Options) Locked() error {
	switch {
	case o.ReadOnly:
		return model.ErrReadOnly
	case o.View == diffwrap.OriginalView:
		return &model.ReadOnlyError{Reason: "the view original does not show what is proposed already; write through relayfs with --view accepted"}
	case o.View == diffwrap.RawView && o.Mode != Direct:
		return &model.ReadOnlyError{Reason: "what is written in the view raw would not become suggestions; write through relayfs with --view accepted, or with --mode direct"}
	}
	return nil
}

// Set is what the notes of a workspace share.
type Set struct {
	o     Options
	act   *activity.Activity
	cache cache
	dirty sync.Map // the notes whose files lack a change
}

// NewSet makes a set without notes. Their changes are operations and events of act.
func NewSet(o Options, act *activity.Activity) *Set {
	return &Set{o: o, act: act, cache: cache{budget: o.CacheBytes}}
}

// New makes the note of a node, whose file is in source and whose document is in store.
func (s *Set) New(node Node, source model.Source, store model.Store) *Note {
	return &Note{set: s, node: node, source: source, document: document{store: store}}
}
