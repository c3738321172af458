package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
)

type commentArgs struct {
	FilePath   string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	AnchorText string `arg:"anchor_text" need:"true" doc:"Text that the comment is about, exactly as it stands in the document. It must occur once"`
	Comment    string `arg:"comment" need:"true" doc:"The comment"`
}

func comment(ctx context.Context, s *Session, a commentArgs) Result {
	p, err := s.resolve(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	note := strings.Join(strings.Fields(a.Comment), " ")
	switch {
	case note == "":
		return refuse("The argument \"comment\" is empty.")
	case a.AnchorText == "":
		return refuse("The argument \"anchor_text\" is empty.")
	case strings.Contains(note, "<<}") || strings.Contains(note, "{>>"):
		return refuse("The argument \"comment\" must not contain {>> or <<}, which begin and end a comment.")
	}
	var at int
	before, _, err := s.update(ctx, p, "comment on the note "+string(p), func(cur *bridge.Version) ([]diffwrap.Edit, error) {
		var err error
		at, err = anchor(p, cur.Text(), a.AnchorText)
		return []diffwrap.Edit{{Off: at, New: "{>>" + note + "<<}"}}, err
	})
	if err != nil {
		return failure(err)
	}
	return text(fmt.Sprintf("Commented on %s at line %d.", shown(p), lineOf(before.Text(), at)))
}

// anchor is the offset behind the one place of text in doc.
func anchor(p bridge.Path, doc, text string) (int, error) {
	places := findAll(doc, text)
	switch len(places) {
	case 0:
		return 0, wrongArgument("anchor_text not found in %s. Make sure it matches exactly.", shown(p))
	case 1:
		return places[0].end, nil
	}
	return 0, wrongArgument("anchor_text is not unique in %s (%d occurrences found). Include more surrounding text. It is on %s.",
		shown(p), len(places), linesOf(doc, places))
}
