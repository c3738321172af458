package fusefs

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// mountType is a mount's type in the kernel's table of mounts.
const mountType = "fuse." + fsName

// mountOf returns the mount at dir, the zero one if there is none.
func mountOf(dir string) (mountEntry, error) {
	dir, err := realDir(dir)
	if err != nil {
		return mountEntry{}, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return mountEntry{}, err
	}
	defer f.Close()
	return findMount(f, dir)
}

// findMount reads a table in the format of /proc/self/mountinfo, see proc(5).
// Of several mounts at dir the last one is on top.
func findMount(table io.Reader, dir string) (found mountEntry, err error) {
	err = eachMount(table, func(at string, m mountEntry) {
		if at == dir {
			found = m
		}
	})
	return found, err
}

// mountsOf lists where file systems of a type are mounted.
func mountsOf(table io.Reader, fstype string) (dirs []string, err error) {
	err = eachMount(table, func(at string, m mountEntry) {
		if m.fstype == fstype {
			dirs = append(dirs, at)
		}
	})
	return dirs, err
}

func eachMount(table io.Reader, fn func(at string, m mountEntry)) error {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda rw
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 {
			continue
		}
		var m mountEntry
		m.fstype, _, _ = strings.Cut(after, " ")
		_, m.minor, _ = strings.Cut(fields[2], ":")
		fn(unescapeOctal(fields[4]), m)
	}
	return lines.Err()
}

// unescapeOctal undoes \040 and its like, by which the kernel writes blanks.
func unescapeOctal(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
