//go:build !windows

package fusefs

// inodeState is what a file is to the names of the mount: a note or scratch, at its name or not.
type inodeState uint8

const (
	stateScratch          inodeState = iota // a file of this mount alone
	stateUnstored                           // a note that the workspace does not have yet
	stateLive                               // the inode at a note's name
	stateReplaced                           // a note's inode that goes on as it was opened; another has its name
	stateReplacedOnDemand                   // the same, because somebody asked for another text, which the name shows at once
	stateWriteFailed                        // the same, because what was written could not be saved
	stateUnlinked                           // scratch without a name
	stateUnlinkedStale                      // the same, but the kernel does not know that the name leads elsewhere
)

// inodeEvent is what happens to a file.
type inodeEvent uint8

const (
	evAdopt           inodeEvent = iota // its content has become a note's by a rename
	evStore                             // the workspace has the note
	evReplace                           // its note has another text
	evReplaceOnDemand                   // its note has another text that somebody asked for
	evRefuse                            // its content could not be saved
	evBecomeScratch                     // it is a note no more, and keeps a name
	evUnlink                            // its name goes
	evUnlinkStale                       // its name goes to another, without the kernel's doing
)

// stateAfter has the state that follows, by the event and the state before.
var stateAfter = [...][8]inodeState{
	// The states before are in the order of their constants.
	evAdopt:           {stateLive, stateLive, stateLive, stateLive, stateLive, stateLive, stateLive, stateLive},
	evStore:           {stateScratch, stateLive, stateLive, stateReplaced, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evReplace:         {stateScratch, stateUnstored, stateReplaced, stateReplaced, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evReplaceOnDemand: {stateScratch, stateUnstored, stateReplacedOnDemand, stateReplacedOnDemand, stateReplacedOnDemand, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evRefuse:          {stateScratch, stateUnstored, stateWriteFailed, stateWriteFailed, stateWriteFailed, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evBecomeScratch:   {stateScratch, stateScratch, stateScratch, stateScratch, stateScratch, stateScratch, stateUnlinked, stateUnlinkedStale},
	evUnlink:          {stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinkedStale, stateUnlinked, stateUnlinkedStale},
	evUnlinkStale:     {stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale},
}

// After returns the state that s becomes.
func (s inodeState) After(e inodeEvent) inodeState { return stateAfter[e][s] }

// IsNote says that the content is, or is to be, a document's.
func (s inodeState) IsNote() bool { return stateUnstored <= s && s <= stateWriteFailed }

// IsStored says that the workspace has the note.
func (s inodeState) IsStored() bool { return stateLive <= s && s <= stateWriteFailed }

// HasRetired says that another inode has the note's name.
func (s inodeState) HasRetired() bool { return stateReplaced <= s && s <= stateWriteFailed }

// IsStale says that who comes by the name is told to look it up again.
func (s inodeState) IsStale() bool { return s == stateWriteFailed || s == stateUnlinkedStale }

// Links is the number of the file's names.
func (s inodeState) Links() uint32 {
	if s >= stateUnlinked {
		return 0
	}
	return 1
}
