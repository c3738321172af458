package content

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type patchContentArgs struct {
	documentArgs
	OldString string `arg:"old_string" need:"true" doc:"Text to replace, exactly as in the document. It must occur once"`
	NewString string `arg:"new_string" need:"true" doc:"Text to put in its place"`
}

type patchContentResult struct {
	Success        bool            `json:"success"`
	Path           string          `json:"path,omitempty"`
	LinesChanged   int             `json:"lines_changed,omitempty"`
	Error          string          `json:"error,omitempty" doc:"Reason why nothing was changed"`
	MatchLocations []matchLocation `json:"match_locations,omitempty" doc:"The occurrences of old_string if there are several"`
	Notice         string          `json:"notice,omitempty" doc:"More information about the change"`
}

type matchLocation struct {
	Line    int    `json:"line"`
	Preview string `json:"preview"`
}

func (r patchContentResult) Failed() bool { return !r.Success }

// patchContent returns no error for a failure that the model can correct; the result describes the failure.
func patchContent(ctx context.Context, c *tool.Client, a patchContentArgs) (patchContentResult, error) {
	res, err := a.run(ctx, c)
	var quote *change.QuoteError
	if errors.As(err, &quote) && len(quote.Places) > 1 {
		return severalPlaces(res.Path, quote), nil
	}
	if message, ok := sentence(c, err); ok {
		return patchContentResult{Path: a.Path, Error: message}, nil
	}
	return res, err
}

func sentence(c *tool.Client, err error) (string, bool) {
	var ask *change.AskError
	if err == nil || errors.As(err, &ask) {
		return "", false
	}
	res := tool.FromError(err, c.Phrases)
	if res.Err != nil {
		return "", false
	}
	return strings.Join(res.Text, "\n"), true
}

func (a patchContentArgs) run(ctx context.Context, c *tool.Client) (patchContentResult, error) {
	p, err := find(ctx, c, a.EntityType, a.Path)
	res := patchContentResult{Path: string(p)}
	q := change.Quote{Old: a.OldString, New: a.NewString}
	if err == nil {
		err = q.Check()
	}
	switch {
	case err != nil:
		return res, err
	case a.OldString == "":
		return res, result.InvalidArgument("The argument \"old_string\" is empty. Give the text to replace, or call replace_content for the whole document.")
	}
	done, err := c.Changes.Edit(ctx, p, func(text string, seen textrange.RangeSet) ([]diffwrap.Edit, error) {
		edits, _, err := c.Changes.ReplaceQuote(p, q, text, seen)
		return edits, err
	})
	lines := func(s string) int { return 1 + strings.Count(strings.TrimSuffix(s, "\n"), "\n") }
	res.Success, res.LinesChanged, res.Notice = true, max(lines(a.OldString), lines(a.NewString)), done.Notice()
	return res, err
}

func severalPlaces(path string, e *change.QuoteError) patchContentResult {
	res := patchContentResult{Path: path}
	for _, place := range e.Places[:min(len(e.Places), textrange.MaxNamed)] {
		line := strings.TrimSuffix(textrange.LineAround(e.Text, place.Start), "\r")
		res.MatchLocations = append(res.MatchLocations, matchLocation{textrange.LineOf(e.Text, place.Start), result.OneLine(line)})
	}
	res.Error = fmt.Sprintf("old_string is not unique in %s (%s found). Include more surrounding context to make it unique.", path, result.Count(len(e.Places), "occurrence"))
	if n := len(res.MatchLocations); n < len(e.Places) {
		res.Error += fmt.Sprintf(" match_locations has the first %d.", n)
	}
	return res
}

type replaceContentArgs struct {
	EntityType filetype.Type `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"Type of the document: note (Markdown), canvas (JSON Canvas) or base (YAML)"`
	Path       string        `arg:"path" is:"path" need:"true" doc:"Path of the document, new or existing"`
	Content    string        `arg:"content" need:"true" doc:"The whole new content"`
}

type replaceContentResult struct {
	Success    bool          `json:"success"`
	Path       string        `json:"path,omitempty"`
	EntityType filetype.Type `json:"entity_type,omitempty"`
	Created    bool          `json:"created"`
	Error      string        `json:"error,omitempty" doc:"Reason why nothing was changed"`
	Notice     string        `json:"notice,omitempty" doc:"More information about the change"`
}

func (r replaceContentResult) Failed() bool { return !r.Success }

// replaceContent returns no error for a failure that the model can correct; the result describes the failure.
func replaceContent(ctx context.Context, c *tool.Client, a replaceContentArgs) (replaceContentResult, error) {
	res, err := a.run(ctx, c)
	if message, ok := sentence(c, err); ok {
		return replaceContentResult{Path: a.Path, EntityType: a.EntityType, Error: message}, nil
	}
	return res, err
}

func (a replaceContentArgs) run(ctx context.Context, c *tool.Client) (replaceContentResult, error) {
	kind := a.EntityType
	p, err := find(ctx, c, kind, a.Path)
	var missing *document.MissingError
	created := errors.As(err, &missing)
	if created {
		p, err = a.newPath(c)
	}
	if err != nil {
		return replaceContentResult{}, err
	}
	var done change.Result
	if created {
		done, err = c.Changes.CreateDocument(ctx, p, a.Content)
	} else {
		done, err = c.Changes.Rewrite(ctx, p, a.Content, "replacing")
	}
	return replaceContentResult{Success: true, Path: string(p), EntityType: kind, Created: created, Notice: done.Notice()}, err
}

func (a replaceContentArgs) newPath(c *tool.Client) (model.Path, error) {
	name := a.Path
	if !strings.Contains(model.Path(name).Base(), ".") {
		name += a.EntityType.Ext()
	}
	p, err := c.Resolver.NewPath(name, true)
	if err != nil {
		return "", err
	}
	return p, checkType(a.EntityType, p)
}
