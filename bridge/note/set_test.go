package note

import (
	"testing"
	"testing/synctest"
	"time"
)

// When nobody has asked for a note for a while, the cache keeps the latest within idleBytes; while somebody does, all within its budget.
func TestCacheRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = idleBytes / 4
		c := &cache{budget: 8 * size}
		notes := make([]*Note, 10)
		for i := range notes {
			notes[i] = &Note{opened: new(opened)}
			c.add(notes[i], size)
		}
		cached := func() (n int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, note := range notes {
				if note.cached != nil {
					n++
				}
			}
			return n
		}
		for range 5 {
			time.Sleep(idleAfter - time.Second)
			if got := cached(); got != 8 {
				t.Fatalf("%d notes are cached while they are used, want 8", got)
			}
			c.touch(notes[2])
		}
		time.Sleep(idleAfter + time.Second)
		if got := cached(); got != 4 || notes[2].cached == nil {
			t.Errorf("%d notes are cached when nobody has used them, want 4 with the latest", got)
		}
		c.add(&Note{opened: new(opened)}, size)
		time.Sleep(idleAfter + time.Second)
		if got := cached(); got != 3 {
			t.Errorf("%d of the old notes are cached beside a new one, want 3", got)
		}
	})
}
