// Package folderdoc reads and writes folder documents: the Yjs documents in which a Relay
// server lists the contents of shared folders.
//
//	folder := folderdoc.Open(doc)
//	e, err := folder.Create(folderdoc.Entry{Path: "Projects/Plan.md", ID: id})
//	err = folder.Rename("Projects", "Archive/Projects", false)
//	for _, e := range folder.List() {
//		fmt.Println(e.Path, e.Type, e.ID)
//	}
//
// # The document
//
// Two maps at its root have paths with a leading slash as keys:
//
//	filemeta_v0   "/Projects/Plan.md" -> {id, version: 0, type, [mimetype, hash, synctime]}
//	docs          "/Projects/Plan.md" -> id, of Markdown only
//
// A third map, folder_config, may hold the folder's name. The id of a Markdown or canvas
// entry names its content document; an attachment's bytes are found by their hash; a
// folder's id names nothing.
//
// # Content documents
//
// The document of a note has its text, "contents", and the map "users" of who wrote what.
// Obsidian's plugin adds "frontmatter", a mirror of the properties. Mirror, Register and
// EnsureNonEmpty keep what clients expect of them.
//
// # The rules
//
// Clients delete people's files when these rules are broken, so every function here keeps
// them. A Markdown entry is in both maps, written in one transaction; one that is not in
// docs counts as deleted, and one in docs alone is from an older client. A rename is one
// transaction that writes the new keys and deletes the old ones; receivers pair them by
// id. The second client to create a path adopts the id that is there. A key with an empty
// element is never written, and skipped when read. An entry is written after its content
// has been synced, which is up to the caller.
//
// # Concurrency and errors
//
// All functions are safe for concurrent use; each change is one transaction. Errors are
// *fs.PathError with ErrPath, ErrNotEmpty or a sentinel of io/fs.
package folderdoc
