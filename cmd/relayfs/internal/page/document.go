package page

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/rendition"
)

// documentPath is what the page asks beside the paths of the queue. Query: path of a note, plain for its source,
// have for the version that the page shows.
const documentPath = "/document"

// document is the JSON of a note as the page draws it.
type document struct {
	Path       string               `json:"path"`
	Revision   string               `json:"revision"` // of the raw text
	Version    string               `json:"version"`  // names it, for have
	New        bool                 `json:"new,omitempty"`
	NewText    bool                 `json:"newText,omitempty"`
	Obsidian   string               `json:"obsidian,omitempty"` // the address that opens it there
	Properties []rendition.Property `json:"properties,omitempty"`
	Blocks     []any                `json:"blocks"` // a block, or what stays of the version that the page has
}

// block is a block of a note with everything that is drawn beside it.
type block struct {
	rendition.Block
	Suggestions []queue.Suggestion `json:"suggestions,omitempty"`
	Threads     []queue.Thread     `json:"threads,omitempty"`
}

// same stands for blocks of the version that the page has: from the first of these numbers to before the second.
type same struct {
	Same [2]int `json:"same"`
}

func (q pageQueue) document(ctx context.Context, r *http.Request) (document, error) {
	n, err := q.Note(ctx, r.FormValue("path"))
	if err != nil {
		return document{}, err
	}
	byID := make(map[string]queue.Suggestion, len(n.Suggestions))
	for _, s := range n.Suggestions {
		byID[s.ID] = s
	}
	about := make(map[string][]queue.Thread) // by the suggestion that they hang on
	for _, t := range n.Threads {
		if t.Suggestion != "" {
			about[t.Suggestion] = append(about[t.Suggestion], t)
		}
	}
	source, apart := rendition.SourceOf(&n, r.FormValue("plain") != "")
	drawn := rendition.Of(source)
	blocks := make([]json.RawMessage, len(drawn.Blocks))
	for i, b := range drawn.Blocks {
		out := block{Block: b}
		out.Comments = nil
		for _, c := range b.Comments {
			out.Threads = append(out.Threads, placeless(n.Threads[apart[c]]))
		}
		for _, id := range slices.Concat(b.Groups...) {
			s := byID[id]
			s.Line, s.Places = 1, nil // in a note it is to be seen, and changes with each line above
			out.Suggestions = append(out.Suggestions, s)
			for _, t := range about[id] {
				out.Threads = append(out.Threads, placeless(t))
			}
		}
		if blocks[i], err = json.Marshal(out); err != nil {
			return document{}, err
		}
	}
	version, list := q.sent.since(r.FormValue("have"), blocks)
	return document{n.Path, n.Revision, version, drawn.New, drawn.NewText, n.Obsidian, drawn.Properties, list}, nil
}

// placeless is a thread as it is drawn: where it stands changes with the text before it.
func placeless(t queue.Thread) queue.Thread {
	t.Line, t.Start, t.End = 1, 0, 0
	return t
}

// maxSent is how many documents the page's server knows the blocks of: those of the tabs that are open.
const maxSent = 64

// sent remembers the documents that pages have, as hashes of their blocks.
type sent struct {
	seed maphash.Seed

	mu       sync.Mutex // protects the following
	versions map[string][]uint64
	order    []string // of versions, the oldest first
}

func newSent() *sent { return &sent{seed: maphash.MakeSeed(), versions: make(map[string][]uint64)} }

// since returns a name for a document, and its blocks as far as the version have lacks them.
func (s *sent) since(have string, blocks []json.RawMessage) (version string, list []any) {
	hashes := make([]uint64, len(blocks))
	var all maphash.Hash
	all.SetSeed(s.seed)
	for i, b := range blocks {
		hashes[i] = maphash.Bytes(s.seed, b)
		maphash.WriteComparable(&all, hashes[i])
	}
	version = strconv.FormatUint(all.Sum64(), 36)
	s.mu.Lock()
	old := s.versions[have]
	if s.versions[version] == nil {
		s.versions[version] = hashes
		if s.order = append(s.order, version); len(s.order) > maxSent {
			delete(s.versions, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.mu.Unlock()
	return version, lacking(old, hashes, blocks)
}

// near is how many blocks may go before one that is there several times is taken for the next of its kind.
const near = 8

// lacking returns the blocks, with what old has of them, in its order, as ranges.
func lacking(old, hashes []uint64, blocks []json.RawMessage) []any {
	at := make(map[uint64][]int) // where old has each block
	for i, h := range old {
		at[h] = append(at[h], i)
	}
	list := []any{}
	next := 0 // what stays stands in the order of old
	for i, h := range hashes {
		places := at[h]
		k, _ := slices.BinarySearch(places, next)
		if k == len(places) || len(places) > 1 && places[k]-next > near {
			list = append(list, blocks[i])
			continue
		}
		next = places[k] + 1
		if last, ok := lastSame(list); ok && last[1] == places[k] {
			list[len(list)-1] = same{[2]int{last[0], next}}
		} else {
			list = append(list, same{[2]int{places[k], next}})
		}
	}
	return list
}

func lastSame(list []any) ([2]int, bool) {
	if len(list) == 0 {
		return [2]int{}, false
	}
	s, ok := list[len(list)-1].(same)
	return s.Same, ok
}
