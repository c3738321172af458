// Package approval asks a person before a tool changes anything, where that is required.
// It asks by elicitation: the client shows the question to its user. In suggest mode this
// is seldom required, because everything waits for review anyway. The package knows no
// protocol and makes no change.
package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

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

// None asks about nothing.
var None = Approvals{Create: Auto, Update: Auto, Delete: Auto}

// Parse reads "ask", "auto" or "deny" for everything, and "KIND=..." for one operation:
// create, update or delete. Later words win.
func Parse(words []string) (Approvals, error) {
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
type AskError struct{ Question string }

func (e *AskError) Error() string { return "not approved yet: " + e.Question }

// Reply is the answer of the person at the client.
type Reply struct {
	Agreed   bool
	Remember bool // do not ask again in this session
}

// Asked is the state of the question in one call.
type Asked struct {
	Able  bool   // the client can ask its user
	Reply *Reply // nil if nobody was asked yet
}

type (
	key     struct{} // of Asked in the context of a call
	allowed struct{} // of an Operation that is approved for the rest of a call
)

// Allow returns a context in which an operation has been approved, as one of several of a call.
func Allow(ctx context.Context, op Operation) context.Context {
	return context.WithValue(ctx, allowed{}, op)
}

// With adds a to the context of a call.
func With(ctx context.Context, a Asked) context.Context { return context.WithValue(ctx, key{}, a) }

// Gate approves or refuses the changes of one client.
type Gate struct {
	approvals Approvals
	otherwise Approval // for operations that approvals lacks
	approved  sync.Map // of Operation: what needs no second answer
}

// NewGate returns a Gate for approvals. direct says that changes do not wait for review.
func NewGate(approvals Approvals, direct bool) *Gate {
	if direct {
		return &Gate{approvals: approvals, otherwise: Ask}
	}
	return &Gate{approvals: approvals, otherwise: Auto}
}

// Asks reports whether the person is asked about an operation.
func (g *Gate) Asks(op Operation) bool {
	_, approved := g.approved.Load(op)
	return cmp.Or(g.approvals[op], g.otherwise) == Ask && !approved
}

// Approve returns nil if an operation needs no approval or has it. by names the author,
// and what is the change as a verb phrase. A client that cannot ask its user sets the
// tool's argument confirm after the person has agreed; nil means that it was not given.
func (g *Gate) Approve(ctx context.Context, op Operation, by, what string, confirm *bool) error {
	switch cmp.Or(g.approvals[op], g.otherwise) {
	case Auto:
		return nil
	case Deny:
		return answer.WrongArgument("This server does not allow to %s. Tell the person what you would do; they can start relayfs with another --approve than deny.", what)
	}
	if _, ok := g.approved.Load(op); ok || ctx.Value(allowed{}) == op {
		return nil
	}
	asked, _ := ctx.Value(key{}).(Asked)
	switch {
	case asked.Reply != nil && !asked.Reply.Agreed:
		return answer.WrongArgument("The person did not agree to %s. Do not try it again unless they ask for it.", what)
	case asked.Reply != nil:
		if asked.Reply.Remember {
			g.approved.Store(op, true)
		}
		return nil
	case asked.Able:
		return &AskError{by + " wants to " + what + "."}
	case op == Delete && confirm != nil && *confirm:
		return nil
	case op == Delete:
		return answer.WrongArgument("To %s needs a person's approval. Ask the person, and if they agree, call the tool again with confirm: true. "+
			"They can also start relayfs with --approve delete=auto.", what)
	}
	return answer.WrongArgument("To %s needs a person's approval, for which this client cannot ask. "+
		"Tell the person what you would do; they can start relayfs with --approve %s=auto.", what, op)
}
