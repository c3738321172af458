package randomtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// round is the testing.TB of one run of a property. It inherits the other methods of the test.
type round struct {
	testing.TB
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	lines    []string
	failures int
	at       string // source location of the first failure
	skipped  bool
	cleanups []func()
}

func run(t *testing.T, src *source, property func(testing.TB, *rand.Rand)) *round {
	ctx, cancel := context.WithCancel(t.Context())
	r := &round{TB: t, ctx: ctx, cancel: cancel}
	r.apart(func() { property(r, rand.New(src)) })
	r.cancel()
	for {
		r.mu.Lock()
		n := len(r.cleanups)
		if n == 0 {
			r.mu.Unlock()
			return r
		}
		fn := r.cleanups[n-1]
		r.cleanups = r.cleanups[:n-1]
		r.mu.Unlock()
		r.apart(fn)
	}
}

func Bubble(t testing.TB, fn func(t testing.TB)) {
	r := t.(*round)
	var inner *round
	synctest.Test(r.TB.(*testing.T), func(t *testing.T) {
		inner = run(t, nil, func(t testing.TB, _ *rand.Rand) { fn(t) })
	})
	for _, line := range inner.lines {
		r.log(line)
	}
	if inner.Failed() {
		r.fail(inner.at, "")
	}
	if inner.Failed() || inner.Skipped() {
		r.skipped = inner.skipped
		runtime.Goexit()
	}
}

// Repeat runs acts in random order, 30 on average, and check before the first and after each of them. An act that skips
// does not end the round.
func Repeat(t testing.TB, r *rand.Rand, check func(), acts map[string]func()) {
	round := t.(*round)
	names := slices.Sorted(maps.Keys(acts))
	check()
	for r.IntN(31) > 0 {
		name := Pick(r, names...)
		t.Log(name)
		round.apart(acts[name])
		if round.Failed() {
			runtime.Goexit()
		}
		if !round.skipped {
			check()
		}
		round.skipped = false
	}
}

// apart calls fn on a new goroutine, so that fn may end its goroutine.
func (r *round) apart(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			switch p := recover(); p.(type) {
			case nil:
			case exhausted:
				r.mu.Lock()
				r.skipped = true
				r.mu.Unlock()
			default:
				r.fail("panic", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		fn()
	}()
	<-done
}

func (r *round) failed() bool { return r.Failed() && !r.Skipped() }

func (r *round) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func (r *round) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func (r *round) log(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, strings.TrimSuffix(text, "\n"))
}

func (r *round) fail(at, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures++; r.failures == 1 {
		r.at = at
	}
	if text != "" {
		r.lines = append(r.lines, at+": "+strings.TrimSuffix(text, "\n"))
	}
}

func caller() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", file[strings.LastIndex(file, "/")+1:], line)
}

func (r *round) Log(args ...any) { r.log(caller() + ": " + fmt.Sprintln(args...)) }
func (r *round) Logf(format string, args ...any) {
	r.log(caller() + ": " + fmt.Sprintf(format, args...))
}
func (r *round) Error(args ...any) { r.fail(caller(), fmt.Sprintln(args...)) }
func (r *round) Errorf(format string, args ...any) {
	r.fail(caller(), fmt.Sprintf(format, args...))
}
func (r *round) Fail() { r.fail(caller(), "") }

func (r *round) FailNow() {
	r.fail(caller(), "")
	runtime.Goexit()
}

func (r *round) Fatal(args ...any) {
	r.fail(caller(), fmt.Sprintln(args...))
	runtime.Goexit()
}

func (r *round) Fatalf(format string, args ...any) {
	r.fail(caller(), fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *round) SkipNow() {
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *round) Skip(...any)          { r.SkipNow() }
func (r *round) Skipf(string, ...any) { r.SkipNow() }

func (r *round) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures > 0
}

func (r *round) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

func (r *round) Cleanup(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, fn)
}

func (r *round) Context() context.Context { return r.ctx }

func (r *round) TempDir() string {
	dir, err := os.MkdirTemp("", "relayfs-round")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			r.Error(err)
		}
	})
	return dir
}

func (r *round) Setenv(key, value string) {
	old, had := os.LookupEnv(key)
	if err := os.Setenv(key, value); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if had {
			os.Setenv(key, old)
		} else {
			os.Unsetenv(key)
		}
	})
}
