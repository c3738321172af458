// Package life says what a file is to the names of the mount: a note or scratch, at its
// name or not.
package life

// State is what a file is now.
type State uint8

const (
	Scratch    State = iota // a file of this mount alone
	Unborn                  // a note that the workspace does not have yet
	Live                    // the inode at a note's name
	Retired                 // a note's inode that goes on as it was opened; another has its name
	Yielded                 // the same, because somebody asked for another text, which the name shows at once
	Refused                 // the same, because what was written could not be saved
	Unlinked                // scratch without a name
	Superseded              // the same, but the kernel does not know that the name leads elsewhere
)

// Event is what happens to a file.
type Event uint8

const (
	Adopt     Event = iota // its content has become a note's by a rename
	Store                  // the workspace has the note
	Retire                 // its note has another text
	Yield                  // its note has another text that somebody asked for
	Refuse                 // its content could not be saved
	Detach                 // it is a note no more, and keeps a name
	Unlink                 // its name goes
	Supersede              // its name goes to another, without the kernel's doing
)

// after has the state that follows, by the event and the state before.
var after = [...][8]State{
	//         Scratch, Unborn, Live, Retired, Yielded, Refused, Unlinked, Superseded
	Adopt:     {Live, Live, Live, Live, Live, Live, Live, Live},
	Store:     {Scratch, Live, Live, Retired, Yielded, Refused, Unlinked, Superseded},
	Retire:    {Scratch, Unborn, Retired, Retired, Yielded, Refused, Unlinked, Superseded},
	Yield:     {Scratch, Unborn, Yielded, Yielded, Yielded, Refused, Unlinked, Superseded},
	Refuse:    {Scratch, Unborn, Refused, Refused, Refused, Refused, Unlinked, Superseded},
	Detach:    {Scratch, Scratch, Scratch, Scratch, Scratch, Scratch, Unlinked, Superseded},
	Unlink:    {Unlinked, Unlinked, Unlinked, Unlinked, Unlinked, Superseded, Unlinked, Superseded},
	Supersede: {Superseded, Superseded, Superseded, Superseded, Superseded, Superseded, Superseded, Superseded},
}

// After returns the state that s becomes.
func (s State) After(e Event) State { return after[e][s] }

// IsNote says that the content is, or is to be, a document's.
func (s State) IsNote() bool { return Unborn <= s && s <= Refused }

// IsStored says that the workspace has the note.
func (s State) IsStored() bool { return Live <= s && s <= Refused }

// HasRetired says that another inode has the note's name.
func (s State) HasRetired() bool { return Retired <= s && s <= Refused }

// IsStale says that who comes by the name is told to look it up again.
func (s State) IsStale() bool { return s == Refused || s == Superseded }

// Links is the number of the file's names.
func (s State) Links() uint32 {
	if s >= Unlinked {
		return 0
	}
	return 1
}
