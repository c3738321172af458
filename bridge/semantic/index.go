package semantic

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sort"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/lexical"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/bridge/wake"
)

// Options of an Index. The zero value derives vectors from the notes themselves, and
// stores nothing.
type Options struct {
	Embedder Embedder     // nil: latent semantic analysis of the notes
	Dir      string       // where vectors are stored; "" stores none
	Logger   *slog.Logger // nil discards
}

// Index ranks the notes of a workspace by their subject.
type Index struct {
	ws   *bridge.Workspace
	o    Options
	log  *slog.Logger
	wake wake.Signal // asks Run to rebuild the model

	updating sync.Mutex            // one update at a time; held while notes are read and embedded
	done     []*noteindex.NoteInfo // what the last update brought the vectors to; updating protects it

	wording sync.Mutex            // one update of the words at a time, which waits for no vectors
	worded  []*noteindex.NoteInfo // what they were brought to, without notes that could not be read; wording protects it
	words   *lexical.Index

	mu       sync.RWMutex // protects the following
	embedder Embedder     // nil until there is a model of the notes
	notes    map[model.Path]*indexed
	vectors  *vectors    // by the hash of a passage and its note's name
	flat     []passageOf // of all notes
	changed  int         // passages embedded since the model was built
	dirty    bool        // something is not in Dir yet
}

// indexed is a note whose passages have vectors.
type indexed struct {
	info     *noteindex.NoteInfo // the indexed state; another pointer means a change
	passages []int32             // rows of vectors
}

// passageOf is a passage of a note, by its number and the row of its vector.
type passageOf struct {
	info     *noteindex.NoteInfo
	row, num int32
}

type sum [8]byte

func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:len(sum{})])
}

// New returns an index over ws, with the vectors that are stored in o.Dir. It embeds
// nothing before the first search.
func New(ws *bridge.Workspace, o Options) *Index {
	x := &Index{ws: ws, o: o, log: o.Logger, wake: wake.New(), embedder: o.Embedder, words: lexical.New()}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.notes, x.vectors = make(map[model.Path]*indexed), new(vectors)
	x.load()
	return x
}

// Hit is a found note.
type Hit struct {
	*noteindex.NoteInfo
	Score   float64 // 0 to 1
	Snippet string  // of the best passage, on one line

	passage int // the best one
}

// SearchIn ranks the notes of ws, the workspace or a part of it, that have all properties
// in filter by their similarity to query, best first, and returns at most limit of them.
// Notes without any similarity are left out. If after is not nil, the result starts behind
// it in the ranking, even if that note is gone.
func (x *Index) SearchIn(ctx context.Context, ws *bridge.Workspace, query string, filter frontmatter.Properties, after *Hit, limit int) ([]Hit, error) {
	notes, err := ws.NotesWith(ctx, filter)
	if err != nil {
		return nil, err
	}
	if err := x.Update(ctx); err != nil {
		return nil, err
	}
	embedder := x.current()
	if embedder == nil {
		return nil, nil // there are no notes to build a model of
	}
	vectors, err := embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	ranked := x.rank(notes, vectors[0])
	if after != nil {
		i := sort.Search(len(ranked), func(i int) bool {
			h := ranked[i]
			return h.Score < after.Score || h.Score == after.Score && h.Path > after.Path
		})
		ranked = ranked[i:]
	}
	return x.withSnippets(ctx, ranked, limit)
}

// current returns the embedder, nil if there is no model yet.
func (x *Index) current() Embedder {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.embedder
}

// rank returns the notes with any similarity to query, without snippets.
func (x *Index) rank(notes []*noteindex.NoteInfo, query []float32) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var list []Hit
	score := x.vectors.scorer(query)
	for _, info := range notes {
		n := x.notes[info.Path]
		if n == nil {
			continue
		}
		best := Hit{NoteInfo: info}
		for i, row := range n.passages {
			if s := score(row); s > best.Score {
				best.passage, best.Score = i, s
			}
		}
		if best.Score > 0 {
			list = append(list, best)
		}
	}
	slices.SortStableFunc(list, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

// withSnippets returns the first limit hits with their snippets. It skips notes that have
// been removed meanwhile.
func (x *Index) withSnippets(ctx context.Context, list []Hit, limit int) ([]Hit, error) {
	hits := make([]Hit, 0, min(limit, len(list)))
	for _, h := range list {
		if len(hits) == limit {
			break
		}
		v, err := x.ws.Open(ctx, h.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if parts := passages(v.Text()); h.passage < len(parts) {
			h.Snippet = snippet(parts[h.passage])
		}
		hits = append(hits, h)
	}
	return hits, nil
}
