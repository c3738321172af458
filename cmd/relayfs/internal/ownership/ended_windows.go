package ownership

import (
	"golang.org/x/sys/windows"
)

func ended(pid int) bool {
	const stillActive = 259
	var code uint32
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(h)
	return windows.GetExitCodeProcess(h, &code) == nil && code != stillActive
}
