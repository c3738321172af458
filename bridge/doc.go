// Package bridge turns sources of documents (a vault folder, the shared
// folders of a server) into one tree of notes that programs read and write as
// plain text, while what they write becomes suggestions in the documents.
//
// # Nouns
//
// A Workspace is everything one process serves. Its children are Folders, each
// backed by one Source. A note is a Markdown document; its stored text is the
// raw text, CriticMarkup marks included; what a reader is shown of it is the
// view. A Version is one published, immutable state of a note. A Write brings
// the new text of a view together with the versions its writer had been shown.
//
//	           programs: mount, MCP
//	               │ Write{Bases, Text}            ▲ Version
//	               ▼                               │
//	merge (what the writer changed, onto the view as it is now)
//	               ▼
//	diffwrap.Put (the view's change as marks in the raw text)
//	               ▼
//	Source.Replace ──► ycrdt.Doc ──► Store.Append ──► publish ──► Event
//	               ▲
//	reconcile (a person's save, diffed into the Doc as plain text)
//	               │
//	           Source.Run, Source.Read
//
// # model.Documents on demand
//
// A note that is only read is the text of its file and nothing more. Its
// ycrdt.Doc is made, or loaded from the Store, when it is first written; from
// then on every change of the file goes through the Doc, so that characters
// keep their identity and a stale writer's change finds its place.
//
// # Shared notes
//
// OpenShared opens a note as a live document for Yjs clients. What they change is
// a person's plain text: in the Store when it is acknowledged, at once for every
// reader, and in the source's file within half a second, because a file cannot
// be written for each key. A program's write brings the file up to date, too.
//
// # Decisions
//
// Records name characters by their identities: those that a write adds and wraps
// (Record.Marks), those that a decision was about (Decision.Runs). The ledger of a note
// is what its records tell. Suggestions, the views and decisions follow it, so that what
// a person types inside of an agent's mark is the person's; Undo makes the characters of
// a decision pending again, in whatever order decisions are taken back.
//
// # What survives a crash
//
// A record is in the Store's log before the source's file gets its text, and says what
// the file's stamp is before and after. If the file does not get it, the record is taken
// back. So the document is what the Store says, the file is a replica of it, and what a
// crash keeps from the file is put there by recover.go, at the start or when the note is
// next read. A stamp that is neither of a save is a person's. A change of a shared note
// is marked (Record.Ahead): its file follows a moment later.
//
// # Proposals
//
// Renames, deletions and whole files that wait for a person are Proposals. The
// tree shows them as done; overlay.go tells how, displace.go how they give way to
// what people do meanwhile, accept.go and restore.go what a crash leaves.
//
// # Concurrency and lock order
//
// All methods of a Workspace may be called from several goroutines. Readers of
// a loaded note take no lock. Locks, in the order in which they may be taken:
//
//	folder.names      one change of names at a time: the people's, proposals, decisions; held across disk
//	note.write        one writer at a time per note; held across disk, too
//	Workspace.treeMu  the tree of names; memory only
//	cache.mu, broadcaster.mu, those of the indexes
//
// A structure operation (rename, remove) takes the write locks of the notes it
// concerns before treeMu. Events are published after all of them are released; what is
// told under names (nameLock) waits for that.
package bridge
