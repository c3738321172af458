package notes

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// maxProperties bounds what a list tells of one note's front matter.
const maxProperties = 6000

// propertiesThatFit are the properties of a note that cost at most limit together,
// and what to do about the others.
func propertiesThatFit(n *noteindex.NoteInfo, limit int) (fit frontmatter.Properties, notice string) {
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
