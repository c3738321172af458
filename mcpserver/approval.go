package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// The tools may have a person asked before they change anything: by elicitation,
// which the client shows to its user. In suggest mode that is seldom wanted,
// because everything waits for review anyway.

// Approval says whether a kind of operation is asked about.
type Approval string

const (
	ApproveAuto Approval = "auto" // go ahead
	ApproveAsk  Approval = "ask"  // ask the person at the client
	ApproveDeny Approval = "deny" // refuse
)

// operation is a kind of change.
type operation string

const (
	opCreate operation = "create"
	opUpdate operation = "update"
	opDelete operation = "delete"
)

// Approvals say what is asked about. Those left out are ask in direct mode and
// auto in suggest mode.
type Approvals map[string]Approval

// ParseApprovals reads "ask", "auto" or "deny" for everything, and "KIND=..." for
// one kind: create, update or delete. What comes later wins.
func ParseApprovals(words []string) (Approvals, error) {
	a := make(Approvals)
	for _, word := range words {
		kind, value, one := strings.Cut(word, "=")
		kinds := []string{kind}
		if !one {
			kinds, value = []string{string(opCreate), string(opUpdate), string(opDelete)}, kind
		}
		switch Approval(value) {
		case ApproveAuto, ApproveAsk, ApproveDeny:
		default:
			return nil, fmt.Errorf("approval %q is none of ask, auto, deny", value)
		}
		switch operation(kinds[0]) {
		case opCreate, opUpdate, opDelete:
		default:
			return nil, fmt.Errorf("approval %q is for none of create, update, delete", word)
		}
		for _, k := range kinds {
			a[k] = Approval(value)
		}
	}
	return a, nil
}

func (s *Server) approval(op operation) Approval {
	if a, ok := s.o.Approve[string(op)]; ok {
		return a
	}
	if s.ws.Options().Mode == bridge.Direct {
		return ApproveAsk
	}
	return ApproveAuto
}

// askError has the person at the client asked, after which the call is made again.
type askError struct{ question string }

func (e *askError) Error() string { return "not approved yet: " + e.question }

// approve lets an operation go on if that needs no approval or has it. what says
// what is to be done, without the subject. confirm is the tool's argument by which
// a client that cannot ask says that the person has agreed; nil if it was not given.
func (s *Session) approve(ctx context.Context, op operation, what string, confirm *bool) error {
	switch s.server.approval(op) {
	case ApproveAuto:
		return nil
	case ApproveDeny:
		return answer.WrongArgument("This server does not allow to %s. Tell the person what you would do; they can start relayfs with another --approve than deny.", what)
	}
	if s.remembered(op) {
		return nil
	}
	asked, _ := ctx.Value(askedKey{}).(asked)
	switch {
	case asked.answer != nil:
		return s.answered(op, what, asked.answer)
	case asked.able:
		return &askError{question: s.author().Name + " wants to " + what + "."}
	case op == opDelete && confirm != nil && *confirm:
		return nil
	case op == opDelete:
		return answer.WrongArgument("To %s needs a person's approval. Ask the person, and if they agree, call the tool again with confirm: true. "+
			"They can also start relayfs with --approve delete=auto.", what)
	}
	return answer.WrongArgument("To %s needs a person's approval, for which this client cannot ask. "+
		"Tell the person what you would do; they can start relayfs with --approve %s=auto.", what, op)
}

// answered takes the person's answer, and remembers it if that is wanted.
func (s *Session) answered(op operation, what string, reply *mcp.ElicitationResult) error {
	content, _ := reply.Content.(map[string]any)
	if reply.Action != mcp.ElicitationResponseActionAccept || content["approve"] != true {
		return answer.WrongArgument("The person did not agree to %s. Do not try it again unless they ask for it.", what)
	}
	if content["remember"] == true {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.approved == nil {
			s.approved = make(map[operation]bool)
		}
		s.approved[op] = true
	}
	return nil
}

func (s *Session) remembered(op operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.approved[op]
}

// askedKey is the key of asked in the context of a call.
type askedKey struct{}

// asked is what a call knows of elicitation.
type asked struct {
	able   bool                   // the client can ask its user
	answer *mcp.ElicitationResult // nil if nobody was asked yet
}

// questionID names the one question of a call.
const questionID = "approve"

// withAnswer has the tool of req know what the person answered. Each request of
// the newest protocol declares what its client can; clients of earlier ones did so
// in the beginning.
func (s *Server) withAnswer(ctx context.Context, req mcp.CallToolRequest) context.Context {
	a := asked{answer: server.ElicitationResponse(req.Params.InputResponses, questionID), able: s.session(ctx).asks()}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		a.able = info.ClientCapabilities.Elicitation != nil
	}
	return context.WithValue(ctx, askedKey{}, a)
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
