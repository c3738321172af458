// Package disktest is a machine with disks in memory, for tests of crashes. It implements disk.Disk, logs the calls that change
// something, and knows which changes would survive a power cut at any moment.
//
//	d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true})
//	d.Before(func(c disktest.Call) error { states = append(states, d.Killed()); return nil })
//	... // run the program on d
//	for cut := range d.PowerCuts(1000) { ... } // restart it on cut
//
// The machine is deterministic: it has its own clock, numbers inodes in order and starts no goroutine. It checks no
// permissions, keeps no extended attributes, and follows no symlink.
//
// # What a kill leaves
//
// Everything that was called. Files that have no name are gone with the descriptors.
//
// # What a power cut leaves
//
// Bytes: each write and truncation of a file since its last sync may be missing. A cut leaves a prefix of them, or all but
// the first one, because the kernel writes pages in no order; the last one may be half there; a longer file may have zeros
// for its bytes.
//
// Names on a volume that orders them (Volume.OrdersNames): changes of names, modes, owners and times reach the disk in the
// order of the calls, each whole, as from the journal of ext4. A cut leaves a prefix of the unsynced ones. The sync of a
// folder or a file makes its last change durable, and so everything before it. (ext4 commits all changes. btrfs has a second
// log for synced files, and may have such a file without earlier changes of other names: that is not simulated.) Bytes and
// names are not ordered: with delayed allocation a rename can be on the disk before the bytes. What ext4 does about that on
// rename(2) and on close(2) after a truncation is not assumed.
//
// Names on other volumes: each unsynced change may be there or not, if its names are as they were before it. The sync of a
// folder makes the changes in it durable, and those that they need; the sync of a file makes no name durable.
//
// A datasync makes only bytes durable. After a failed sync the bytes stay uncertain, whatever is synced later: the kernel
// has forgotten that they are dirty.
package disktest
