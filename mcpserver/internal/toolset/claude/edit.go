package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type oneEdit struct {
	FilePath   string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	OldString  string `arg:"old_string" need:"true" doc:"Text to replace, exactly as in the document, without line numbers"`
	NewString  string `arg:"new_string" need:"true" doc:"Text to put in its place, as plain Markdown"`
	ReplaceAll bool   `arg:"replace_all" def:"false" doc:"Replace every occurrence"`
	Section    string `arg:"section" doc:"Look only in this part: a heading (## Plan) or block id (^id)"`
}

type editArgs struct {
	oneEdit
	Edits []oneEdit `arg:"edits" for:"file_path,old_string,new_string" doc:"Several edits instead of one, in one document or many, in order"`
}

func edit(ctx context.Context, c *tool.Client, a editArgs) (result.Result, error) {
	switch {
	case a.Edits == nil:
		answer, err := editOne(ctx, c, a.oneEdit)
		return result.Text(answer), err
	case a.OldString != "" && a.NewString != "":
		return result.Result{}, result.InvalidArgument("Give old_string and new_string for one edit, or edits for several, and not both.")
	}
	return applyEach(ctx, c, a.Edits, editOne, func(e oneEdit) string {
		return fmt.Sprintf("replace %q by %q in %s", result.OneLine(e.OldString), result.OneLine(e.NewString), e.FilePath)
	})
}

func editOne(ctx context.Context, c *tool.Client, a oneEdit) (string, error) {
	p, err := c.Resolver.Resolve(ctx, a.FilePath)
	if err != nil {
		return "", err
	}
	q := change.Quote{Old: a.OldString, New: a.NewString, All: a.ReplaceAll, Section: a.Section}
	if err := q.Check(); err != nil {
		return "", err
	}
	known, err := c.Changes.RequireRead(ctx, p, "editing")
	if err != nil {
		return "", err
	}
	replaced := 0
	var unseen bool // the replaced text was quoted but not read
	var near bool   // the match differs from old_string in more than quotes and line breaks, and text of it stays
	res, err := c.Changes.Edit(ctx, p, func(doc string, seen textrange.RangeSet) (edits []diffwrap.Edit, err error) {
		switch {
		case q.Old != "":
			edits, unseen, err = c.Changes.ReplaceQuote(p, q, doc, seen)
			near = len(edits) == 1 && q.New != "" && textrange.IsNear(doc[edits[0].Off:edits[0].Off+edits[0].Len], q.Old)
		case doc != "":
			err = result.InvalidArgument("old_string is empty, and %s is not. Give the text to replace, or use the write tool to replace all of it.", result.Escape(p))
		default: // the whole text of an empty document
			edits, err = []diffwrap.Edit{{New: q.New}}, textrange.CheckMarkup(textrange.Argument{Name: "new_string", Text: q.New}, c.Workspace.Options().View, "", q.New, 0)
		}
		replaced = len(edits)
		return edits, err
	})
	if err != nil {
		return "", err
	}
	out := "Edited " + result.Escape(p) + ": replaced " + result.Count(replaced, "occurrence") + outcome(c, res)
	if near {
		out += c.Phrases.Rename(" There, the document differs from old_string in blanks, quotes or forms of characters; unchanged text stays as it is in the document.")
	}
	switch {
	case res.Before != known.Text:
		out += " The document had changed since you read it: read it again before edits that depend on its other parts."
	case unseen:
		out += " You had not been shown that part of the document: read it before edits that depend on the text around it."
	}
	return out, nil
}

func outcome(c *tool.Client, res change.Result) string {
	var b strings.Builder
	switch o := c.Workspace.Options(); {
	case res.Version == nil && res.Proposed:
		b.WriteString("; the change is proposed as a whole file until a user accepts it.")
	case res.Version == nil: // the document is not a note
		b.WriteString("; the change is in the document.")
	case !res.Changed:
		b.WriteString("; the document already has this text.")
	case o.Mode == bridge.Direct || o.View == diffwrap.RawView:
		b.WriteString("; the change is in the document.")
	default:
		added := "no suggestion"
		if n := res.Suggestions(); n > 0 {
			added = result.Count(n, "suggestion")
		}
		pending := "no suggestions are pending"
		if n := len(res.Version.Suggestions()); n == 1 {
			pending = "1 suggestion in this document is pending"
		} else if n > 1 {
			pending = fmt.Sprintf("%d suggestions in this document are pending", n)
		}
		fmt.Fprintf(&b, "; %s added, %s.", added, pending)
	}
	if res.FrontMatter {
		b.WriteString(" Front matter cannot carry suggestions: it changed immediately, and users can undo that.")
	}
	for _, w := range res.Warnings {
		b.WriteString(" Warning: " + strings.TrimSuffix(w, ".") + ".")
	}
	return b.String()
}

type commentArgs struct {
	FilePath   string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	AnchorText string `arg:"anchor_text" need:"true" doc:"Text to comment on, exactly as in the document; it must occur once"`
	Comment    string `arg:"comment" need:"true" doc:"The comment"`
}

func comment(ctx context.Context, c *tool.Client, a commentArgs) (result.Result, error) {
	p, err := c.Resolver.Resolve(ctx, a.FilePath)
	if err != nil {
		return result.Result{}, err
	}
	note := strings.Join(strings.Fields(a.Comment), " ")
	switch {
	case note == "":
		return result.Result{}, result.InvalidArgument("The argument \"comment\" is empty.")
	case a.AnchorText == "":
		return result.Result{}, result.InvalidArgument("The argument \"anchor_text\" is empty.")
	case strings.Contains(note, "<<}") || strings.Contains(note, "{>>"):
		return result.Result{}, result.InvalidArgument("The argument \"comment\" must not contain {>> or <<}, which begin and end a comment.")
	}
	var at int
	before, _, err := c.Changes.Update(ctx, p, "comment on the note "+string(p), func(current *model.Version) ([]diffwrap.Edit, error) {
		places := textrange.Find(current.Text(), a.AnchorText)
		if near := textrange.FindNear(current.Text(), a.AnchorText); len(places) == 0 && len(near) == 1 {
			places = near
		}
		switch len(places) {
		case 0:
			return nil, result.InvalidArgument("anchor_text not found in %s. Make sure it matches exactly.", result.Escape(p))
		case 1:
			var ok bool
			if at, ok = diffwrap.CommentPlace(current.Text(), places[0].End); !ok {
				return nil, result.InvalidArgument("anchor_text is in code, front matter, a formula, a definition or the marker of a line in %s, where a comment would be text or break the line. Anchor it to the text before or after.", result.Escape(p))
			}
			for _, t := range diffwrap.Threads(current.Text()) { // a thread joins the adjacent comments
				if t.Start <= at && at < t.End {
					at = t.End
				}
			}
			if model.EndsCell(current.Text(), at, note) {
				return nil, result.InvalidArgument("The argument \"comment\" must not contain | in a table, where it would end the cell. Write \\| instead.")
			}
			if err := textrange.CheckMarkup(textrange.Argument{Name: "comment", Text: a.Comment}, c.Workspace.Options().View, "", note, 0); err != nil {
				return nil, err
			}
			return []diffwrap.Edit{{Off: at, New: "{>>" + note + "<<}"}}, nil
		}
		return nil, result.InvalidArgument("anchor_text is not unique in %s (%d occurrences found). Include more surrounding text. It is on %s.",
			result.Escape(p), len(places), textrange.NameLines(current.Text(), places))
	})
	if err != nil {
		return result.Result{}, err
	}
	return result.Text(fmt.Sprintf("Commented on %s at line %d.", result.Escape(p), textrange.LineOf(before.Text(), at))), nil
}

type writeArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	Content  string `arg:"content" need:"true" doc:"Its whole new text, as plain Markdown"`
}

func write(ctx context.Context, c *tool.Client, a writeArgs) (result.Result, error) {
	p, err := c.Resolver.LookUp(a.FilePath)
	if errors.Is(err, fs.ErrNotExist) {
		return writeNew(ctx, c, a)
	}
	if err != nil {
		return result.Result{}, err
	}
	res, err := c.Changes.Rewrite(ctx, p, a.Content, "editing")
	if err != nil {
		return result.Result{}, err
	}
	return result.Text("Wrote " + result.Escape(p) + outcome(c, res) + merged(res)), nil
}

func merged(res change.Result) string {
	if !res.Merged {
		return ""
	}
	return " Others had changed the document since you read it; their changes were kept. Read it again before you write it again."
}

func writeNew(ctx context.Context, c *tool.Client, a writeArgs) (result.Result, error) {
	p, err := c.Resolver.NewDocument(a.FilePath)
	if err != nil {
		return result.Result{}, err
	}
	res, err := c.Changes.CreateDocument(ctx, p, a.Content)
	return result.Text("Created " + result.Escape(p) + outcome(c, res) + merged(res)), err
}
