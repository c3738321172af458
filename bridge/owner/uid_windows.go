package owner

import "io/fs"

// ownedByUs returns true, because the owner of a file cannot be determined here and the folders that are checked are in
// the user's profile.
func ownedByUs(fs.FileInfo) bool { return true }
