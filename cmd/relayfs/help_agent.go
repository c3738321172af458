package main

import "github.com/spf13/cobra"

// agentText is for people to paste where their agents read it.
const agentText = `The notes in this folder are shared with people, who edit them at the same time.
Read and edit them as usual: each change of yours becomes a suggestion that a
person accepts or rejects, and you go on seeing it as if it were accepted.

- Do not write CriticMarkup ({++ ++}, {-- --}, {~~ ~~}) yourself.
- Change as little as the task needs: small suggestions are read, rewrites are not.
- Read a note again before you edit it after a while; people may have changed it.
- Renaming, moving and deleting notes are proposals too, and wait for a person.
- Comments of people stand as {>>text<<} beside the text that they are about. To
  answer one, add text or another comment; do not delete it.
`

// newAgentTopic is what 'relayfs help agent' prints.
func newAgentTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "agent",
		Short: "A text for agents, to paste into CLAUDE.md or AGENTS.md",
		Long:  agentText,
	}
}
