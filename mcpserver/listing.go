package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// page is in the result of a list or a search whose results are structured.
type page struct {
	NextCursor string `json:"next_cursor,omitempty" doc:"There is more: call again with it as cursor and the same other arguments"`
}

func (p page) Next() string { return p.NextCursor }

// afterPath is what of the items, sorted by path, comes after the cursor, a path.
func afterPath[T any](l listing, cursor string, items []T, path func(T) bridge.Path) ([]T, error) {
	var last bridge.Path
	given, err := l.after(cursor, &last)
	if err != nil || !given {
		return items, err
	}
	i, found := slices.BinarySearchFunc(items, last, func(item T, p bridge.Path) int { return strings.Compare(string(path(item)), string(p)) })
	if found {
		i++
	}
	return items[i:], nil
}

// maxProperties bounds what a list tells of one note's front matter.
const maxProperties = 6000

// propertiesThatFit are the properties of a note that cost at most limit together,
// and what to do about the others.
func propertiesThatFit(n *bridge.NoteInfo, limit int) (fit frontmatter.Properties, notice string) {
	if answer.BothCost(n.Properties) <= limit {
		return n.Properties, ""
	}
	fit = frontmatter.Properties{}
	left := 0
	var names []string
	for _, e := range n.Properties {
		if cost := answer.BothCost(frontmatter.Properties{e}); cost <= limit-400 {
			fit, limit = append(fit, e), limit-cost
			continue
		}
		if left++; left <= 3 && len(e.Key) <= 60 {
			names = append(names, e.Key)
		}
	}
	return fit, fmt.Sprintf("%s left out, being too long (%s). Read the note to see them.", properties(left), strings.Join(append(names, "..."), ", "))
}

func properties(n int) string {
	if n == 1 {
		return "1 property"
	}
	return fmt.Sprintf("%d properties", n)
}
