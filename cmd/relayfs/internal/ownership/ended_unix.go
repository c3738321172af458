//go:build unix

package ownership

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ended reports whether a process has ended. A zombie has ended when its other threads have, as far as
// /proc tells: until then its files are open and its locks held.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	if err != nil || !strings.HasPrefix(rest, "Z") {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}
