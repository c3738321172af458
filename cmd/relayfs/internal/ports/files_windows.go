package ports

// maxFiles returns how many files this process may have open: Windows has no limit that it would reach.
func maxFiles() uint64 { return 1 << 20 }
