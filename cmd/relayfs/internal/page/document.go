package page

import (
	"context"
	"net/http"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/rendition"
)

// documentPath is what the page asks beside the paths of the queue. Query: path of a note, plain for its source.
const documentPath = "/document"

// document is the JSON of a note as the page draws it.
type document struct {
	Path        string             `json:"path"`
	Suggestions []queue.Suggestion `json:"suggestions"`
	Comments    []queue.Comment    `json:"comments"`
	rendition.Note
}

func (q pageQueue) document(ctx context.Context, r *http.Request) (document, error) {
	n, err := q.Note(ctx, r.FormValue("path"))
	if err != nil {
		return document{}, err
	}
	writers := make(map[string][2]string, len(n.Suggestions))
	for _, s := range n.Suggestions {
		writers[s.ID] = [2]string{s.Author, s.Session}
	}
	offsets := make([]int, len(n.Comments))
	for i, c := range n.Comments {
		offsets[i] = c.Start
	}
	drawn := rendition.Of(rendition.Source{
		Text: n.Text, Places: n.Places, Comments: offsets, Plain: r.FormValue("plain") != "",
		Together: func(a, b string) bool { return writers[a] == writers[b] },
	})
	return document{n.Path, n.Suggestions, n.Comments, drawn}, nil
}
