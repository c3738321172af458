package semantic

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"sort"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
)

// Options of an Index. The zero value makes vectors from the notes themselves,
// and keeps them in memory only.
type Options struct {
	Embedder Embedder     // nil: latent semantic analysis of the notes
	Dir      string       // where vectors are kept over restarts; "" keeps none
	Logger   *slog.Logger // nil discards
}

// Index ranks the notes of a workspace by what they are about.
type Index struct {
	ws   *bridge.Workspace
	o    Options
	log  *slog.Logger
	wake chan struct{} // asks Run for a look

	updating sync.Mutex // one update at a time; held while notes are read and embedded

	mu       sync.RWMutex // protects the following
	embedder Embedder     // nil until there is a model
	notes    map[model.Path]*indexed
	vectors  map[sum][]float32 // by the hash of a passage and its note's name
	changed  int               // passages embedded since the model was made
	dirty    bool              // there is something that is not in Dir
}

// indexed is a note whose passages have vectors.
type indexed struct {
	info     *noteindex.NoteInfo // what was indexed: another one means a change
	passages []sum
}

type sum [16]byte

// sumOf names a passage as it is embedded.
func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:len(sum{})])
}

// New makes an index over ws, with the vectors that were kept in o.Dir. It embeds
// nothing before the first search.
func New(ws *bridge.Workspace, o Options) *Index {
	x := &Index{ws: ws, o: o, log: o.Logger, wake: make(chan struct{}, 1), embedder: o.Embedder}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.notes, x.vectors = make(map[model.Path]*indexed), make(map[sum][]float32)
	x.load()
	return x
}

// Hit is a note that was found.
type Hit struct {
	*noteindex.NoteInfo
	Score   float64 // 0 to 1
	Snippet string  // of the passage that fits best, on one line
}

// Search ranks the notes that have all properties in filter by how near they are
// to query, best first, at most limit of them. Notes that have nothing to do with
// it are left out.
func (x *Index) Search(ctx context.Context, query string, filter frontmatter.Properties, limit int) ([]Hit, error) {
	return x.SearchIn(ctx, x.ws, query, filter, nil, limit)
}

// SearchIn is Search for a client that reaches ws, a part of the workspace, and for
// what ranks after a hit, which may be gone; nil for all.
func (x *Index) SearchIn(ctx context.Context, ws *bridge.Workspace, query string, filter frontmatter.Properties, after *Hit, limit int) ([]Hit, error) {
	notes, err := ws.NotesWith(ctx, filter)
	if err != nil {
		return nil, err
	}
	if err := x.Update(ctx); err != nil {
		return nil, err
	}
	x.mu.RLock()
	embedder := x.embedder
	x.mu.RUnlock()
	if embedder == nil {
		return nil, nil // there are no notes to make a model of
	}
	vectors, err := embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	ranked := x.rank(notes, vectors[0])
	if after != nil {
		i := sort.Search(len(ranked), func(i int) bool {
			c := ranked[i]
			return float64(c.score) < after.Score || float64(c.score) == after.Score && c.info.Path > after.Path
		})
		ranked = ranked[i:]
	}
	return x.hits(ctx, ranked, limit)
}

// candidate is a note and its best passage.
type candidate struct {
	info    *noteindex.NoteInfo
	passage int
	score   float32
}

func (x *Index) rank(notes []*noteindex.NoteInfo, query []float32) []candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var list []candidate
	for _, info := range notes {
		n := x.notes[info.Path]
		if n == nil {
			continue
		}
		best := candidate{info: info}
		for i, s := range n.passages {
			v := x.vectors[s]
			if len(v) != len(query) {
				continue // of a model that is being replaced
			}
			if score := dot(v, query); score > best.score {
				best.passage, best.score = i, score
			}
		}
		if best.score > 0 {
			best.score = min(best.score, 1)
			list = append(list, best)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].score > list[j].score })
	return list
}

// hits reads the snippets of the first of list, at most limit of them. A note that
// is gone meanwhile is left out.
func (x *Index) hits(ctx context.Context, list []candidate, limit int) ([]Hit, error) {
	hits := make([]Hit, 0, min(limit, len(list)))
	for _, c := range list {
		if len(hits) == limit {
			break
		}
		v, err := x.ws.Open(ctx, c.info.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h := Hit{NoteInfo: c.info, Score: float64(c.score)}
		if parts := passages(v.Text()); c.passage < len(parts) {
			h.Snippet = snippet(parts[c.passage])
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// newSeal names a model.
func newSeal() string { return rand.Text()[:12] }
