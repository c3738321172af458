//go:build unix

package ownership

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ended says whether a process has; one that its parent has not asked about yet
// (a zombie) has, too, as far as /proc tells, when its other threads have: until
// then its files are open and its locks held.
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
