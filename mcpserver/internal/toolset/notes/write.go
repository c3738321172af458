package notes

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type updateNoteArgs struct {
	Path        string                 `arg:"path" is:"path" need:"true" doc:"Path of the note. It must have been read in this session"`
	Content     *string                `arg:"content" doc:"The whole new text. If it has no front matter, the note keeps its own"`
	FrontMatter frontmatter.Properties `arg:"frontmatter" doc:"All new properties of the note. Omitted properties are removed"`
}

type updateNoteResult struct {
	Path      string      `json:"path"`
	Status    string      `json:"status" doc:"updated"`
	Changes   noteChanges `json:"changes"`
	WordCount int         `json:"word_count"`
	Notice    string      `json:"notice,omitempty" doc:"More information about the change"`
}

type noteChanges struct {
	ContentUpdated     bool `json:"content_updated"`
	FrontMatterUpdated bool `json:"frontmatter_updated"`
}

func updateNote(ctx context.Context, c *tool.Client, a updateNoteArgs) (updateNoteResult, error) {
	var none updateNoteResult
	if a.Content == nil && a.FrontMatter == nil {
		return none, result.InvalidArgument("There is nothing to change: give the argument \"content\", \"frontmatter\" or both.")
	}
	p, err := c.Resolver.Resolve(ctx, a.Path)
	if err != nil {
		return none, err
	}
	known, err := c.Changes.RequireRead(ctx, p, "changing")
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
		err = a.checkMarkup(c, before, content)
	}
	if err != nil {
		return none, err
	}
	res, err := c.Changes.Replace(ctx, p, known, text, fmt.Sprintf("change the note %s", p))
	if err != nil {
		return none, err
	}
	words, _ := countBody(res.Version.Text())
	return updateNoteResult{Path: string(p), Status: "updated", Changes: changesOf(before, text), WordCount: words, Notice: res.Notice()}, nil
}

func (a updateNoteArgs) apply(p model.Path, before string) (string, error) {
	text := before
	if a.Content != nil {
		text = textrange.InStyleOf(before, *a.Content)
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
		return "", result.InvalidArgument("%s was left as it is: %v. The argument \"frontmatter\" cannot be applied; correct the front matter as text first.", p, err)
	}
	return text, nil
}

func (a updateNoteArgs) checkMarkup(c *tool.Client, before, after string) error {
	if a.Content == nil {
		return nil
	}
	begin := 0
	if _, _, own := frontmatter.Split(*a.Content); !own {
		_, begin, _ = frontmatter.Split(before)
	}
	return textrange.CheckMarkup(textrange.Argument{Name: "content", Text: *a.Content}, c.Workspace.Options().View, before, after, begin)
}

func changesOf(before, after string) noteChanges {
	_, a, _ := frontmatter.Split(before)
	_, b, _ := frontmatter.Split(after)
	return noteChanges{ContentUpdated: before[a:] != after[b:], FrontMatterUpdated: before[:a] != after[:b]}
}

type createNoteArgs struct {
	Path        string                 `arg:"path" is:"path" need:"true" doc:"Path of the new note, for example Folder/sub/Name.md"`
	Content     string                 `arg:"content" need:"true" doc:"Text of the note, as plain Markdown"`
	FrontMatter frontmatter.Properties `arg:"frontmatter" doc:"Properties of the note, for example {\"tags\": [\"idea\"]}"`
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
	p, err := c.Resolver.NewNote(a.Path)
	if err != nil {
		return none, err
	}
	text, err := oneSet{Set: a.FrontMatter}.rewrite(a.Content)
	if err != nil {
		return none, result.InvalidArgument("%s was not written: %v.", p, err)
	}
	if err := textrange.CheckMarkup(textrange.Argument{Name: "content", Text: a.Content}, c.Workspace.Options().View, "", a.Content, 0); err != nil {
		return none, err
	}
	res, err := c.Changes.Create(ctx, p, text, "")
	if err != nil {
		return none, err
	}
	words, chars := countBody(res.Version.Text())
	return createNoteResult{Path: string(p), Status: "created", WordCount: words, CharCount: chars}, nil
}

func countBody(text string) (words, chars int) {
	_, body, _ := frontmatter.Split(text)
	return outline.Count(text[body:])
}

type deleteNoteArgs struct {
	Path    string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	Confirm *bool  `arg:"confirm" doc:"The user has agreed. Needed only if the answer says so"`
}

type deleteNoteResult struct {
	Path          string `json:"path"`
	Status        string `json:"status" doc:"deleted, or proposed if a user must accept it"`
	HadBacklinks  bool   `json:"had_backlinks"`
	BacklinkCount int    `json:"backlink_count" doc:"Number of other notes that link to it"`
	Warning       string `json:"warning,omitempty"`
}

func deleteOneNote(ctx context.Context, c *tool.Client, a deleteNoteArgs) (deleteNoteResult, error) {
	var none deleteNoteResult
	p, err := c.Resolver.ResolveName(ctx, a.Path)
	if err == nil {
		_, err = c.Workspace.Open(ctx, p)
	}
	if err != nil {
		return none, err
	}
	done, err := c.Changes.Remove(ctx, p, a.Confirm)
	if err != nil {
		return none, err
	}
	res := deleteNoteResult{Path: string(p), Status: "deleted", HadBacklinks: len(done.Linking) > 0, BacklinkCount: len(done.Linking)}
	if done.Proposal != "" {
		res.Status = "proposed"
	}
	res.Warning = change.BrokenLinks(done.Linking)
	return res, nil
}
