//go:build !windows

package fusefs

// inodeState is the state of a file: whether it is a note or a scratch file, and whether it has its name on the mount.
type inodeState uint8

const (
	stateScratch       inodeState = iota // a scratch file, which only this mount has
	stateLive                            // the inode at a note's name; the workspace has the note unless its ID is 0
	stateReplaced                        // another inode has taken the note's name; handles of this inode keep its text
	stateWriteFailed                     // like stateReplaced, because the text could not be saved
	stateUnlinked                        // a scratch file without a name
	stateUnlinkedStale                   // like stateUnlinked, but later opens must fail with ESTALE, for example because another inode has the name
)

type inodeEvent uint8

const (
	evAdopt         inodeEvent = iota // a rename made the file's content the content of a note
	evReplace                         // the note has another text
	evFailWrite                       // the content could not be saved
	evBecomeScratch                   // the file is no longer a note, but keeps a name
	evUnlink                          // the name is removed
	evUnlinkStale                     // the name is removed, and later opens of the inode must fail with ESTALE
)

// stateAfter has the next state, by event and present state.
var stateAfter = [...][6]inodeState{
	// The present states are in the order of their constants.
	evAdopt:         {stateLive, stateLive, stateLive, stateLive, stateLive, stateLive},
	evReplace:       {stateScratch, stateReplaced, stateReplaced, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evFailWrite:     {stateScratch, stateWriteFailed, stateWriteFailed, stateWriteFailed, stateUnlinked, stateUnlinkedStale},
	evBecomeScratch: {stateScratch, stateScratch, stateScratch, stateScratch, stateUnlinked, stateUnlinkedStale},
	evUnlink:        {stateUnlinked, stateUnlinked, stateUnlinked, stateUnlinkedStale, stateUnlinked, stateUnlinkedStale},
	evUnlinkStale:   {stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale, stateUnlinkedStale},
}

func (s inodeState) After(e inodeEvent) inodeState { return stateAfter[e][s] }

// IsNote reports whether the content is, or will be, the content of a document.
func (s inodeState) IsNote() bool { return stateLive <= s && s <= stateWriteFailed }

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
