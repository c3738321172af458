package notes

import (
	"context"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/outline"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type createNoteArgs struct {
	Path        string                 `arg:"path" is:"path" need:"true" doc:"Path of the new note, for example Folder/sub/Name.md"`
	Content     string                 `arg:"content" need:"true" doc:"Its text, as plain Markdown"`
	FrontMatter frontmatter.Properties `arg:"frontmatter" doc:"Its properties, for example {\"tags\": [\"idea\"]}"`
}

type createNoteResult struct {
	Path      string `json:"path"`
	Status    string `json:"status" doc:"created"`
	WordCount int    `json:"word_count" doc:"Words of the text, without the front matter"`
	CharCount int    `json:"char_count"`
}

func createNote(ctx context.Context, c *tool.Client, a createNoteArgs) (createNoteResult, error) {
	var none createNoteResult
	if there, err := c.Workspace.Resolve(a.Path); err == nil {
		err := fs.ErrExist
		if info, _ := c.Workspace.Stat(ctx, there); info.Kind == model.KindDir {
			err = model.ErrIsDir
		}
		return none, &model.Error{Op: "create", Path: there, Err: err}
	}
	p, err := c.Names.NewPath(a.Path)
	if err != nil {
		return none, err
	}
	if !p.IsNote() {
		return none, &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	}
	text, err := withProperties(p, a.Content, a.FrontMatter)
	if err != nil {
		return none, err
	}
	if err := checkNote(c, "", a.Content, text); err != nil {
		return none, err
	}
	res, err := c.Changes.Create(ctx, p, text)
	if err != nil {
		return none, err
	}
	words, chars := countBody(res.Version.Text())
	return createNoteResult{Path: string(p), Status: "created", WordCount: words, CharCount: chars}, nil
}

// checkNote returns an error if the argument content introduces CriticMarkup into the note before,
// or the argument frontmatter into content. after is the result of both.
func checkNote(c *tool.Client, before, content, after string) error {
	view := c.Workspace.Options().View
	if err := match.CheckMarkup("content", view, before, content, 0); err != nil {
		return err
	}
	return match.CheckMarkup("frontmatter", view, content, after, 0)
}

// withProperties adds properties to the front matter of text.
func withProperties(p model.Path, text string, set frontmatter.Properties) (string, error) {
	have, err := frontmatter.Parse(text)
	for _, e := range set {
		have = have.With(e.Key, e.Value)
	}
	if err == nil && len(set) > 0 {
		text, err = frontmatter.Rewrite(text, have)
	}
	if err != nil {
		return "", answer.WrongArgument("%s was not written: %v.", p, err)
	}
	return text, nil
}

func countBody(text string) (words, chars int) {
	_, body, _ := frontmatter.Split(text)
	return outline.Count(text[body:])
}
