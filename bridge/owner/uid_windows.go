package owner

import "io/fs"

// inodeOf is not told by a folder's FileInfo here.
func inodeOf(fs.FileInfo) (device, inode uint64) { return 0, 0 }

// ownedByUs is not to be told from a file's mode here; the folders in question
// lie in the user's profile.
func ownedByUs(fs.FileInfo) bool { return true }
