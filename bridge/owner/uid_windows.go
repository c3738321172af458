package owner

import "io/fs"

// inodeOf returns zeros: a FileInfo has no file ID here.
func inodeOf(fs.FileInfo) (device, inode uint64) { return 0, 0 }

// ownedByUs returns true, because the owner of a file cannot be determined here and the folders that are checked are in
// the user's profile.
func ownedByUs(fs.FileInfo) bool { return true }
