package mcpserver

import (
	"context"
	"strings"

	"github.com/relayfs/relayfs/bridge"
)

type getLinksArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
}

func getLinks(ctx context.Context, s *Session, a getLinksArgs) Result {
	p, err := s.resolve(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	links, err := s.server.ws.Links(ctx, p)
	if err != nil {
		return failure(err)
	}
	sections := []string{
		linkList("Backlinks (documents linking to this):", pathStrings(links.Backlinks)),
		linkList("Forward links (documents this links to):", pathStrings(links.Forward)),
	}
	if len(links.Unresolved) > 0 {
		sections = append(sections, linkList("Unresolved links:", links.Unresolved))
	}
	if len(links.Pending) > 0 {
		sections = append(sections, linkList("Pending links (in suggestions that nobody has accepted yet, counted nowhere else):", links.Pending))
	}
	return text(strings.Join(sections, "\n\n"))
}

func pathStrings(paths []bridge.Path) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = string(p)
	}
	return out
}

// maxLinks bounds each list of links, in bytes.
const maxLinks = maxOutput/4 - 200

func linkList(title string, items []string) string {
	lines := make([]string, 0, len(items)+2)
	for _, item := range items {
		lines = append(lines, "- "+shown(item))
	}
	if len(items) == 0 {
		lines = append(lines, "- (none)")
	}
	list, n := joinBounded(lines, maxLinks)
	if n < len(lines) {
		list += "\n(" + count(len(lines)-n, "more link") + " not listed; call grep for the name of this document to find them)"
	}
	return title + "\n" + list
}
