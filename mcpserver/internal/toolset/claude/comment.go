package claude

import (
	"context"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type commentArgs struct {
	FilePath   string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	AnchorText string `arg:"anchor_text" need:"true" doc:"Text that the comment is about, exactly as it stands in the document. It must occur once"`
	Comment    string `arg:"comment" need:"true" doc:"The comment"`
}

func comment(ctx context.Context, c *tool.Client, a commentArgs) answer.Result {
	p, err := c.Names.Resolve(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	note := strings.Join(strings.Fields(a.Comment), " ")
	switch {
	case note == "":
		return answer.Refuse("The argument \"comment\" is empty.")
	case a.AnchorText == "":
		return answer.Refuse("The argument \"anchor_text\" is empty.")
	case strings.Contains(note, "<<}") || strings.Contains(note, "{>>"):
		return answer.Refuse("The argument \"comment\" must not contain {>> or <<}, which begin and end a comment.")
	}
	var at int
	before, _, err := c.Changes.Update(ctx, p, "comment on the note "+string(p), func(cur *model.Version) ([]diffwrap.Edit, error) {
		places := match.Find(cur.Text(), a.AnchorText)
		switch len(places) {
		case 0:
			return nil, answer.WrongArgument("anchor_text not found in %s. Make sure it matches exactly.", answer.Shown(p))
		case 1:
			at = places[0].End
			return []diffwrap.Edit{{Off: at, New: "{>>" + note + "<<}"}}, nil
		}
		return nil, answer.WrongArgument("anchor_text is not unique in %s (%d occurrences found). Include more surrounding text. It is on %s.",
			answer.Shown(p), len(places), passage.NameLines(cur.Text(), places))
	})
	if err != nil {
		return failure(err)
	}
	return answer.Text(fmt.Sprintf("Commented on %s at line %d.", answer.Shown(p), passage.LineOf(before.Text(), at)))
}
