package model

type EventKind uint8

const (
	// EventChanged: the raw text of a note, or the bytes of another file, changed.
	EventChanged EventKind = iota
	EventCreated
	EventRemoved
	// EventRenamed: OldPath is now Path, with everything below it.
	EventRenamed
	// EventOffline and EventOnline: a root's source was lost or came back.
	EventOffline
	EventOnline
	// EventPending: pending changes there changed, but nothing that readers see.
	EventPending
)

var eventNames = [...]string{"changed", "created", "removed", "renamed", "offline", "online", "pending"}

func (k EventKind) String() string { return eventNames[k] }

// Event is one published change. When subscribers get it, every reader of the workspace sees the new state.
type Event struct {
	Kind    EventKind
	Path    Path
	OldPath Path // EventRenamed only
	Dir     bool
	Link    bool // a symbolic link: EventChanged and EventCreated
	// Version is the note's new state for EventChanged and EventCreated, nil if the note has not been read yet.
	Version *Version
	// ViewChanged reports whether the bytes that readers see differ from before.
	ViewChanged bool
	// Origin is that of the Write or structure operation, nil for a change that came from the source.
	Origin any
	// By is the author of the change; empty for a user's change, including a decision.
	By Author
	// Asked is set for a change of a note's text that was requested from the workspace: a write or a decision.
	Asked bool
}
