package note

import "github.com/relayfs/relayfs/bridge/model"

// Place is where a note is at one moment; a rename moves it.
type Place struct {
	Path    model.Path // in the workspace
	Rel     string     // in the source
	Offline bool       // the source is away
}

// Node is the name of a note in the tree.
type Node interface {
	// Place is where the note is now.
	Place() Place
	// PeoplesPath is where people have it, whatever is proposed for it.
	PeoplesPath() model.Path
	// Shown says whether it has a path, and is not proposed to be deleted.
	Shown() bool
	// Attached says whether it is in the tree.
	Attached() bool
}
