// Package folderdoc reads and writes folder documents: the Yjs documents in which a Relay server lists the contents
// of shared folders.
//
// # The document
//
// Two root maps have paths with a leading slash as keys:
//
//	filemeta_v0   "/Projects/Plan.md" -> {id, version: 0, type, [mimetype, hash, synctime]}
//	docs          "/Projects/Plan.md" -> id; Markdown entries only
//
// The ID of a Markdown or canvas entry names its content document. The bytes of an attachment are found by
// their hash. The ID of a folder refers to no document.
//
// # Content documents
//
// The document of a note has its text, "contents", and the map "users", which attributes clients. Obsidian's plugin
// adds "frontmatter", a mirror of the properties. Mirror, Repair, Register, Reclaim and EnsureNonEmpty keep content
// documents in the form that clients expect.
//
// # The rules
//
// Clients delete users' files when these rules are broken, so every function here follows them. A Markdown entry is in
// both maps, written in one transaction. A Markdown entry that is not in docs counts as deleted; an entry that is only
// in docs comes from an older client. A rename is one transaction that writes the new keys and deletes the old ones;
// receivers match the two by ID. The second client to create a path adopts the existing ID. A key with an empty path
// element is never written, and is ignored when read. The caller must follow one more rule: it writes an entry only
// after its content was synchronized.
//
// All functions are safe for concurrent use. Each change by a Folder is one transaction. The errors of its methods are
// *fs.PathError with ErrPath, ErrNotEmpty or a sentinel of io/fs.
package folderdoc
