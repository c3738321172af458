// Package approval has a person asked before a tool changes anything, where that is
// wanted: by elicitation, which the client shows to its user. In suggest mode that is
// seldom wanted, because everything waits for review anyway. The package knows no
// protocol and makes no change. The lock of a Gate protects what was approved for good.
package approval

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// Approval says whether a kind of operation is asked about.
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

// Approvals say what is asked about. Those left out are ask in direct mode and
// auto in suggest mode.
type Approvals map[string]Approval

// None asks about nothing.
var None = Approvals{string(Create): Auto, string(Update): Auto, string(Delete): Auto}

// Parse reads "ask", "auto" or "deny" for everything, and "KIND=..." for one kind:
// create, update or delete. What comes later wins.
func Parse(words []string) (Approvals, error) {
	a := make(Approvals)
	for _, word := range words {
		kind, value, one := strings.Cut(word, "=")
		kinds := []string{kind}
		if !one {
			kinds, value = []string{string(Create), string(Update), string(Delete)}, kind
		}
		switch Approval(value) {
		case Auto, Ask, Deny:
		default:
			return nil, fmt.Errorf("approval %q is none of ask, auto, deny", value)
		}
		switch Operation(kinds[0]) {
		case Create, Update, Delete:
		default:
			return nil, fmt.Errorf("approval %q is for none of create, update, delete", word)
		}
		for _, k := range kinds {
			a[k] = Approval(value)
		}
	}
	return a, nil
}

// AskError has the person at the client asked, after which the call is made again.
type AskError struct{ Question string }

func (e *AskError) Error() string { return "not approved yet: " + e.Question }

// Reply is what the person at the client has answered.
type Reply struct {
	Agreed   bool
	Remember bool // do not ask again in this session
}

// Asked is what a call knows of asking.
type Asked struct {
	Able  bool   // the client can ask its user
	Reply *Reply // nil if nobody was asked yet
}

// key is the key of Asked in the context of a call.
type key struct{}

// With has the changes of a call know a.
func With(ctx context.Context, a Asked) context.Context { return context.WithValue(ctx, key{}, a) }

// Gate lets the changes of one client through.
type Gate struct {
	approvals Approvals
	otherwise Approval // where approvals say nothing

	mu       sync.Mutex         // protects the following
	approved map[Operation]bool // without asking again
}

// NewGate is a gate that asks as approvals say. direct is set where changes do not wait
// for review.
func NewGate(approvals Approvals, direct bool) *Gate {
	g := &Gate{approvals: approvals, otherwise: Auto, approved: make(map[Operation]bool)}
	if direct {
		g.otherwise = Ask
	}
	return g
}

func (g *Gate) approval(op Operation) Approval {
	if a, ok := g.approvals[string(op)]; ok {
		return a
	}
	return g.otherwise
}

// Approve lets an operation go on if that needs no approval or has it. by is who
// changes something, and what says what is to be done, without that subject. confirm is
// the tool's argument by which a client that cannot ask says that the person has agreed;
// nil if it was not given.
func (g *Gate) Approve(ctx context.Context, op Operation, by, what string, confirm *bool) error {
	switch g.approval(op) {
	case Auto:
		return nil
	case Deny:
		return answer.WrongArgument("This server does not allow to %s. Tell the person what you would do; they can start relayfs with another --approve than deny.", what)
	}
	if g.remembered(op) {
		return nil
	}
	asked, _ := ctx.Value(key{}).(Asked)
	switch {
	case asked.Reply != nil:
		return g.take(op, what, *asked.Reply)
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

// take takes the person's reply, and remembers it if that is wanted.
func (g *Gate) take(op Operation, what string, r Reply) error {
	if !r.Agreed {
		return answer.WrongArgument("The person did not agree to %s. Do not try it again unless they ask for it.", what)
	}
	if r.Remember {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.approved[op] = true
	}
	return nil
}

func (g *Gate) remembered(op Operation) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.approved[op]
}
