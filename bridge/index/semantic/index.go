package semantic

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
	"github.com/relayfs/relayfs/bridge/owner"
)

// Options of an Index. The zero value uses the vectors of English words and stores nothing.
type Options struct {
	Embedder Embedder     // nil uses the vectors of English words; notes in other languages then have no vectors
	Dir      owner.Folder // folder that stores the vectors; "" stores none
	Logger   *slog.Logger // nil discards the messages
}

type Index struct {
	ws       *bridge.Workspace
	o        Options
	log      *slog.Logger
	embedder Embedder

	updating sync.Mutex // serializes updates of the vectors; held while notes are read and embedded

	wording sync.Mutex        // serializes updates of the words, which never wait for vectors
	worded  []*index.NoteInfo // notes at the last update of the words, without unreadable notes; guarded by wording
	words   *lexical.Index

	mu      sync.RWMutex      // guards the fields below, of which only dirty changes without updating
	dims    int               // length of all vectors; 0 if there was none yet
	notes   []*index.NoteInfo // indexed notes, sorted by path
	vectors []string          // vectors of the passages of each of notes; none for a note in a language without vectors
	spare   []string          // vectors of passages that are in none of notes
	dirty   bool              // there are changes that Dir does not have
}

// sum is the hash of a passage together with its note's name.
type sum [8]byte

func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:len(sum{})])
}

// New returns an index over ws with the vectors stored in o.Dir. The first search embeds the notes that have no stored
// vectors.
func New(ws *bridge.Workspace, o Options) *Index {
	x := &Index{ws: ws, o: o, log: o.Logger, embedder: o.Embedder, words: lexical.New()}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	if x.embedder == nil {
		x.embedder = general{}
	}
	x.load()
	return x
}

// meaning updates the vectors of the notes and returns the vector of a query.
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
