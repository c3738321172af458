// Package fusefs mounts a workspace as a directory of Folder/Name.md files.
//
//	s, err := fusefs.Mount(ctx, ws, "/home/ann/notes", fusefs.Options{Author: "claude"})
//	...
//	err = s.Unmount() // commits what is written and not yet closed
//
// # Nouns
//
// A Server is one mount. Its root is the workspace, the root's children are the
// Folders. A Dir is a folder of the workspace, an Attachment is a file in it
// that is not a note, whose draft programs write in suggest mode, and a Link is a symbolic link. A File is a note or a
// scratch file (an editor's swap, backup or temporary file), which lives in
// memory and never leaves the mount. A File can change from one to the
// other: a program that saves by writing a temporary file and renaming it over
// Name.md has, as POSIX requires, its own inode at that name afterwards, and
// that inode is the note from then on. A document belongs to a name, not to an
// inode.
//
// # Files
//
//	server, mountpoint, options         mounting and unmounting
//	tree, names, inode_numbers          all inodes, their paths and numbers
//	file, inode_state, shown, commit    a note or scratch file, its state, the text it shows, how it is saved
//	shown_log, recent                   what each process was shown; whose size was asked for last
//	lookup, attributes, dirs, links,    system calls by family
//	open_create, read_write,
//	rename_unlink, save_by_rename
//	park, scratch, scratch_names,
//	attachment, draft                   notes whose name is missing; what is no note
//	events, notify, poke                what changes elsewhere, and who is told
//	handleless                          a read-only mount
//	evict                               what an idle mount forgets
//	system, diagnose                    what depends on the operating system
//
// # Writing
//
// All handles of a File share one buffer, which the first write makes.
// It is committed to the workspace, as the difference to what the writing
// process was shown, when a handle that wrote is closed (FLUSH) or synced, when
// the file is renamed over a note, and after a second of quiet for what a mapped page
// brings late. Truncation alone publishes nothing for a while, because "empty this note"
// and "about to write it anew" look alike. While a handle that wrote is open the
// file shows the buffer and nothing else; what others change meanwhile is
// merged by the commit and shown when the handle is gone.
//
// # Caches
//
// The kernel caches attributes, names, listings and pages for an hour, and is
// told about each change that it did not make itself (notify.go). It has one
// size for an inode, whoever has that open, and one set of pages. So an inode of a note
// shows one text, in its answers to GETATTR and READ, until somebody writes through
// it. A change made elsewhere is a new inode of the same number at the name (shown.go),
// and a descriptor goes on with what was opened. For a moment after a save the name stays
// with what was saved. A note that nobody has open keeps no text. With the answer
// to its first OPEN the kernel gets the text (push). A mount that nobody uses has the kernel forget
// all notes but the latest (evict.go).
//
// # What becomes of a file
//
// A File is to the names of the mount in one of the states of inode_state.go, whose table says
// which follows which. An open of the name of one whose write failed, or that is unlinked but
// still known to the kernel, fails with ESTALE, so that the kernel repeats the lookup. By internal/content, its text is
//
//	unread   until the workspace is asked:      shown
//	asleep   when it is asked for again:        shown; the file retires if it is another
//	shown    when nobody needs it:              asleep; when somebody writes: written
//	written  when it is saved and closed:       shown; when that fails: refused
//	refused  when somebody writes, from its base: written; when the note has that text: shown
//
// These are independent of both: place.gone (the workspace has nothing at the path any
// more), fileState.pushed (the kernel has pages), fileState.hold (the name waits a moment),
// File.adopted (a rename is under way), fileState.exported (programs that have the file open
// go on with an attachment).
//
// # Concurrency and lock order
//
//	common.commitMu  one commit or change of name of a File or Attachment at a time; held across the workspace
//	tree.folders     no commit while a folder changes its path; held across the workspace
//	File.update      content of one file; memory only, as Attachment.mu, and draft.mu within it
//	names.update     the nodes by their paths; memory only
//	the locks of place, attributes and entries, and those of notifications, shownLog, recentFiles and the packages in internal
//
// Programs that watch the mount are woken by a process of its own (poke_linux.go).
// A kill -9 during a notification may leave the process, and programs that use the mount, waiting in
// the kernel. Unmount and the Check of the next mount abort the connection (system_linux.go).
//
// No other lock is held across a call to the workspace, and none across a
// notification to the kernel that may wait: those come only from the goroutine of
// notifications.run, for which no handler ever waits. The workspace's events arrive in
// tree.changed, which only changes memory and queues.
//
// # Errors
//
// Every error becomes an errno in one table (errno.go). Where the errno cannot
// say why, the log does.
package fusefs
