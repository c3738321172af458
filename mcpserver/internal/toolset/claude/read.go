package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const defaultLines = 2000

type readArgs struct {
	FilePath  string   `arg:"file_path" is:"path" need:"true" doc:"For example Folder/sub/Name.md"`
	FilePaths []string `arg:"file_paths" is:"path" for:"file_path" doc:"Several documents instead of one"`
	Offset    int      `arg:"offset" min:"0" doc:"First line, from 1; for long documents only"`
	Limit     int      `arg:"limit" min:"0" doc:"Number of lines; for long documents only"`
	Section   string   `arg:"section" doc:"Only this part: a heading (## Plan) or block id (^id)"`
	Column    int      `arg:"column" min:"1" doc:"First character of the first line, from 1; for long lines only"`
}

func read(ctx context.Context, c *tool.Client, a readArgs) (result.Result, error) {
	if a.FilePaths == nil {
		return a.read(ctx, c, result.Max)
	}
	if a.FilePath != "" {
		a.FilePaths = append([]string{a.FilePath}, a.FilePaths...)
	}
	return a.readMany(ctx, c)
}

// readMany shows as many documents as fit, and records only the shown documents as read.
func (a readArgs) readMany(ctx context.Context, c *tool.Client) (result.Result, error) {
	const margin = 1200 // reserved for the notice about the remaining documents
	var out result.Result
	bytes := 0 // total size of the images
	for i, name := range a.FilePaths {
		head := "==> " + result.Escape(name) + " <=="
		left := result.Max - margin - out.Cost() - result.TextCost(head) - 40
		a.FilePath = name
		if i > 0 && left < result.Max/8 {
			out.Text = append(out.Text, fmt.Sprintf("[%s of %d not shown, because the answer is full. Call read with file_paths from %q on.]",
				result.Count(len(a.FilePaths)-i, "document"), len(a.FilePaths), name))
			break
		}
		res, err := a.read(ctx, c, left)
		if err != nil {
			res = result.Text("[error] " + tool.ErrorText(err, c.Phrases))
		}
		for _, image := range res.Images {
			if bytes += len(image.Data); bytes > maxImage {
				res = result.Text("[The images of this answer are too large together: read this one separately.]")
				bytes -= len(image.Data)
			}
		}
		out.Images = append(out.Images, res.Images...)
		out.Text = append(out.Text, strings.TrimSuffix(head+"\n"+strings.Join(res.Text, "\n\n"), "\n"))
	}
	out.OneBlock = true
	return out, nil
}

func (a readArgs) read(ctx context.Context, c *tool.Client, most int) (result.Result, error) {
	p, err := c.Resolver.Resolve(ctx, a.FilePath)
	if err != nil {
		return result.Result{}, err
	}
	d, err := c.Resolver.Document(ctx, p)
	if errors.Is(err, model.ErrInvalidUTF8) || errors.Is(err, model.ErrTooLarge) {
		return readImage(ctx, c, p, err)
	}
	if err != nil {
		return result.Result{}, err
	}
	known, _ := c.Session.ReadStateOf(p)
	var list []model.Suggestion
	var decided, waiting string
	var untold []bridge.Resolved
	if d.Version != nil {
		if list, err = c.Workspace.Suggestions(ctx, p); err != nil {
			return result.Result{}, err
		}
		decided, untold = result.DecisionsBlock(c.Session.DecisionsUpTo(p, known, d.Version))
		waiting = result.PendingBlock(p, list)
	}
	encoding := d.Notice()
	if encoding != "" {
		encoding = "[" + encoding + "]"
	}
	limit := most - result.Text(waiting, decided, encoding).Cost() - 400
	begin, lines, err := a.lines(p, d.Text)
	if err != nil {
		return result.Result{}, err
	}
	page, w, err := numbered(d.Text, begin, lines, limit)
	if err != nil {
		return result.Result{}, err
	}
	now := known.WithRead(d, w.Range)
	if d.Version != nil {
		now.OwnMarks, now.Decisions = c.Session.OwnMarksIn(d.Version, list), untold
	}
	c.Session.SetReadState(p, now)
	notice := w.Notice(func(at textrange.Position) string { return "read with " + at.Arguments("offset") })
	if notice != "" {
		notice = "[" + notice + "]"
	}
	return result.Text(page, waiting, decided, notice, encoding), nil
}

// maxImage is the maximum size of the images in an answer, in bytes. It is limited because model APIs accept at most 5
// MB of base64.
const maxImage = 3 << 20

// imageTypes are the formats that model APIs accept.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// readImage returns the file at p if it is an image. Otherwise it returns an error with the reason. cause is the error
// of reading the file as text.
func readImage(ctx context.Context, c *tool.Client, p model.Path, cause error) (result.Result, error) {
	data, err := c.Resolver.ReadFile(ctx, p, maxImage)
	kind := http.DetectContentType(data)
	switch isImage := slices.Contains(imageTypes, kind); {
	case isImage && errors.Is(err, model.ErrTooLarge):
		return result.Result{}, result.InvalidArgument("%s is an image of more than %d MiB, which is too large for an answer. Tell the user, who can open it.", result.Escape(p), maxImage>>20)
	case isImage && err == nil:
		res := result.Text(fmt.Sprintf("%s is an image (%s, %d bytes).", result.Escape(p), kind, len(data)))
		res.Images = []result.Image{{MIMEType: kind, Data: data}}
		return res, nil
	case errors.Is(cause, model.ErrInvalidUTF8):
		return result.Result{}, notText(p)
	}
	return result.Result{}, cause
}

func notText(p model.Path) error {
	return result.InvalidArgument("%s is not text. It may be read as the resource %s.", result.Escape(p), document.URIOf(p))
}

func (a readArgs) lines(p model.Path, text string) (textrange.Position, int, error) {
	begin, limit := textrange.Position{Line: a.Offset, Column: a.Column}, cmp.Or(a.Limit, defaultLines)
	if a.Section == "" {
		return begin, limit, nil
	}
	s, err := outline.SectionOf(text, a.Section)
	if err != nil {
		return begin, 0, &model.Error{Op: "read", Path: p, Err: err}
	}
	begin.Line = max(begin.Line, s.Line)
	left := s.Last - begin.Line + 1
	if left < 1 {
		return begin, 0, result.InvalidArgument("The argument \"offset\" is %d, and the section %q ends at line %d.", a.Offset, a.Section, s.Last)
	}
	return begin, min(left, limit), nil
}

// numbered formats lines as `cat -n` does.
func numbered(doc string, begin textrange.Position, limit, most int) (page string, w textrange.Window, err error) {
	const margin = 11 // cost of the number, tab and line break
	w, err = textrange.WindowOf(doc, begin, max(begin.Line, 1)-1+limit, most, func(s string) int { return result.TextCost(s) + margin })
	switch {
	case err != nil:
		return "", w, err
	case w.Total == 0:
		return "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", w, nil
	case begin.Line > w.Total:
		return fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). "+
			"The file has %d lines.</system-reminder>", begin.Line, w.Total), w, nil
	}
	lines := make([]string, len(w.Lines))
	for i, l := range w.Lines {
		lines[i] = fmt.Sprintf("%6d\t%s", w.Begin.Line+i, l)
	}
	return strings.Join(lines, "\n"), w, nil
}
