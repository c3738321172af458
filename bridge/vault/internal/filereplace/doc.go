// Package filereplace replaces the content of a note while other programs, which take no locks,
// may be saving the same note.
//
//	s, err := swapper.Stage("Plan.md", replacement)
//	...
//	defer s.Close()
//	stamp, err := s.Commit() // model.ErrConflict: another program saved first
//
// No system call replaces a file only if it is unchanged. So a swap acts first and looks
// then:
//
//  1. Stage: a temp file gets the new content, in the swap folder or next to the note
//     (temp.go).
//  2. Hold: a lease on the old file lets programs that open it for writing wait, some
//     microseconds. It is granted once no program has the file open for writing, so no save
//     in place is under way during the steps 3 to 5.
//  3. Check: the note still is the expected file, or model.ErrConflict.
//  4. Exchange: the new file gets the name, and the old one the temp name, in one step.
//     Whatever was saved between 3 and 4 is under the temp name now.
//  5. Verify: if what was displaced is not the expected file, somebody saved in between. It
//     is exchanged back, and the result is model.ErrConflict. A program that reads the
//     note in that moment sees a text that nobody keeps; one that saves has reached our
//     file, which is watched as in 7.
//  6. Settle: the file and its folder are synced, and then the pre-image is removed
//     (settle.go). Commit has returned before. A power cut leaves the old note or the new
//     one, once the next process has swept the vault (sweep.go).
//  7. A program that had the old file open may write to it still, though it has no name any
//     more. The file is handed to Options.Late (late.go).
//
// After a power cut, every file that has had the note's name still has a name: that of the note, or the temp
// name. So a save that a program has synced to such a file is in the note, or in the trash once the next process
// has swept the vault. Where names come to the disk in the order of the calls, the program's own fsync sees to that.
// Elsewhere (disk.Dir.OrdersNames) fsync makes no name durable, so the new file and its temp name
// are synced before step 4.
//
// A disk without exchange (NFS, some FUSE) gets a plain rename at step 4. There a save by
// rename between 3 and 4, some microseconds, is lost; a save in place still is found by
// step 7.
//
// The package also has what else makes or moves files: NewFile for new ones, RenameNew and
// MoveAside for names that must be free.
package filereplace
