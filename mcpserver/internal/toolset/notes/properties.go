package notes

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// maxProperties bounds the cost of one note's front matter in a list.
const maxProperties = 6000

// propertiesThatFit returns properties of a note that together cost at most limit. notice says how
// to see the others.
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
	count := "1 property"
	if left != 1 {
		count = fmt.Sprintf("%d properties", left)
	}
	return fit, fmt.Sprintf("%s left out, being too long (%s). Read the note to see them.", count, strings.Join(append(names, "..."), ", "))
}
