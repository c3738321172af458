package model

import "github.com/relayfs/relayfs/diffwrap"

// Suggestion is one pending change of a note, and who made it.
type Suggestion struct {
	diffwrap.Suggestion
	ID      string // the same until its author changes it, also when it was decided and is pending again; nobody else's ever
	Path    Path
	Session string
	// Proposal is the ID of the pending rename that the suggestion belongs to: it
	// rewrites a link.
	Proposal string

	Anchor string // of one that no record tells of: which of those with the same text it is
}
