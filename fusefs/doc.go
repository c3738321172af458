// Package fusefs mounts a workspace as a directory of Folder/Name.md files.
//
//	s, err := fusefs.Mount(ctx, ws, "/home/ann/notes", fusefs.Options{Author: "claude"})
//	...
//	err = s.Unmount() // commits what is written and not yet closed
//
// # Nouns
//
// A Server is one mount. Its root is the workspace, the root's children are the roots. A Dir is a folder of the
// workspace. An Attachment is a file in it that is not a note; in suggest mode programs write a draft of it. A Link is
// a symbolic link. A File is a note or a scratch file (an editor's swap, backup or temporary file), which lives in
// memory and never leaves the mount. A File can change from one to the other: a program that saves by writing a
// temporary file and renaming it over Name.md has, as POSIX requires, its own inode at that name afterwards, and that
// inode is the note from then on. A document belongs to a name, not to an inode.
//
// # Files
//
//	server, mountpoint, options         mounting and unmounting
//	tree, node_table, inode_numbers     all inodes, their paths and numbers
//	file, inode_state, refresh, commit  a note or scratch file, its state, the text it shows, how it is saved
//	shown_log, recent                   the text that each process was shown; the files whose sizes were requested last
//	lookup, attributes, dirs, links,    system calls by family
//	open_create, read_write,
//	rename_unlink, save_by_rename
//	deferred_unlink, scratch,
//	scratch_names,
//	attachment, draft                   notes in their grace period after an unlink; files that are not notes
//	events, notify, watch_notifier      changes made elsewhere, and notifications of them
//	handleless                          a read-only mount
//	evict                               eviction from an idle mount
//	system, diagnose                    system-dependent code
//
// # Writing
//
// All handles of a File share one buffer, which the first write creates. It is committed to the
// workspace, as the difference from the text that the writing process was shown, when a handle that
// wrote is closed (FLUSH) or synced, when the file is renamed over a note, and, for late writes of
// mapped pages, after a second without writes. Truncation alone publishes nothing for a while,
// because "empty this note" and "rewrite it in a moment" look alike. While a handle that wrote is
// open the file shows only the buffer. The commit merges concurrent changes by others, which are
// shown after the handle is closed.
//
// # Caches
//
// The kernel caches attributes, names, listings and pages for an hour, and is notified of each change that it did not
// make itself (notify.go). It has one size and one set of pages per inode, for all processes. So an inode of a note
// shows one text, in its answers to GETATTR and READ, until a program writes through it. A change made elsewhere is
// shown as a new inode with the same number at the name (refresh.go), and open descriptors keep the text that they
// opened. For a moment after a save the name keeps the saved text. A note without open handles keeps no text. The
// kernel gets the text with the answer to the first OPEN of a note (storePages). An idle mount makes the kernel forget all
// notes except the latest (evict.go).
//
// # States of a file
//
// A File is in one of the states of inode_state.go, whose table has the transitions. If the write of a file has failed,
// or if it is unlinked but the kernel still knows its name, an open by that name fails with ESTALE, so that the kernel
// repeats the lookup. The text of a File is in one of these states of internal/content:
//
//	Unloaded     at the first request:        Loaded
//	Evicted      at the next request:         Loaded; the inode is replaced if the text has changed
//	Loaded       when no longer needed:       Evicted; at a write: Buffered
//	Buffered     when saved and closed:       Loaded; if that fails: WriteFailed
//	WriteFailed  at a write, from its base:   Buffered; when the note has that text: Loaded
//
// Independent of both are location.gone (the workspace has no node at the path any more),
// fileState.pagesStored (the kernel has pages), fileState.nameHold (the name keeps its inode for a moment),
// File.adopted (a rename is in progress) and fileState.alias (programs that have the file open
// continue with an attachment).
//
// # Concurrency and lock order
//
//	common.commitMu  one commit or change of name of a File or Attachment at a time; held across the workspace
//	tree.folders     no commit while a folder changes its path; held across the workspace
//	File.update      content of one file; memory only, as Attachment.mu, and draft.mu within it
//	nodeTable.update the nodes by their paths; memory only
//	the locks of location, attributes and entries, and those of notifications, shownLog, recentFiles and the packages in internal
//
// A separate process wakes programs that watch the mount (watch_notifier_linux.go). A kill -9 during a
// notification may leave the process, and programs that use the mount, waiting in the kernel.
// Unmount, and Check before the next mount, abort the connection (system_linux.go).
//
// No other lock is held across a call to the workspace, and none across a
// notification to the kernel that may wait: those come only from the goroutine of
// notifications.run, for which no handler ever waits. The workspace's events arrive in
// tree.changed, which only changes memory and queues.
//
// # Errors
//
// One table maps every error to an errno (errno.go). If the errno cannot express the reason, the
// log has it.
package fusefs
