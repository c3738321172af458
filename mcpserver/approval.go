package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/mcpserver/internal/approval"
)

// Approval says whether a kind of operation is asked about.
type Approval = approval.Approval

const (
	ApproveAuto = approval.Auto // go ahead
	ApproveAsk  = approval.Ask  // ask the person at the client
	ApproveDeny = approval.Deny // refuse
)

// Approvals say what is asked about. Those left out are ask in direct mode and
// auto in suggest mode.
type Approvals = approval.Approvals

// ParseApprovals reads "ask", "auto" or "deny" for everything, and "KIND=..." for
// one kind: create, update or delete. What comes later wins.
func ParseApprovals(words []string) (Approvals, error) { return approval.Parse(words) }

// questionID names the one question of a call.
const questionID = "approve"

// withAnswer has the tool of req know what the person answered. Each request of
// the newest protocol declares what its client can; clients of earlier ones did so
// in the beginning.
func (s *Server) withAnswer(ctx context.Context, req mcp.CallToolRequest) context.Context {
	a := approval.Asked{Able: s.session(ctx).client.Session.Elicits(), Reply: replyOf(server.ElicitationResponse(req.Params.InputResponses, questionID))}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		a.Able = info.ClientCapabilities.Elicitation != nil
	}
	return approval.With(ctx, a)
}

// replyOf is what res says; nil if nobody was asked yet.
func replyOf(res *mcp.ElicitationResult) *approval.Reply {
	if res == nil {
		return nil
	}
	content, _ := res.Content.(map[string]any)
	return &approval.Reply{
		Agreed:   res.Action == mcp.ElicitationResponseActionAccept && content["approve"] == true,
		Remember: content["remember"] == true,
	}
}

// elicit is the result that has the client ask its user.
func elicit(question string) *mcp.CallToolResult {
	flag := func(title string, def bool) map[string]any {
		return map[string]any{"type": "boolean", "title": title, "default": def}
	}
	return server.NewInputRequestBuilder("").Elicit(questionID, mcp.ElicitationParams{
		Message: question,
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"approve":  flag("Allow this", true),
				"remember": flag("Do not ask again in this session", false),
			},
			"required": []string{"approve"},
		},
	}).ToolResult()
}
