// Package bridge is the workspace: it joins sources of documents (a vault directory, the shared folders of a server)
// into one tree of notes. Programs read and write the notes as plain text; their writes become suggestions in the
// documents.
//
//	           programs: mount, MCP
//	               │ Write{Base, Text}             ▲ Version
//	               ▼                               │
//	merge (the writer's changes, carried onto the current view)
//	               ▼
//	diffwrap.Put (the view's change as marks in the raw text)
//	               ▼
//	ycrdt.Doc ──► Store.Append ──► Source.Replace ──► publish ──► Event
//	               ▲
//	reconcile (a user's save, merged into the Doc as plain text)
//	               │
//	           Source.Run, Source.Read
//
// # Parts
//
// A [Workspace] consists of these parts, and embeds all except the last:
//
//   - package namespace creates, renames and removes nodes, and holds the proposals about
//     names. Its tree shows the nodes as if pending proposals were accepted.
//   - package review decides on suggestions and proposals, undoes decisions, and keeps
//     the threads of comments.
//   - package index follows both, and lists suggestions, links, properties and tags.
//   - package history has the earlier texts of notes.
//
// Below them, package note keeps a note, its CRDT document and its file in sync. Package model defines the shared
// types, and the ports that bridge/vault, bridge/remote and bridge/store implement. [Workspace.Restrict] returns a
// workspace of some roots only; it filters paths, events, indexes and the journal.
//
// # Guarantees
//
// A write returns when its record is in the log and the file has the text. If another program saves first, the write is
// merged onto that save; no save is lost. If a text cannot be expressed as marks, the write is refused and nothing
// changes.
//
// Records name characters by their CRDT IDs: the characters that a write adds, deletes or wraps (Record.Marks), and the
// characters that a decision affects (Decision.Runs). The table of facts of a note is computed from its records, and
// suggestions, views and decisions from the table. So text that a user types inside an agent's mark stays the user's,
// and Undo makes the characters of a decision pending again, independently of the order in which decisions are undone.
//
// # Concurrency
//
// All methods of a Workspace are safe for concurrent use. Readers of a loaded note never wait for a disk. Events are
// published after the locks of notes and names are released. See docs/architecture.md for the glossary and the order of
// locks, and docs/durability.md for the guarantees after a crash.
package bridge
