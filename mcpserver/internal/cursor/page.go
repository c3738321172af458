package cursor

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Page is in the result of a list or a search whose results are structured.
type Page struct {
	NextCursor string `json:"next_cursor,omitempty" doc:"There is more: call again with it as cursor and the same other arguments"`
}

// Next is the cursor at which the list goes on; "" at its end.
func (p Page) Next() string { return p.NextCursor }

// AfterPath is what of the items, sorted by path, comes after the cursor, a path.
func AfterPath[T any](l Listing, cursor string, items []T, path func(T) model.Path) ([]T, error) {
	var last model.Path
	given, err := l.After(cursor, &last)
	if err != nil || !given {
		return items, err
	}
	i, found := slices.BinarySearchFunc(items, last, func(item T, p model.Path) int { return strings.Compare(string(path(item)), string(p)) })
	if found {
		i++
	}
	return items[i:], nil
}
