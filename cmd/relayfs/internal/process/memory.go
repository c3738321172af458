package process

import (
	"os"
	"runtime/debug"
)

// A command lives too short to have much garbage. A server keeps its garbage until the next collection, so it collects
// more often.
const (
	GarbageOfCommands = 200
	GarbageOfServers  = 60
)

// LimitGarbage sets how much garbage the heap may hold, in percent of its live bytes, unless the user has set GOGC.
func LimitGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
