package main

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/fusefs"
)

// inAgent reports whether an agent has started this process. If so, the process shows only files that agents may reach.
func (f *workspaceFlags) inAgent() bool { return fusefs.OwnRun(f.agents).Agent != "" }

const runReview = "run 'relayfs suggestions review' in a terminal; 'relayfs outcomes' shows decisions and reasons"

// refuseAgent returns an error if an agent has started this process. advice is what the hint asks the user to do. It
// prevents mistakes, not attacks, because an agent can do everything that its user can.
func (f *workspaceFlags) refuseAgent(what, advice string) error {
	run := fusefs.OwnRun(f.agents)
	if run.Agent == "" {
		return nil
	}
	return cli.WithHint(
		fmt.Errorf("%s is reserved for the user, but an agent (%s, process %d) has started this command", what, run.Agent, run.PID),
		"ask the user to "+advice+". The setting 'agents' lists the programs that count as agents")
}

// ownSession returns this process's session on the mount. It asks the owner first, because the owner may be in another
// PID namespace.
func (f *workspaceFlags) ownSession(ctx context.Context, q *api.Client) string {
	if session, err := q.Session(ctx); err == nil && session != "" {
		return session
	}
	return fusefs.OwnRun(f.agents).Session
}
