package model

type EventKind uint8

const (
	// EventChanged means that a note's raw text or recorded marks, or the bytes of another file, changed.
	EventChanged EventKind = iota
	EventCreated
	EventRemoved
	// EventRenamed means that OldPath is now Path, with everything below it.
	EventRenamed
	// EventOffline and EventOnline mean that a root's source was lost or came back.
	EventOffline
	EventOnline
	// EventPending means that pending changes at the path changed, but not the content that readers see.
	EventPending
)

var eventNames = [...]string{"changed", "created", "removed", "renamed", "offline", "online", "pending"}

func (k EventKind) String() string { return eventNames[k] }

// Event is one published change. When subscribers receive it, all readers of the workspace already see the new state.
type Event struct {
	Kind    EventKind
	Path    Path
	OldPath Path // only for EventRenamed
	Dir     bool
	Link    bool // the path is a symbolic link; only for EventChanged and EventCreated
	// Version is the note's new state for EventChanged and EventCreated. It is nil if the note is not in memory.
	Version *Version
	// ViewChanged reports whether the bytes that readers see have changed.
	ViewChanged bool
	// Origin is the Origin of the write or change request. It is nil for a change that came from the source.
	Origin any
	// By is the author of the change. It is empty for a user's change, and for a decision.
	By Author
	// Asked is set for a change of a note's text that was requested from the workspace: a write or a decision.
	Asked bool
}
