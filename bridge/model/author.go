package model

// Author is who makes a change. Session tells one sitting of an author from
// the next; all may be empty.
type Author struct {
	Name, Session string
	// Reason is why a person decides on a suggestion as they do, in their words:
	// the journal keeps it, and whose suggestion it was is told.
	Reason string
}

// Is says whether two are one sitting of one author.
func (a Author) Is(b Author) bool { return a.Name == b.Name && a.Session == b.Session }
