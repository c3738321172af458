package note

import "github.com/relayfs/relayfs/bridge/model"

// Place is where a note is at one moment; a rename moves it.
type Place struct {
	Path     model.Path // in the workspace
	Peoples  model.Path // where people have it, whatever is proposed for it
	Rel      string     // in the source
	Offline  bool       // the source is away
	Shown    bool       // it has a path, and is not proposed to be deleted
	Attached bool       // it is in the tree
}

// Node is the name of a note in the tree.
type Node interface {
	// Place is where the note is now.
	Place() Place
}
