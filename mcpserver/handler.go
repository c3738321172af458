package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/schema"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// maxResultSize says, to Claude Code, from how many characters on an answer is put
// into a file instead of being shown. Its own limit may be below answer.Max.
const maxResultSize = "anthropic/maxResultSizeChars"

// definition is the tool as the protocol describes it. All four hints are set:
// those left out would take the protocol's alarming defaults.
func definition(t tool.Tool) mcp.Tool {
	def := mcp.NewToolWithRawSchema(t.Name, t.Description, schema.OfArguments(t.Params))
	def.Title = t.Title
	def.RawOutputSchema = t.Output
	if t.Hints.ReadOnly {
		def.Meta = &mcp.Meta{AdditionalFields: map[string]any{maxResultSize: 300_000}}
	}
	no := false
	def.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive,
		IdempotentHint: &t.Hints.Idempotent, OpenWorldHint: &no,
	}
	return def
}

// handler adapts a tool to the protocol.
func (s *Server) handler(t tool.Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := req.Params.RawArguments
		if raw == nil {
			var err error
			if raw, err = json.Marshal(req.Params.Arguments); err != nil {
				return nil, err
			}
		}
		res := t.Call(s.withAnswer(s.withProgress(ctx, req), req), s.session(ctx).client, raw)
		if res.Ask != "" {
			return elicit(res.Ask), nil
		}
		if res.Err != nil {
			s.log.Error("tool call failed", "tool", t.Name, model.LogErr, res.Err)
			return nil, res.Err
		}
		res = res.Bounded()
		out := &mcp.CallToolResult{IsError: res.IsError, Content: make([]mcp.Content, 0, len(res.Text))}
		for _, block := range res.Blocks() {
			out.Content = append(out.Content, mcp.NewTextContent(block))
		}
		if res.Structured != nil {
			out.StructuredContent = res.Structured
		}
		return out, nil
	}
}
