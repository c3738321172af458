package claude

import (
	"context"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type getLinksArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	result.Listing
}

// linkCursor is a link in a section of the result. The next result continues after it.
type linkCursor struct {
	Section int
	Item    string
}

var linkSections = []struct {
	title  string
	always bool // whether to show the section even if it is empty
}{
	{"Backlinks (documents linking to this):", true},
	{"Forward links (documents this links to):", true},
	{"Unresolved links:", false},
	{"Pending links (only in pending suggestions, not counted elsewhere):", false},
}

func getLinks(ctx context.Context, c *tool.Client, a getLinksArgs) (result.Result, error) {
	p, err := c.Resolver.Resolve(ctx, a.FilePath)
	if err != nil {
		return result.Result{}, err
	}
	links, err := c.Workspace.Links(ctx, p)
	if err != nil {
		return result.Result{}, err
	}
	var all []linkCursor
	for i, items := range [][]string{result.Strings(links.Backlinks), result.Strings(links.Forward), links.Unresolved, links.Pending} {
		for _, item := range items {
			all = append(all, linkCursor{i, item})
		}
	}
	a.SetCall("get_links", p) // so that the cursor is the same for all names of the document
	var after linkCursor
	given, err := a.Decode(&after)
	if err != nil {
		return result.Result{}, err
	}
	rest := all
	if given {
		rest = after.rest(all)
	}
	left := result.Max - result.ProtocolOverhead - 8000
	var out []string
	n := 0
	for i, section := range linkSections {
		some := n < len(rest) && rest[n].Section == i
		if left < 0 || !some && (given || !section.always) {
			continue
		}
		lines := []string{section.title}
		if !some {
			lines = append(lines, "- (none)")
		}
		left -= result.TextCost(section.title) + 20
		for ; n < len(rest) && rest[n].Section == i; n++ {
			line, _ := result.Truncate("- "+result.Escape(rest[n].Item), result.MaxMatch/2)
			if left -= result.TextCost(line) + 2; left < 0 {
				break
			}
			lines = append(lines, line)
		}
		if len(lines) > 1 {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	res := result.Text(strings.Join(out, "\n\n"))
	if n < len(rest) {
		a.Continue(&res, rest[n-1], result.Count(len(rest)-n, "more link")+" not listed.")
	}
	return res, nil
}

// rest returns the links after the cursor. If the link of the cursor no longer exists, the first section continues at
// the position of that link, because the first section is sorted. The other sections start again.
func (at linkCursor) rest(all []linkCursor) []linkCursor {
	if i := slices.Index(all, at); i >= 0 {
		return all[i+1:]
	}
	i := slices.IndexFunc(all, func(l linkCursor) bool {
		return l.Section > at.Section || l.Section == at.Section && (at.Section > 0 || l.Item > at.Item)
	})
	if i < 0 {
		return nil
	}
	return all[i:]
}
