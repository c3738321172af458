package owner

import "io/fs"

// ownedByUs is not to be told from a file's mode here; the folders in question
// lie in the user's profile.
func ownedByUs(fs.FileInfo) bool { return true }
