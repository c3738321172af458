// Package disktest simulates a machine with disks in memory, for tests of crashes. It implements disk.Disk, logs the
// calls that change something, and tracks which changes would survive a power cut at any moment.
//
//	d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true})
//	d.Before(func(c disktest.Call) error { states = append(states, d.Killed()); return nil })
//	... // run the program on d
//	for cut := range d.PowerCuts(1000) { ... } // restart it on cut
//
// The machine is deterministic: it has its own clock, numbers inodes in order and starts no goroutines. It does not
// check permissions, store extended attributes or follow symlinks.
//
// # After a kill
//
// All calls took effect. Files without a name no longer exist, because their descriptors are closed.
//
// # After a power cut
//
// Bytes: each write and truncation of a file since its last sync may be missing. A cut leaves a prefix of these
// changes, or all except the first, because the kernel writes pages in no particular order. The last change may be half
// complete. A file that has grown may have zeros instead of the new bytes.
//
// Names on a volume that makes changes of names durable in order (Volume.OrdersNames): changes of names, modes, owners
// and times reach the disk in the order of the calls, each atomically, as in the journal of ext4. A cut leaves a prefix
// of the unsynced changes. The sync of a folder or a file makes its last change durable, and with it every earlier
// change. (ext4 commits all changes. btrfs has a second log for synced files, and may keep such a file but lose earlier
// changes of other names. The machine does not simulate this.) Bytes and names are not ordered relative to each other:
// with delayed allocation a rename can be on the disk before the bytes. The machine does not model that ext4 flushes a
// file on rename(2), and on close(2) after a truncation.
//
// Names on other volumes: each unsynced change may be lost. It may be kept if its names then refer to the same files as
// before the change. The sync of a folder makes the changes in it durable, with the changes on which they depend. The
// sync of a file makes no name durable.
//
// A datasync makes only bytes durable. After a failed sync the bytes stay uncertain even if a later sync succeeds: the
// kernel no longer considers them dirty.
package disktest
