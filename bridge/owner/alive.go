package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// A connection to a socket succeeds as long as its process exists, even if the process is suspended, and a response may
// legitimately take minutes. So a client that waits for a response checks on another connection whether the owner runs.

const AlivePath = "/alive"

// CheckPath is the HTTP path of the check of the owner's stored data. The response maps each root to its problem, or to
// "" if it has none.
const CheckPath = "/kept/check"

const InfoPath = "/info"

const (
	// lookEvery is the interval at which the client checks whether the owner runs.
	lookEvery = 2 * time.Second
	// stoppedAfter is the time for which a process must be stopped before the client gives up.
	stoppedAfter = time.Second
	// answerTimeout is the time that a running owner may take to respond on a busy machine.
	answerTimeout = 20 * time.Second
)

type StoppedError struct{ Owner Info }

func (e *StoppedError) Error() string {
	return fmt.Sprintf("%v does not answer: process %d is stopped (Ctrl-Z?): continue it with `kill -CONT %d`", e.Owner, e.Owner.PID, e.Owner.PID)
}

var errSilent = errors.New("no answer")

// Stopped reports whether the owner's process is suspended. It returns false without /proc.
func (i Info) Stopped() bool {
	state := stateOf(i.PID)
	return state == "T" || state == "t"
}

// stateOf returns the letter of a process's state in /proc/PID/stat, or "".
func stateOf(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the program's name in parentheses may contain any character
	if len(fields) == 0 {
		return ""
	}
	return string(fields[0])
}

func (c *Client) Alive(ctx context.Context) error {
	if c.Info().Stopped() {
		if time.Sleep(stoppedAfter); c.Info().Stopped() {
			return &StoppedError{c.Info()}
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSilent)
	defer cancel()
	err := c.ask(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	if err != nil {
		return c.unanswered(err)
	}
	return nil
}

// ask makes one request. It accepts any response, because an older relayfs does not have the path.
func (c *Client) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://relayfs"+AlivePath, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Attend calls do, which waits for a response, and cancels the call if the owner does not run.
func (c *Client) Attend(ctx context.Context, do func(context.Context) error) error {
	watched, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { c.watch(watched, cancel) })
	err := do(watched)
	cause := context.Cause(watched)
	cancel(nil)
	watcher.Wait()
	if err != nil && cause != nil {
		return cause
	}
	return err
}

// watch checks regularly whether the owner runs, until ctx ends.
func (c *Client) watch(ctx context.Context, silent context.CancelCauseFunc) {
	start, tick := time.Now(), time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if c.Waits != nil && time.Since(start) >= lookEvery {
				c.Waits(0)
			}
			return
		case <-tick.C:
		}
		if err := c.Alive(ctx); err != nil {
			silent(err)
		} else if c.Waits != nil {
			c.Waits(time.Since(start))
		}
	}
}
