package claude

import (
	"context"
	"errors"
	"io/fs"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type writeArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document to create or replace. An existing one must have been read in this session"`
	Content  string `arg:"content" need:"true" doc:"The whole new text of the document, as plain Markdown"`
}

func write(ctx context.Context, c *tool.Client, a writeArgs) answer.Result {
	p, err := c.Names.LookUp(a.FilePath)
	if errors.Is(err, fs.ErrNotExist) {
		return writeNew(ctx, c, a)
	}
	if err != nil {
		return failure(err)
	}
	known, err := c.Changes.MustKnow(ctx, p, reader, "editing")
	if err != nil {
		return failure(err)
	}
	if !utf8.ValidString(known.Text) {
		return failure(&model.Error{Op: "write", Path: p, Err: model.ErrInvalidUTF8})
	}
	content := match.InStyleOf(known.Text, a.Content)
	if err := match.CheckMarkup("content", c.Workspace.Options().View, known.Text, content, 0); err != nil {
		return failure(err)
	}
	res, err := c.Changes.Replace(ctx, p, known, content, reader, "replace the content of "+string(p))
	if err != nil {
		return failure(err)
	}
	out := "Wrote " + answer.Shown(p) + outcome(c, res)
	if res.Merged {
		out += " Others had changed the document since you read it; their changes were kept. Read it again before you write it again."
	}
	return answer.Text(out)
}

func writeNew(ctx context.Context, c *tool.Client, a writeArgs) answer.Result {
	p, err := c.Names.NewPath(a.FilePath, true)
	if err == nil && !p.IsNote() {
		err = &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	}
	if err == nil {
		err = match.CheckMarkup("content", c.Workspace.Options().View, "", a.Content, 0)
	}
	if err != nil {
		return failure(err)
	}
	res, err := c.Changes.Create(ctx, p, a.Content)
	if err != nil {
		return failure(err)
	}
	return answer.Text("Created " + answer.Shown(p) + outcome(c, res))
}
