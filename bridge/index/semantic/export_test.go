package semantic

import (
	"context"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// Search is Find for all of the workspace, from the first note on, with an error if there are no vectors.
func (x *Index) Search(ctx context.Context, query string, filter frontmatter.Properties, limit int) ([]Found, error) {
	a, err := x.Find(ctx, x.ws, Query{Text: query, Filter: filter}, Place{}, limit)
	if err == nil {
		err = a.Meaning
	}
	return a.Notes, err
}
