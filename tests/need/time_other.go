//go:build !linux

package need

import "time"

// threadTime returns the time of day: differences are an upper bound.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
