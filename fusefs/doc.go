// Package fusefs mounts a workspace as a directory of Folder/Name.md files.
//
// # Nouns
//
// A Server is one mount. Its root is the workspace, the root's children are the
// Folders. A Dir is a folder of the workspace, an Attachment is a file in it
// that is not a note, and a File is a regular file of its own: a note, or a
// scratch file (an editor's swap, backup or temporary file), which lives in
// memory and never leaves the mount. A File can change from the one to the
// other: a program that saves by writing a temporary file and renaming it over
// Name.md has, as POSIX wants it, its own inode at that name afterwards, and
// that inode is the note from then on. A document belongs to a name, not to an
// inode.
//
//	s, err := fusefs.Mount(ctx, ws, "/home/ann/notes", fusefs.Options{Author: "claude"})
//	...
//	err = s.Unmount() // keeps what is written and not yet closed
//
// # Writing
//
// All handles of a File share one buffer, made when the first of them writes.
// It is committed to the workspace, as the difference to what the writing
// process was shown, when a handle that wrote is closed (FLUSH) or synced, when
// it is renamed over a note (a scratch file, or a note that is fresh, see
// fresh.go), and after a second of quiet for what a mapped page brings late.
// Truncation alone publishes nothing for a while, because "empty this note" and
// "about to write it anew" look alike. While a handle that wrote is open the
// file shows the buffer and nothing else; what others changed meanwhile is
// merged by the commit and shown when the handle is gone.
//
// # Caches
//
// The kernel caches attributes, names, listings and pages for an hour, and is
// told about each change that it did not make itself (internal/invalidate). It has one
// size for an inode, whoever has that open, and one set of pages. So an inode of a note
// shows one text, in what it answers to GETATTR and to READ, until somebody writes through
// it: a change made elsewhere is a new inode of the same number at the name (retire.go),
// and a descriptor goes on with what was opened. For a moment after a save the name stays
// with what was saved. A note that nobody has open keeps no text (show.go); with the answer
// to its first OPEN the kernel gets the text (Handle.push).
//
// # What becomes of a file
//
// A File is to the names of the mount what internal/life says, one of:
//
//	            workspace   other    other text  save       is no note  name  name goes
//	            has it      text     on demand   refused    any more    goes  to another
//	scratch     -           -        -           -          -           unl.  superseded
//	unborn      live        -        -           -          scratch     unl.  superseded
//	live        -           retired  yielded     refused    scratch     unl.  superseded
//	retired     -           -        yielded     refused    scratch     unl.  superseded
//	yielded     -           -        -           refused    scratch     unl.  superseded
//	refused     -           -        -           -          scratch     superseded
//	unlinked    -           -        -           -          -           -     superseded
//	superseded  -           -        -           -          -           -     -
//
// A save by rename makes any of them live. Who comes by the name of a refused or a
// superseded one is told to look it up again. Its text is, by internal/content,
//
//	unread   until the workspace is asked:      shown
//	asleep   when it is asked for again:        shown; the file retires if it is another
//	shown    when nobody needs it:              asleep; when somebody writes: written
//	written  when it is saved and closed:       shown; when that fails: refused
//	refused  when somebody writes, from its base: written; when the note has that text: shown
//
// Independent of both, and so on their own: place.gone (the workspace has nothing at the
// path any more; another lock protects it), File.pushed (the kernel has pages), File.hold
// (the name waits a moment), File.adopted (a rename is under way), File.exported (who has it
// open goes on with an attachment).
//
// # Concurrency and lock order
//
//	File.commitMu  one commit or change of name of a file at a time; held across the workspace
//	tree.folders   no commit while a folder changes its path; held across the workspace
//	File.mu        content and attributes of one file; memory only
//	names.mu       names and identities; memory only
//	the private locks of the packages in internal
//
// Programs that watch the mount are woken by a process of its own (poke_linux.go).
// Notifications have a thread, and the mount a guard process, that keep a kill -9
// from wedging it (notifier_linux.go, guard_linux.go).
//
// No other lock is held across a call to the workspace, and none across a
// notification to the kernel that may wait: those come only from the invalidator's
// goroutine, for which no handler ever waits. The workspace's events are taken over by
// tree.changed, which only changes memory and queues.
//
// # Errors
//
// Every error becomes an errno in one table (internal/errno); where the errno cannot
// say why, the log does.
package fusefs
