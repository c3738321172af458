package notes

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type updateNoteArgs struct {
	Path        string                 `arg:"path" is:"path" need:"true" doc:"Path of the note. It must have been read in this session"`
	Content     *string                `arg:"content" doc:"The whole new text. Without front matter of its own, that of the note stays"`
	FrontMatter frontmatter.Properties `arg:"frontmatter" doc:"All properties that the note is to have. Those left out are removed"`
}

type updateNoteResult struct {
	Path      string      `json:"path"`
	Status    string      `json:"status" doc:"updated"`
	Changes   noteChanges `json:"changes"`
	WordCount int         `json:"word_count"`
	Notice    string      `json:"notice,omitempty" doc:"What else there is to know of the change"`
}

type noteChanges struct {
	ContentUpdated     bool `json:"content_updated"`
	FrontMatterUpdated bool `json:"frontmatter_updated"`
}

func updateNote(ctx context.Context, c *tool.Client, a updateNoteArgs) (updateNoteResult, error) {
	var none updateNoteResult
	if a.Content == nil && a.FrontMatter == nil {
		return none, answer.WrongArgument("There is nothing to change: give the argument \"content\", \"frontmatter\" or both.")
	}
	p, err := c.Names.Resolve(ctx, a.Path)
	if err != nil {
		return none, err
	}
	known, err := c.Changes.MustKnow(ctx, p, Reader, "changing")
	if err != nil {
		return none, err
	}
	before := known.Text
	text, err := a.apply(p, before)
	if err != nil {
		return none, err
	}
	content, err := updateNoteArgs{Content: a.Content}.apply(p, before)
	if err == nil {
		err = checkNote(c, before, content, text)
	}
	if err != nil {
		return none, err
	}
	res, err := c.Changes.Replace(ctx, p, known, text, Reader, fmt.Sprintf("change the note %s", p))
	if err != nil {
		return none, err
	}
	words, _ := countBody(res.Version.Text())
	return updateNoteResult{Path: string(p), Status: "updated", Changes: changesOf(before, text), WordCount: words, Notice: change.Notice(res)}, nil
}

func (a updateNoteArgs) apply(p model.Path, before string) (string, error) {
	text := before
	if a.Content != nil {
		text = match.InStyleOf(before, *a.Content)
		if _, body, has := frontmatter.Split(text); !has || a.FrontMatter != nil {
			_, old, _ := frontmatter.Split(before)
			text = before[:old] + text[body:]
		}
	}
	if a.FrontMatter == nil {
		return text, nil
	}
	text, err := frontmatter.Rewrite(text, a.FrontMatter)
	if err != nil {
		return "", answer.WrongArgument("%s was left as it is: %v. The argument \"frontmatter\" cannot be applied; correct the front matter as text first.", p, err)
	}
	return text, nil
}

func changesOf(before, after string) noteChanges {
	_, a, _ := frontmatter.Split(before)
	_, b, _ := frontmatter.Split(after)
	return noteChanges{ContentUpdated: before[a:] != after[b:], FrontMatterUpdated: before[:a] != after[:b]}
}
