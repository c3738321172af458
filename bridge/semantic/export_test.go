package semantic

import (
	"context"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// Search is SearchIn for all of the workspace, from the first hit on.
func (x *Index) Search(ctx context.Context, query string, filter frontmatter.Properties, limit int) ([]Hit, error) {
	return x.SearchIn(ctx, x.ws, query, filter, nil, limit)
}
