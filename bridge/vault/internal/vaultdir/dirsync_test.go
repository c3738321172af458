package vaultdir

import (
	"io/fs"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Who comes while a folder is synced waits for the next sync, and all of them
// share it, and its error; another folder's sync does not wait.
func TestSyncsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Syncs
		var mu sync.Mutex
		var log []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, what)
		}
		release := make(chan struct{})
		here, there := ID{Device: 1, Inode: 1}, ID{Device: 1, Inode: 2}
		go d.do(here, func() error { note("first begins"); <-release; note("first ends"); return nil })
		synctest.Wait()
		for range 5 {
			go func() {
				if d.do(here, func() error { note("second"); return fs.ErrInvalid }) != nil {
					note("not durable")
				}
			}()
		}
		synctest.Wait()
		d.do(there, func() error { note("elsewhere"); return nil })
		close(release)
		synctest.Wait()
		want := []string{"first begins", "elsewhere", "first ends", "second", "not durable", "not durable", "not durable", "not durable", "not durable"}
		if !slices.Equal(log, want) {
			t.Errorf("got %q, want %q", log, want)
		}
		if len(d.last) > 0 {
			t.Errorf("%d rounds are kept", len(d.last))
		}
	})
}

// A sync that failed is told of once, whoever it was for: the next one does not fail.
func TestFailureIsToldOnce(t *testing.T) {
	var d Syncs
	here, there := ID{Device: 1, Inode: 1}, ID{Device: 1, Inode: 2}
	if err := d.do(here, func() error { return fs.ErrInvalid }); err != fs.ErrInvalid {
		t.Errorf("error %v", err)
	}
	if err := d.do(here, func() error { return nil }); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if err := failure(&d, there); err != nil {
		t.Errorf("another folder: %v", err)
	}
	for _, want := range []error{fs.ErrInvalid, nil} {
		if err := failure(&d, here); err != want {
			t.Errorf("told %v, want %v", err, want)
		}
	}
}

// failure is what SyncAll returns of earlier syncs.
func failure(s *Syncs, id ID) error {
	err, _ := s.failed.LoadAndDelete(id)
	told, _ := err.(error)
	return told
}
