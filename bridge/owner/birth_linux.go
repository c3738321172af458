package owner

import "golang.org/x/sys/unix"

// birthOf returns the time when a file was created in Unix nanoseconds, or 0 if unknown.
func birthOf(path string) int64 {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
