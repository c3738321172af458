package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// A Gate asks the user at the client to approve a change (MCP elicitation). In suggest mode it does not ask by default,
// because the user reviews most changes later.

type Approval string

const (
	Auto Approval = "auto" // make the change without asking
	Ask  Approval = "ask"  // ask the user at the client
	Deny Approval = "deny" // refuse the change
)

type Operation string

const (
	Create Operation = "create"
	Update Operation = "update"
	Delete Operation = "delete"
)

// Approvals default to Ask in direct mode and to Auto in suggest mode.
type Approvals map[Operation]Approval

var NoApprovals = Approvals{Create: Auto, Update: Auto, Delete: Auto}

func ParseApprovals(words []string) (Approvals, error) {
	a := make(Approvals)
	for _, word := range words {
		kind, value, one := strings.Cut(word, "=")
		if !one {
			value = word
		}
		if !slices.Contains([]Approval{Auto, Ask, Deny}, Approval(value)) {
			return nil, fmt.Errorf("approval %q is not one of ask, auto, deny", value)
		}
		ok := false
		for _, k := range []Operation{Create, Update, Delete} {
			if !one || k == Operation(kind) {
				a[k], ok = Approval(value), true
			}
		}
		if !ok {
			return nil, fmt.Errorf("approval %q must be for create, update or delete", word)
		}
	}
	return a, nil
}

// AskError is the error for a change that needs approval. The client must ask its user, and then repeat the call with
// the user's reply.
type AskError struct{ result.Question }

func (e *AskError) Error() string { return "not approved yet: " + e.Text }

type Request struct {
	Operation Operation
	Author    string
	Action    string // the change as a verb phrase
	// Detail describes the change for the user. loss is the deleted text, or identifies it. A reply approves only a
	// change with the same loss. Detail may be nil.
	Detail func() (sentences, loss string)
	// Confirm is set by a client that cannot ask, after its user has agreed. It is nil if the call did not set it.
	Confirm *bool
	// Answered records the question and the reply before the reply takes effect.
	Answered func(model.Approval) error
}

func (r Request) question() result.Question {
	text, loss := r.Author+" wants to "+r.Action+".", ""
	if r.Detail != nil {
		var more string
		if more, loss = r.Detail(); more != "" {
			text += " " + more
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Operation, r.Action, loss))
	return result.Question{ID: "approve-" + hex.EncodeToString(sum[:8]), Text: text}
}

// Asked records whether the client can ask its user, and has the user's replies for this call.
type Asked struct {
	CanAsk bool
	Reply  func(id string) (reply model.Answer, ok bool) // ok is false if the call has no reply to the question
}

type (
	key     struct{} // context key of Asked
	allowed struct{} // context key of an Operation that is approved for the rest of a call
)

func WithAsked(ctx context.Context, a Asked) context.Context { return context.WithValue(ctx, key{}, a) }

type Gate struct {
	approvals Approvals
	fallback  Approval // used for operations that approvals does not contain
	approved  sync.Map // its keys are the Operations that the user has approved for the session
}

// NewGate returns a Gate. direct is set if users do not review changes afterwards.
func NewGate(approvals Approvals, direct bool) *Gate {
	if direct {
		return &Gate{approvals: approvals, fallback: Ask}
	}
	return &Gate{approvals: approvals, fallback: Auto}
}

func (g *Gate) Asks(op Operation) bool {
	_, approved := g.approved.Load(op)
	return cmp.Or(g.approvals[op], g.fallback) == Ask && !approved
}

// Approve returns nil if the change is approved or needs no approval.
func (g *Gate) Approve(ctx context.Context, r Request) error {
	op := r.Operation
	switch cmp.Or(g.approvals[op], g.fallback) {
	case Auto:
		return nil
	case Deny:
		return result.InvalidArgument("This server does not allow you to %s. Tell the user what you would do; they can start relayfs without --approve deny.", r.Action)
	}
	if _, ok := g.approved.Load(op); ok || ctx.Value(allowed{}) == op {
		return nil
	}
	asked, _ := ctx.Value(key{}).(Asked)
	if asked.CanAsk {
		q := r.question()
		if reply, ok := asked.Reply(q.ID); ok {
			return g.applyReply(r, q, reply)
		}
		return &AskError{q}
	}
	switch {
	case op == Delete && r.Confirm != nil && *r.Confirm:
		return nil
	case op == Delete:
		return result.InvalidArgument("You need the user's approval to %s. Ask the user, and if they agree, call the tool again with confirm: true. "+
			"They can also start relayfs with --approve delete=auto.", r.Action)
	}
	return result.InvalidArgument("You need the user's approval to %s, and this client cannot ask for it. "+
		"Tell the user what you would do; they can start relayfs with --approve %s=auto.", r.Action, op)
}

func (g *Gate) applyReply(r Request, q result.Question, reply model.Answer) error {
	if err := r.Answered(model.Approval{Operation: string(r.Operation), Question: q.Text, Answer: reply}); err != nil {
		return err
	}
	switch reply {
	case model.AnswerAllowedSession:
		g.approved.Store(r.Operation, true)
		return nil
	case model.AnswerAllowed:
		return nil
	case model.AnswerCancelled:
		return result.InvalidArgument("The user dismissed the request to %s without answering. Nothing was changed. Ask the user before you try again.", r.Action)
	}
	return result.InvalidArgument("The user declined to %s. Do not try again unless they ask for it.", r.Action)
}
