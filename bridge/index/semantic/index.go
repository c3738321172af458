package semantic

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
)

// Options of an Index. The zero value takes the vectors of English words, and stores nothing.
type Options struct {
	Embedder Embedder     // nil: the vectors of English words; notes in other languages have none
	Dir      owner.Folder // where vectors are stored; without one none are
	Logger   *slog.Logger // nil discards
}

// Index ranks the notes of a workspace by their subject.
type Index struct {
	ws       *bridge.Workspace
	o        Options
	log      *slog.Logger
	embedder Embedder

	updating sync.Mutex        // one update at a time; held while notes are read and embedded
	done     []*index.NoteInfo // what the last update brought the vectors to; updating protects it

	wording sync.Mutex        // one update of the words at a time, which waits for no vectors
	worded  []*index.NoteInfo // what they were brought to, without notes that could not be read; wording protects it
	words   *lexical.Index

	mu      sync.RWMutex // protects the following
	vectors *vectors     // by the hash of a passage and its note's name
	notes   map[model.Path]*indexed
	sorted  []*indexed // notes, by path
	dirty   bool       // something is not in Dir yet
}

// indexed is a note whose passages have vectors.
type indexed struct {
	info     *index.NoteInfo // the indexed state; another pointer means a change
	passages []int32         // rows of its vectors; none for a note in a language without vectors
}

type sum [8]byte

func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:len(sum{})])
}

// New returns an index over ws, with the vectors that are stored in o.Dir. It embeds nothing before the first search.
func New(ws *bridge.Workspace, o Options) *Index {
	x := &Index{ws: ws, o: o, log: o.Logger, embedder: o.Embedder, words: lexical.New(), vectors: new(vectors), notes: make(map[model.Path]*indexed)}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	if x.embedder == nil {
		x.embedder = general{}
	}
	x.load()
	return x
}

// meaning returns the vector of a question, once the vectors are those of the notes as they are.
func (x *Index) meaning(ctx context.Context, query string) ([]float32, error) {
	if err := x.Update(ctx); err != nil {
		return nil, err
	}
	v, err := x.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}
