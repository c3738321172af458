package page

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// documentPath is a route that only the page uses. Query: path of a note; plain to get the
// raw text, line by line.
const documentPath = "/document"

type document struct {
	Path     string `json:"path"`
	Revision string `json:"revision"`           // revision of the raw text
	Obsidian string `json:"obsidian,omitempty"` // obsidian:// URL
	render.Note
	Blocks []block `json:"blocks"` // hides the Blocks of Note
}

type block struct {
	render.Block
	Key         string                   `json:"key"` // hash of the content; the page keeps blocks with unchanged keys
	Suggestions []reviewqueue.Suggestion `json:"suggestions,omitempty"`
	Threads     []reviewqueue.Thread     `json:"threads,omitempty"`
}

var seed = maphash.MakeSeed()

func documentOf(ctx context.Context, c *api.Client, r *http.Request) (document, error) {
	n, err := c.Note(ctx, r.FormValue("path"))
	if err != nil {
		return document{}, err
	}
	byID := make(map[string]reviewqueue.Suggestion, len(n.Suggestions))
	for _, s := range n.Suggestions {
		byID[s.ID] = s
	}
	about := make(map[string][]reviewqueue.Thread) // threads by suggestion ID
	for _, t := range n.Threads {
		if t.Suggestion != "" {
			about[t.Suggestion] = append(about[t.Suggestion], t)
		}
	}
	drawn := render.NoteOf(&n, r.FormValue("plain") != "")
	blocks := make([]block, len(drawn.Blocks))
	for i, b := range drawn.Blocks {
		out := block{Block: b}
		out.Comments = nil
		for _, c := range b.Comments {
			out.Threads = append(out.Threads, withoutPositions(n.Threads[c]))
		}
		for _, id := range slices.Concat(b.Groups...) {
			s := byID[id]
			s.Line, s.Places = 1, nil // these change with the text above and must not change the key
			out.Suggestions = append(out.Suggestions, s)
			for _, t := range about[id] {
				out.Threads = append(out.Threads, withoutPositions(t))
			}
		}
		text, err := json.Marshal(out)
		if err != nil {
			return document{}, err
		}
		out.Key = strconv.FormatUint(maphash.Bytes(seed, text), 36)
		blocks[i] = out
	}
	return document{n.Path, n.Revision, n.Obsidian, drawn, blocks}, nil
}

// withoutPositions clears the positions of a thread, because they change with the text above the thread.
func withoutPositions(t reviewqueue.Thread) reviewqueue.Thread {
	t.Line, t.Start, t.End = 1, 0, 0
	return t
}
