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

	mu     sync.RWMutex // protects the following, and the spaces
	spaces []*space
	notes  map[model.Path]*indexed
	sorted []*indexed // notes, by path
	dirty  bool       // something is not in Dir yet
}

// space has what is embedded alike.
type space struct {
	embedder Embedder // nil until there is a model of the notes
	vectors  *vectors // by the hash of a passage and its note's name
	changed  int      // passages embedded since the model was built
}

// indexed is a note whose passages have vectors.
type indexed struct {
	info     *noteindex.NoteInfo // the indexed state; another pointer means a change
	in       *space
	passages []int32 // rows of its vectors; none while it has no embedder
}

type sum [8]byte

func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:len(sum{})])
}

// New returns an index over ws, with the vectors that are stored in o.Dir. It embeds
// nothing before the first search.
func New(ws *bridge.Workspace, o Options) *Index {
	x := &Index{ws: ws, o: o, log: o.Logger, wake: wake.New(), words: lexical.New()}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.notes = make(map[model.Path]*indexed)
	if o.Embedder != nil {
		x.spaces = []*space{{embedder: o.Embedder, vectors: new(vectors)}}
	} else {
		x.spaces = []*space{{embedder: general{}, vectors: new(vectors)}, {vectors: new(vectors)}}
	}
	x.load()
	return x
}

// ofNotes is the space of the model of the notes, nil if an embedder was given.
func (x *Index) ofNotes() *space {
	if x.o.Embedder != nil {
		return nil
	}
	return x.spaces[1]
}

// spaceOf returns the space that a note belongs to.
func (x *Index) spaceOf(text string) *space {
	if x.o.Embedder == nil && !isEnglish(text) {
		return x.spaces[1]
	}
	return x.spaces[0]
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
// Unrelated notes are left out. If after is not nil, the result starts behind
// it in the ranking, even if that note is gone.
func (x *Index) SearchIn(ctx context.Context, ws *bridge.Workspace, query string, filter frontmatter.Properties, after *Hit, limit int) ([]Hit, error) {
	notes, err := ws.NotesWith(ctx, filter)
	if err != nil {
		return nil, err
	}
	asked, err := x.meaning(ctx, query)
	if err != nil {
		return nil, err
	}
	ranked := x.rank(notes, asked)
	if after != nil {
		i := sort.Search(len(ranked), func(i int) bool {
			h := ranked[i]
			return h.Score < after.Score || h.Score == after.Score && h.Path > after.Path
		})
		ranked = ranked[i:]
	}
	return x.withSnippets(ctx, ranked, limit)
}

// meaning returns the vector of a question in each space that has an embedder, once that is brought to the notes as
// they are.
func (x *Index) meaning(ctx context.Context, query string) (map[*space][]float32, error) {
	if err := x.Update(ctx); err != nil {
		return nil, err
	}
	vectors := make(map[*space][]float32)
	for _, s := range x.spaces {
		embedder := x.embedderOf(s)
		if embedder == nil {
			continue
		}
		v, err := embedder.Embed(ctx, []string{query})
		if err != nil {
			return nil, err
		}
		vectors[s] = v[0]
	}
	return vectors, nil
}

func (x *Index) embedderOf(s *space) Embedder {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return s.embedder
}

// rank returns the notes with any similarity to a question, without snippets.
func (x *Index) rank(notes []*noteindex.NoteInfo, asked map[*space][]float32) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	scores := make(map[*space]func(row int32) float64)
	for s, v := range asked {
		scores[s] = s.vectors.scorer(v)
	}
	var list []Hit
	for _, info := range notes {
		n := x.notes[info.Path]
		if n == nil || scores[n.in] == nil {
			continue
		}
		best := Hit{NoteInfo: info}
		for i, row := range n.passages {
			if s := scores[n.in](row); s > best.Score {
				best.passage, best.Score = i, s
			}
		}
		if best.Score >= unrelated {
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
