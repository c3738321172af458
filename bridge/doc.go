// Package bridge turns sources of documents (a vault folder, the shared
// folders of a server) into one tree of notes that programs read and write as
// plain text, while what they write becomes suggestions in the documents. The glossary
// of docs/architecture.md has its nouns, and the chapter on durability what survives a crash.
//
//	           programs: mount, MCP
//	               │ Write{Bases, Text}            ▲ Version
//	               ▼                               │
//	merge (what the writer changed, onto the view as it is now)
//	               ▼
//	diffwrap.Put (the view's change as marks in the raw text)
//	               ▼
//	ycrdt.Doc ──► Store.Append ──► Source.Replace ──► publish ──► Event
//	               ▲
//	reconcile (a person's save, diffed into the Doc as plain text)
//	               │
//	           Source.Run, Source.Read
//
// # Parts
//
// A Workspace is made of package namespace, which changes what is where, of review, which
// decides on what waits, and of index, which follows both; their exported methods are
// its own. The tree inside of namespace shows what is proposed for names as done, and
// package note keeps each note, its document and its file in step. Their documentation tells
// how, and which locks they take; docs/architecture.md has the order. All methods of a
// Workspace may be called from several goroutines. Readers of a loaded note never wait for
// a disk. Events are published after all locks are released.
//
// # Decisions
//
// Records name characters by their identities: those that a write adds and wraps
// (Record.Marks), those that a decision was about (Decision.Runs). The table of facts of a
// note is the fold of its records. Suggestions, the views and decisions follow it, so that what
// a person types inside of an agent's mark is the person's; Undo makes the characters of
// a decision pending again, in whatever order decisions are taken back.
package bridge
