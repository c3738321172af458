// Package late watches files that have just lost their names to a save. A program that had
// opened such a file may still write to it, and believes that it has saved the note.
//
//	w := late.New(notes, log)
//	w.Add("Plan.md", displaced, stamp, data)
//	...
//	w.End()
//
// What it writes, the difference between what the file held and what it holds now, is
// merged into the note. Where that overlaps with what the note has got meanwhile, neither
// wins: the late save becomes a conflicted copy beside the note.
//
// A lease tells whether somebody has a file open for writing (disk.File). As long as
// somebody has, the file is watched, however long that takes; without a writer, for two
// seconds.
package late
