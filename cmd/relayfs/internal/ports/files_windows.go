package ports

// maxFiles is how many files this process may have open: there is no limit that
// it would reach.
func maxFiles() uint64 { return 1 << 20 }
