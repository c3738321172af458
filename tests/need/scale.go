package need

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// ScaleEnv is the environment variable with the factor for the time limits of tests: a whole number, 1 by default.
const ScaleEnv = "RELAYFS_TEST_TIMESCALE"

var scale = sync.OnceValue(func() time.Duration {
	n, err := parseScale(os.Getenv(ScaleEnv))
	if err != nil {
		panic(err)
	}
	return time.Duration(n)
})

func parseScale(text string) (int, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q, but must be a whole number from 1", ScaleEnv, text)
	}
	return n, nil
}

// Scaled converts a limit for an idle machine to a limit for this machine. Use it for all limits that a busy machine
// can exceed, but not for times that the product measures, nor for waits that check that nothing happens.
func Scaled(limit time.Duration) time.Duration { return limit * scale() }
