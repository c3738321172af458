package need

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// ScaleEnv names the environment variable that says how many times as long as on an
// idle machine tests may take: a whole number, 1 by default.
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
		return 0, fmt.Errorf("%s is %q, and has to be a whole number from 1", ScaleEnv, text)
	}
	return n, nil
}

// Scaled returns how long something may take here that may take limit on an idle
// machine. All limits of tests that a busy machine can exceed come from it. What the
// product measures itself, and what a test waits only to see that nothing happens, is
// not scaled.
func Scaled(limit time.Duration) time.Duration { return limit * scale() }
