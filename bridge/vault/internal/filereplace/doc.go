// Package filereplace replaces the content of a note while other programs, which take no locks, may be saving the same note.
//
// No system call replaces a file on condition that it is unchanged. So a swap checks the note before and after the exchange:
//
//  1. Stage: a temp file gets the new content, in the swap folder or next to the note (temp.go).
//  2. Hold: a lease on the old file makes programs that open it for writing wait for some microseconds. The kernel grants it when
//     no program has the file open for writing. So no save in place is under way during steps 3 to 5. If the kernel grants no lease
//     within 100 ms, the swap goes on without it, and step 7 finds a save in place.
//  3. Check: the note still is the expected file, or model.ErrConflict.
//  4. Exchange: new file and old file swap their names in one step. A file that a save put there between 3 and 4 has the temp name now.
//  5. Verify: if the displaced file is not the expected one, another program saved in between. The names are exchanged back, and
//     the result is model.ErrConflict. A program that reads the note in that moment sees a text that is not kept. A save
//     in that moment goes to our file, which is watched as in 7.
//  6. Sync: the file and its folder are synced, and then the pre-image is removed (settle.go). Commit does not wait for that. A
//     power cut leaves the old note or the new one, once the next process has swept the vault (sweep.go).
//  7. A program that had the old file open may still write to it. The file is passed to Options.Late (late.go).
//
// After a power cut, every file that had the note's name still has a name: that of the note, or the temp name. So a save
// that a program has synced to such a file is in the note, or in the trash once the next process has swept the vault. Where
// the disk orders names (disk.Dir.OrdersNames), the program's own fsync also makes these names durable. Elsewhere it does not,
// so the new file and its temp name are synced before step 4.
//
// On a disk without exchange (NFS, some FUSE), step 4 is a plain rename. There a save by rename between 3 and 4, some
// microseconds, is lost; a save in place is still found by step 7.
//
// NewFile, RenameNew and MoveAside make and move other files.
package filereplace
