package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/fusefs/program"
)

// agentTable returns the table of the programs that count as agents, from the setting agents. With the value "none", no
// program is an agent.
func (f *workspaceFlags) agentTable() *program.Table {
	if slices.Equal(f.agents, []string{"none"}) {
		return &program.Table{Agents: []string{}}
	}
	return &program.Table{Agents: f.agents}
}

// inAgent reports whether an agent has started this process. If so, the process shows only files that agents may reach.
func (f *workspaceFlags) inAgent() bool { return f.agentTable().Self().Agent != "" }

const runReview = "run 'relayfs suggestions review' in a terminal; 'relayfs outcomes' shows decisions and reasons"

// refuseAgent returns an error if an agent has started this process. advice is what the hint asks the user to do. It
// prevents mistakes, not attacks, because an agent can do everything that its user can.
func (f *workspaceFlags) refuseAgent(what, advice string) error {
	self := f.agentTable().Self()
	if self.Agent == "" {
		return nil
	}
	return cli.WithHint(
		fmt.Errorf("%s is reserved for the user, but an agent (%s, process %d) has started this command", what, self.Agent, self.Run.PID),
		"ask the user to "+advice+". The setting 'agents' lists the programs that count as agents")
}

// ownSession returns this process's session on the mount. It asks the owner first, because the owner may be in another
// PID namespace.
func (f *workspaceFlags) ownSession(ctx context.Context, q *api.Client) string {
	if session, err := q.Session(ctx); err == nil && session != "" {
		return session
	}
	return f.agentTable().Self().Session()
}
