// Package filereplace replaces the content of a note while other programs, which take no locks, may be saving the same
// note.
//
// No system call replaces a file on the condition that it is unchanged. So a swap checks the note before and after the
// exchange:
//
//  1. Stage: a temp file gets the new content, in the swap folder or next to the note (temp.go).
//  2. Hold: a lease on the old file makes programs that open it for writing wait for some microseconds. The kernel
//     grants the lease when no program has the file open for writing. So no save in place is in progress during steps 3
//     to 5. If the kernel grants no lease within 100 ms, the swap continues without it, and step 7 finds a save in
//     place.
//  3. Check: if the note is not the expected file any more, the result is model.ErrConflict.
//  4. Exchange: the new file and the old file swap their names in one step. A file that another save put there between
//     steps 3 and 4 now has the temp name.
//  5. Verify: if the displaced file is not the expected one, another program has saved in between. The names are
//     exchanged back, and the result is model.ErrConflict. A program that reads the note at that moment sees a text
//     that is not kept. A save at that moment goes to our file, which is watched as in step 7.
//  6. Sync: the file and its folder are synced, and then the pre-image is removed (settle.go). Commit does not wait for
//     that. After a power cut the next process sweeps the vault (sweep.go), which leaves the old note or the new one.
//  7. Watch: a program that had the old file open may still write to it. So the file is watched (late.go).
//
// After a power cut, every file that had the note's name still has a name: the name of the note, or the temp name. So
// if a program has synced a save to such a file, the save is in the note or in the trash after the next process has
// swept the vault. On a disk that makes renames durable in order (disk.Dir.OrdersNames), the program's own fsync
// also makes these names durable. On other disks it does not, so the new file and its temp name are synced before
// step 4.
//
// On a disk without exchange (NFS, some FUSE file systems), step 4 is a plain rename. There a save by rename in the
// microseconds between steps 3 and 4 is lost. Step 7 still finds a save in place.
//
// NewFile, RenameNew and MoveAside make and move other files.
package filereplace
