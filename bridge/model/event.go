package model

// EventKind says what happened to a path.
type EventKind uint8

const (
	// EventChanged: the raw text of a note, or the bytes of another file, changed.
	EventChanged EventKind = iota
	// EventCreated: a note, file or folder is there that was not.
	EventCreated
	// EventRemoved: it is gone.
	EventRemoved
	// EventRenamed: OldPath is now Path, with everything below it.
	EventRenamed
	// EventOffline and EventOnline: a Folder's source went away or came back.
	EventOffline
	EventOnline
	// EventPending: what waits for a user there changed, and nothing of what
	// readers are shown.
	EventPending
)

var eventNames = [...]string{"changed", "created", "removed", "renamed", "offline", "online", "pending"}

func (k EventKind) String() string { return eventNames[k] }

// Event is one published change. By the time a subscriber sees it, every
// reader of the workspace gets the new state.
type Event struct {
	Kind    EventKind
	Path    Path
	OldPath Path // EventRenamed only
	Dir     bool
	Link    bool // a symbolic link: EventChanged and EventCreated
	// Version is the note's new state for EventChanged and EventCreated, where
	// the text is at hand; nil when the note has not been read yet.
	Version *Version
	// ViewChanged says whether the bytes a reader is shown differ from before.
	ViewChanged bool
	// Origin is who made the change: the Origin of the Write or structure
	// operation, nil for a change that came from the source (a user).
	Origin any
	// By is the author whose change it is; nobody for a user's, also for a decision.
	By Author
	// Asked is set for a change of a note's text that somebody asked the workspace for: a
	// write or a decision. A change that came from the source, or from a client that has
	// the note open, comes at any time.
	Asked bool
}
