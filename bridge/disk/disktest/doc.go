// Package disktest is a machine with disks in memory, for tests of what crashes leave. It
// fills disk.Disk, keeps a log of the calls that change something, and knows what would
// outlive a power cut at any moment.
//
//	d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true})
//	d.Before(func(c disktest.Call) error { states = append(states, d.Killed()); return nil })
//	... // run the program on d
//	for cut := range d.PowerCuts(1000) { ... } // restart it on cut
//
// The machine is deterministic: it has its own clock, numbers inodes in their order and
// starts no goroutine. It checks no permissions, keeps no extended attributes, and follows no symlink.
//
// # What a kill leaves
//
// Everything that was called. Files that have no name are gone with the descriptors.
//
// # What a power cut leaves
//
// Bytes: every write and truncation of a file since it was synced may be missing. A cut
// leaves a prefix of them, or all but the first one, as the kernel writes pages in no order; the last one may
// be half there; and a file that has become longer may have zeros instead of its bytes.
//
// Names on a volume that orders them (Volume.OrdersNames): changes of names, modes, owners and times
// that are set come to the disk in the order of the calls, each whole, as from the
// journal of ext4. A cut leaves a prefix of those that were not synced. The sync of a folder or a file makes the last change
// of that folder or file durable, and so everything before it. (ext4 commits all changes there are. btrfs has a
// second log for files that are synced, and may have such a file without changes of others' names before it: that is
// not played.) The order of bytes and names is not kept: with delayed allocation a rename
// can be on the disk before the bytes of the file. What ext4 does about that on rename(2) and on close(2) after a truncation is not
// assumed.
//
// Names on other volumes: each change that was not synced is there or not, if the names that it changes are as they
// were before it. The sync of a folder makes the changes in it durable, and those that they rest on; that of a file makes no name durable.
//
// A datasync makes bytes durable and nothing else. After a sync that failed the bytes stay as uncertain as they were,
// whatever is synced later: the kernel has forgotten that they are to be written.
package disktest
