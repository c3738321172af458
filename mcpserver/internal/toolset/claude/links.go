package claude

import (
	"context"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/cursor"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type getLinksArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	cursor.Listing
}

type linkSection struct {
	title  string
	items  []string
	always bool // show it even if it is empty
}

// linked is how far get_links has come: after an item of a section.
type linked struct {
	Section int
	Item    string
}

func getLinks(ctx context.Context, c *tool.Client, a getLinksArgs) (answer.Result, error) {
	p, err := c.Names.Resolve(ctx, a.FilePath)
	if err != nil {
		return answer.Result{}, err
	}
	links, err := c.Workspace.Links(ctx, p)
	if err != nil {
		return answer.Result{}, err
	}
	sections := []linkSection{
		{"Backlinks (documents linking to this):", answer.Strings(links.Backlinks), true},
		{"Forward links (documents this links to):", answer.Strings(links.Forward), true},
		{"Unresolved links:", links.Unresolved, false},
		{"Pending links (in suggestions that nobody has accepted yet, counted nowhere else):", links.Pending, false},
	}
	a.Bind("get_links", p) // however it is named
	var after linked
	given, err := a.After(&after)
	if err != nil {
		return answer.Result{}, err
	}
	if given {
		sections = after.rest(sections)
	}
	return linkPage(sections, a.Listing), nil
}

// rest returns what comes after at. If its item is gone from the first section, which is sorted,
// the section continues after its place; another section is listed again.
func (at linked) rest(sections []linkSection) []linkSection {
	for i := range sections {
		sec := &sections[i]
		sec.always = false
		switch {
		case i < at.Section:
			sec.items = nil
		case i == at.Section && i == 0:
			n, found := slices.BinarySearch(sec.items, at.Item)
			if found {
				n++
			}
			sec.items = sec.items[n:]
		case i == at.Section:
			sec.items = sec.items[slices.Index(sec.items, at.Item)+1:]
		}
	}
	return sections
}

func linkPage(sections []linkSection, l cursor.Listing) answer.Result {
	var out []string
	left := answer.Max - answer.Envelope - 8000
	total := 0
	for _, sec := range sections {
		total += len(sec.items)
	}
	listed := 0
	last := linked{}
	for i, sec := range sections {
		if len(sec.items) == 0 && !sec.always {
			continue
		}
		lines := []string{sec.title}
		if len(sec.items) == 0 {
			lines = append(lines, "- (none)")
		}
		left -= answer.TextCost(sec.title) + 20
		for _, item := range sec.items {
			line, _ := answer.FirstThatFit("- "+answer.Shown(item), answer.MaxMatch/2)
			if left -= answer.TextCost(line) + 2; left < 0 {
				break
			}
			lines, last = append(lines, line), linked{i, item}
			listed++
		}
		if len(lines) > 1 {
			out = append(out, strings.Join(lines, "\n"))
		}
		if left < 0 {
			break
		}
	}
	res := answer.Text(strings.Join(out, "\n\n"))
	if listed < total {
		l.Continue(&res, last, answer.Count(total-listed, "more link")+" not listed.")
	}
	return res
}
