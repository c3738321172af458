//go:build !windows

package fusefs

// inodeState is the state of a file in relation to the names of the mount: a note or scratch, with
// or without its name.
type inodeState uint8

const (
	stateScratch          inodeState = iota // a file of this mount alone
	stateUnstored                           // a note that the workspace does not have yet
	stateLive                               // the inode at a note's name
	stateReplaced                           // a replaced inode of a note: its handles keep their text, and another inode has the name
	stateReplacedOnDemand                   // the same, after a requested change, which the name shows at once
	stateWriteFailed                        // the same, because the text could not be saved
	stateUnlinked                           // scratch without a name
	stateUnlinkedStale                      // the same, but the kernel does not know that the name leads elsewhere
)

type inodeEvent uint8

const (
	evAdopt           inodeEvent = iota // a rename made its content a note's
	evStore                             // the workspace has the note
	evReplace                           // its note has another text
	evReplaceOnDemand                   // its note has another text that a caller has requested
	evFailWrite                         // its content could not be saved
	evBecomeScratch                     // it is no longer a note, but keeps a name
	evUnlink                            // its name is removed
	evUnlinkStale                       // another inode gets its name, and the kernel does not know that
)

// stateAfter has the next state by the event and the present state.
var stateAfter = [...][8]inodeState{
	// The present states are in the order of their constants.
	evAdopt:           {stateLive, stateLive, stateLive, stateLive, stateLive, stateLive, stateLive, stateLive},
	evStore:           {stateScratch, stateLive, stateLive, stateReplaced, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evReplace:         {stateScratch, stateUnstored, stateReplaced, stateReplaced, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evReplaceOnDemand: {stateScratch, stateUnstored, stateReplacedOnDemand, stateReplacedOnDemand, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evFailWrite:       {stateScratch, stateUnstored, stateWriteFailed, stateWriteFailed, stateWriteFailed, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evBecomeScratch:   {stateScratch, stateScratch, stateScratch, stateScratch, stateScratch, stateScratch, stateUnlinked, stateUnlinkedStale},
	evUnlink:          {stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinkedStale, stateUnlinked, stateUnlinkedStale},
	evUnlinkStale:     {stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale},
}

func (s inodeState) After(e inodeEvent) inodeState { return stateAfter[e][s] }

// IsNote reports whether the content is, or will be, that of a document.
func (s inodeState) IsNote() bool { return stateUnstored <= s && s <= stateWriteFailed }

// IsStored reports whether the workspace has the note.
func (s inodeState) IsStored() bool { return stateLive <= s && s <= stateWriteFailed }

// IsReplaced reports whether another inode has taken the note's name.
func (s inodeState) IsReplaced() bool { return stateReplaced <= s && s <= stateWriteFailed }

// IsStale reports whether an open must fail with ESTALE, so that the kernel repeats the
// lookup.
func (s inodeState) IsStale() bool { return s == stateWriteFailed || s == stateUnlinkedStale }

func (s inodeState) Links() uint32 {
	if s >= stateUnlinked {
		return 0
	}
	return 1
}
