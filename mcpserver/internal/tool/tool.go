// Package tool defines tools independently of the protocol. A tool is a function from a client and typed arguments to a
// result. Struct tags of the arguments and results define the JSON Schemas (schema.go), and how the package checks and
// decodes the arguments of a call (arguments.go). The package also turns errors into texts for a model (errtext.go).
// The tools themselves are in the packages below internal/toolset.
package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

// Client is one client, with the services that its tools use.
type Client struct {
	Workspace *bridge.Workspace
	Session   *session.Session
	Resolver  document.Resolver
	Changes   change.Changes
	Index     *search.Index
	Semantic  *semantic.Index
	Phrases   Phrases // error texts that name the client's tools
}

// Batched returns a copy of c whose changes are undone together.
func (c *Client) Batched() *Client {
	together := *c
	together.Changes.Batch = model.NewBatch()
	return &together
}

// Show returns a window of d for a structured result, and records it as read. begin, end, most and margin are those of
// textrange.WindowForResult. notice contains the call of tool that returns the remaining text, and d.Notice.
func (c *Client) Show(d document.Document, begin textrange.Position, end *int, most, margin int, tool string) (w textrange.Window, notice string, err error) {
	w, err = textrange.WindowForResult(string(d.Path), d.Text, begin, end, most, margin)
	if err != nil {
		return w, "", err
	}
	c.Session.RecordRead(d, w.Range)
	more := w.Notice(func(at textrange.Position) string { return tool + " with " + at.Arguments("start_line") })
	return w, strings.TrimSpace(more + " " + d.Notice()), nil
}

type Tool struct {
	Name, Title, Description string
	Hints                    Hints
	Params                   []Param
	Output                   json.RawMessage // schema of a structured result; nil for other results
	Call                     func(ctx context.Context, c *Client, args json.RawMessage) result.Result
}

type Hints struct{ ReadOnly, Destructive, Idempotent bool }

var (
	Reads    = Hints{ReadOnly: true, Idempotent: true}
	Suggests = Hints{}                  // usually keeps existing content, because most workspaces record suggestions
	Removes  = Hints{Destructive: true} // removes existing content
	Deletes  = Hints{Destructive: true, Idempotent: true}
)

func Plain[A any](name, title string, h Hints, run func(context.Context, *Client, A) (result.Result, error), description string) Tool {
	params := paramsOf(reflect.TypeFor[A]())
	return Tool{
		Name: name, Title: title, Description: description, Hints: h, Params: params,
		Call: func(ctx context.Context, c *Client, raw json.RawMessage) result.Result {
			var args A
			var res result.Result
			err := decodeCall(name, params, raw, &args)
			if l, ok := any(&args).(interface{ SetCall(tool string, args any) }); ok {
				of := args
				clearPaging(params, &of)
				l.SetCall(name, of)
			}
			if err == nil {
				res, err = run(ctx, c, args)
			}
			if err != nil {
				return FromError(err, c.Phrases)
			}
			return res
		},
	}
}

// Structured returns a tool that runs a function from typed arguments to a struct. The result has the JSON of the
// struct as structured content and as text. Each field of the struct has these tags:
//
//	json  the name, and omitempty if it may be missing
//	doc   the description in the output schema
func Structured[A, R any](name, title string, h Hints, run func(context.Context, *Client, A) (R, error), description string) Tool {
	t := Plain(name, title, h, func(ctx context.Context, c *Client, a A) (result.Result, error) {
		r, err := run(ctx, c, a)
		return result.JSON(r), err
	}, description)
	t.Output = ofType(reflect.TypeFor[R]()).encode()
	return t
}
