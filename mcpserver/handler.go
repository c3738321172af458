package mcpserver

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	// maxResultSize is the metadata key for a number of characters. Claude Code puts a result with more characters into a
	// file instead of showing it. Claude Code's default may be below result.Max.
	maxResultSize = "anthropic/maxResultSizeChars"
	// progressEvery is the minimum time between two progress notifications of a call.
	progressEvery = 500 * time.Millisecond
)

// definition converts a tool for mcp-go. It sets all four hints, because by the protocol's defaults the tool would
// count as destructive and open-world.
func definition(t tool.Tool) mcp.Tool {
	def := mcp.NewToolWithRawSchema(t.Name, t.Description, tool.ArgumentSchema(t.Params))
	def.Title = t.Title
	def.RawOutputSchema = t.Output
	def.Meta = &mcp.Meta{AdditionalFields: map[string]any{maxResultSize: 300_000}}
	def.Annotations = mcp.ToolAnnotation{
		Title: t.Title, ReadOnlyHint: &t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive,
		IdempotentHint: &t.Hints.Idempotent, OpenWorldHint: new(false),
	}
	return def
}

func (s *Server) handler(t tool.Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if turn, ok := ctx.Value(turnKey{}).(turn); ok {
			defer turn.end() // runs before the client asks its user and repeats the call
			if err := turn.wait(ctx); err != nil {
				return nil, err
			}
		}
		res := t.Call(s.withAnswer(s.withProgress(ctx, req), req), s.session(ctx).client, req.Params.RawArguments).Bounded()
		if res.Ask != nil {
			return elicit(*res.Ask), nil
		}
		if !t.Hints.ReadOnly {
			s.ws.AwaitMount(ctx)
		}
		if res.Err != nil {
			s.log.Error("tool call failed", "tool", t.Name, model.LogErr, res.Err)
			return nil, res.Err
		}
		out := &mcp.CallToolResult{IsError: res.IsError, Content: make([]mcp.Content, 0, len(res.Text))}
		for _, block := range res.Blocks() {
			out.Content = append(out.Content, mcp.NewTextContent(block))
		}
		for _, image := range res.Images {
			out.Content = append(out.Content, mcp.NewImageContent(base64.StdEncoding.EncodeToString(image.Data), image.MIMEType))
		}
		if res.Structured != nil {
			out.StructuredContent = res.Structured
		}
		return out, nil
	}
}

func (s *Server) withProgress(ctx context.Context, req mcp.CallToolRequest) context.Context {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx
	}
	last := time.Now()
	return model.WithProgress(ctx, func(done, total int) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		err := s.mcp.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": total,
		})
		if err != nil {
			s.log.Debug("cannot send progress", model.LogErr, err)
		}
	})
}

func (s *Server) withAnswer(ctx context.Context, req mcp.CallToolRequest) context.Context {
	a := change.Asked{CanAsk: s.session(ctx).client.Session.CanAsk()}
	// Since protocol version 2026-07-28 each request declares the capabilities of the client. In earlier versions only
	// initialize declared them.
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		a.CanAsk = info.ClientCapabilities.Elicitation != nil
	}
	a.Reply = func(id string) (model.Answer, bool) {
		if res := server.ElicitationResponse(req.Params.InputResponses, id); res != nil {
			return replyOf(res), true
		}
		return "", false
	}
	return change.WithAsked(ctx, a)
}

func replyOf(res *mcp.ElicitationResult) model.Answer {
	content, _ := res.Content.(map[string]any)
	switch {
	case res.Action == mcp.ElicitationResponseActionCancel:
		return model.AnswerCancelled
	case res.Action != mcp.ElicitationResponseActionAccept || content["approve"] != true:
		return model.AnswerDeclined
	case content["remember"] == true:
		return model.AnswerAllowedSession
	}
	return model.AnswerAllowed
}

func elicit(q result.Question) *mcp.CallToolResult {
	flag := func(title string, def bool) map[string]any {
		return map[string]any{"type": "boolean", "title": title, "default": def}
	}
	return server.NewInputRequestBuilder("").Elicit(q.ID, mcp.ElicitationParams{
		Message: q.Text,
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"approve":  flag("Allow this", true),
				"remember": flag("Allow this kind of change for the rest of the session", false),
			},
			"required": []string{"approve"},
		},
	}).ToolResult()
}
