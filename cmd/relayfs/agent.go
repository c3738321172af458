package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/fusefs/program"
)

// noAgents as the setting says that no program is an agent.
const noAgentsSetting = "none"

// agentTable finds out which programs are agents, as the setting has it.
func (f *workspaceFlags) agentTable() *program.Table {
	if slices.Equal(f.agents, []string{noAgentsSetting}) {
		return &program.Table{Agents: []string{}}
	}
	return &program.Table{Agents: f.agents}
}

// refuseAgent refuses what people do if an agent has started this process. It is a rail and no wall: a program of the same user
// can do what its user can.
func (f *workspaceFlags) refuseAgent(what string) error {
	self := f.agentTable().Self()
	if self.Agent == "" {
		return nil
	}
	return cli.WithHint(
		fmt.Errorf("%s is for people, and an agent (%s, process %d) has started this command", what, self.Agent, self.Run.PID),
		"tell the person what waits: 'relayfs suggestions review' in a terminal of their own decides on it; 'relayfs outcomes' shows what was decided and why. The setting agents has the names of agents' programs")
}

// ownSession is the session that this process is in on the mount. Its owner says so, who may know processes by numbers of its
// own.
func (f *workspaceFlags) ownSession(ctx context.Context, q *api.Client) string {
	if session, err := q.Session(ctx); err == nil && session != "" {
		return session
	}
	return f.agentTable().Self().Session()
}
