//go:build !linux

package owner

// birthOf returns 0, which means unknown. relayfs does not need the time here, because inode numbers are not reused.
func birthOf(string) int64 { return 0 }
