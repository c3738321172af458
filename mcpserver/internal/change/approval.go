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

// A Gate asks a person before a tool changes anything, where that is required.
// It asks by elicitation: the client shows the question to its user. In suggest mode this
// is seldom required, because everything waits for review anyway. It knows no
// protocol and makes no change.

// Approval says what happens before an operation.
type Approval string

const (
	Auto Approval = "auto" // go ahead
	Ask  Approval = "ask"  // ask the person at the client
	Deny Approval = "deny" // refuse
)

// Operation is a kind of change.
type Operation string

const (
	Create Operation = "create"
	Update Operation = "update"
	Delete Operation = "delete"
)

// Approvals maps operations to approvals. The default is Ask in direct mode and Auto in suggest mode.
type Approvals map[Operation]Approval

// NoApprovals asks about nothing.
var NoApprovals = Approvals{Create: Auto, Update: Auto, Delete: Auto}

// ParseApprovals reads "ask", "auto" or "deny" for everything, and "KIND=..." for one operation:
// create, update or delete. Later words win.
func ParseApprovals(words []string) (Approvals, error) {
	a := make(Approvals)
	for _, word := range words {
		kind, value, one := strings.Cut(word, "=")
		if !one {
			value = word
		}
		if !slices.Contains([]Approval{Auto, Ask, Deny}, Approval(value)) {
			return nil, fmt.Errorf("approval %q is none of ask, auto, deny", value)
		}
		known := false
		for _, k := range []Operation{Create, Update, Delete} {
			if !one || k == Operation(kind) {
				a[k], known = Approval(value), true
			}
		}
		if !known {
			return nil, fmt.Errorf("approval %q is for none of create, update, delete", word)
		}
	}
	return a, nil
}

// AskError is a change that needs the person's answer, with which the client makes the call again.
type AskError struct{ result.Question }

func (e *AskError) Error() string { return "not approved yet: " + e.Text }

// Request is a change that may need approval.
type Request struct {
	Operation Operation
	Author    string // the author
	Action    string // the change as a verb phrase
	// Detail tells a person in sentences what the change comes to, and returns what it takes away: an answer
	// allows a change that takes away the same. It may be nil.
	Detail func() (sentences, gone string)
	// Confirm is an argument that a client sets that cannot ask its user, after the person has agreed; nil means
	// that it was not given.
	Confirm *bool
	// Answered keeps what was asked and answered, before the answer counts.
	Answered func(model.Approval) error
}

// question is what the person is asked.
func (r Request) question() result.Question {
	text, gone := r.Author+" wants to "+r.Action+".", ""
	if r.Detail != nil {
		var more string
		if more, gone = r.Detail(); more != "" {
			text += " " + more
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Operation, r.Action, gone))
	return result.Question{ID: "approve-" + hex.EncodeToString(sum[:8]), Text: text}
}

// Asked is what is known of the person at the client in one call.
type Asked struct {
	CanAsk bool                                          // the client can ask
	Reply  func(id string) (reply model.Answer, ok bool) // what was answered to a question; false if it was not asked
}

type (
	key     struct{} // of Asked in the context of a call
	allowed struct{} // of an Operation that is approved for the rest of a call
)

// Allow returns a context in which an operation has been approved, as one of several of a call.
func Allow(ctx context.Context, op Operation) context.Context {
	return context.WithValue(ctx, allowed{}, op)
}

// WithAsked adds a to the context of a call.
func WithAsked(ctx context.Context, a Asked) context.Context { return context.WithValue(ctx, key{}, a) }

// Gate approves or refuses the changes of one client.
type Gate struct {
	approvals Approvals
	fallback  Approval // for operations that approvals lacks
	approved  sync.Map // of Operation: what needs no second answer
}

// NewGate returns a Gate for approvals. direct says that changes do not wait for review.
func NewGate(approvals Approvals, direct bool) *Gate {
	if direct {
		return &Gate{approvals: approvals, fallback: Ask}
	}
	return &Gate{approvals: approvals, fallback: Auto}
}

// Asks reports whether the person is asked about an operation.
func (g *Gate) Asks(op Operation) bool {
	_, approved := g.approved.Load(op)
	return cmp.Or(g.approvals[op], g.fallback) == Ask && !approved
}

// Approve returns nil if a change needs no approval or has it.
func (g *Gate) Approve(ctx context.Context, r Request) error {
	op := r.Operation
	switch cmp.Or(g.approvals[op], g.fallback) {
	case Auto:
		return nil
	case Deny:
		return result.InvalidArgument("This server does not allow to %s. Tell the person what you would do; they can start relayfs with another --approve than deny.", r.Action)
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
		return result.InvalidArgument("To %s needs a person's approval. Ask the person, and if they agree, call the tool again with confirm: true. "+
			"They can also start relayfs with --approve delete=auto.", r.Action)
	}
	return result.InvalidArgument("To %s needs a person's approval, for which this client cannot ask. "+
		"Tell the person what you would do; they can start relayfs with --approve %s=auto.", r.Action, op)
}

// applyReply keeps the answer to a request, and does as it says.
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
		return result.InvalidArgument("The person closed the question whether you may %s, and did not answer it. Nothing was done. Ask them what they want before you try it again.", r.Action)
	}
	return result.InvalidArgument("The person did not agree to %s. Do not try it again unless they ask for it.", r.Action)
}
