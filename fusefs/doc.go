// Package fusefs mounts a workspace as a directory of Folder/Name.md files.
//
//	s, err := fusefs.Mount(ctx, ws, "/home/ann/notes", fusefs.Options{Author: "claude"})
//	...
//	err = s.Unmount() // commits the written data of open files
//
// # Nouns
//
// A Server is one mount. The root inode of a mount is the workspace, and its children are the roots of the workspace. A
// Dir is a folder of the workspace. An Attachment is a file of the workspace that is not a note. In suggest mode,
// changes wait for a user: programs write a draft of the attachment, and the draft becomes a proposal. A Link is a
// symbolic link. A File is a note or a scratch file. A scratch file (an editor's swap, backup or temporary file) lives
// in memory and never leaves the mount. A File can change from one to the other: after a program has saved by writing a
// temporary file and renaming it over Name.md, the name has the inode of the temporary file, as POSIX requires, and
// that inode is the note from then on. A document belongs to a name, not to an inode.
//
// # Files
//
//	server, mountpoint, options         mounting and unmounting
//	tree, node_table, inode_numbers     all inodes, their paths and numbers
//	file, inode_state, refresh, commit  a note or scratch file, its state, the text it shows, how it is saved
//	shown_log, recent                   the text that each process was shown; the files whose sizes were requested last
//	sharing                             several sessions in one note
//	lookup, attributes, dirs, links,    system calls by family
//	open_create, read_write,
//	rename_unlink, save_by_rename
//	deferred_unlink, scratch,           notes in their grace period after an unlink; scratch files
//	scratch_names
//	attachment, draft                   files that are not notes
//	events, notify, watch_notifier,     changes made elsewhere, and notifications of them; inodes that lost their name
//	former
//	handleless                          folders, and the files of a read-only mount, have no handles
//	evict                               eviction from an idle mount
//	workspace, killable_context         calls to the workspace that end when the calling program dies
//	errno                               errors as errnos
//	system, diagnose                    system-dependent code
//
// # Writing
//
// All handles of a File share one buffer, which the first write creates. They belong to one run, because an inode that
// one run writes is not shared with another (sharing.go). The buffer is committed to the workspace as the difference
// from the text that the writing process was shown. That happens when a handle that wrote is closed
// (FLUSH) or synced, before the file is renamed or unlinked, when it is renamed over a note, and after a second without
// writes, because the kernel may write mapped pages late. A truncation alone, or the beginning of a text, publishes
// nothing for a while, because "empty this note" and "rewrite it in a moment" look alike. While a handle that wrote is
// open, other than for appending, the file shows only the buffer. The commit merges concurrent changes by others; the
// file shows them after the handle is closed.
//
// # Caches
//
// On Linux, the kernel caches attributes, names, listings and pages for a long time (system_linux.go). It is notified
// of each change that it did not make itself (notify.go). It has one size and one set of pages for each inode, for all
// processes. So an inode of a note shows one text, in its answers to GETATTR and READ, until a program writes through
// it. A change made elsewhere is shown as a new inode with the same number at the name (refresh.go), and open
// descriptors keep the text that they opened. For a moment after a save the name keeps the saved text. A note without
// open handles usually keeps no text. The kernel gets the text of a small note with the answer to the first OPEN
// (storePages). An idle mount makes the kernel forget all notes except the latest (evict.go).
//
// # States of a file
//
// A File is in one of the states of inode_state.go, whose table has the transitions. If the text of a file could not
// be saved, or if the file is unlinked but the kernel still caches its name, an open by that name fails with ESTALE, so
// that the kernel repeats the lookup. The text of a File is in one of these states of internal/content:
//
//	Unloaded     at the first request:        Loaded
//	Evicted      at the next request:         Loaded; the inode is replaced if the text has changed
//	Loaded       when no longer needed:       Evicted; at a write: Buffered
//	Buffered     when saved and closed:       Loaded; if the save fails: WriteFailed
//	WriteFailed  at a write, from its base:   Buffered; when the note has that text: Loaded
//
// Independent of both are location.gone (the workspace has no node at the path any more),
// fileState.pagesStored (the kernel has pages), fileState.nameHold (the name keeps its inode for a moment), and
// fileState.alias (programs that have the file open continue with an attachment).
//
// # Concurrency and lock order
//
//	common.commitMu  admits one commit or change of name of a File or Attachment at a time; held during workspace calls
//	tree.folders     no commit while a folder changes its path; held during workspace calls
//	File.update      content of one file; memory only; likewise Attachment.mu, and draft.mu inside it
//	formerInodes.mu  the inodes that had the name of a note; memory only
//	listing.mu       the listing of a folder; held while the workspace lists the folder, which is memory only
//	nodeTable.update the nodes by their paths; memory only
//	leaves           the locks of location, attributes, entries, notifications, shownLog, recentFiles, watchNotifier, and
//	                 the locks of package program
//
// Only the first two are held during other calls to the workspace. No lock is held during a notification to the kernel that
// may wait. Only notifications.run and the goroutines that it starts send these notifications, and no handler waits for
// them. The workspace's events arrive in tree.changed, which only changes memory and queues.
//
// # Programs that watch the mount
//
// A separate process wakes programs that watch the mount (watch_notifier_linux.go). If relayfs is killed during a
// notification, its process and programs that use the mount may wait in the kernel forever. Unmount, and Check before
// the next mount, abort the connection (system_linux.go).
//
// # Errors
//
// One table maps every error to an errno (errno.go). If the errno cannot express the reason, the log has the reason.
package fusefs
