package note

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A fifoMutex has one holder at a time and is passed on in order, and who waits for it lets the clock of a synctest go on.
func TestFIFOMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fifoMutex
		var order []int
		l.lock()
		for i := range 5 {
			go func() {
				l.lock()
				defer l.unlock()
				if l.tryLock() {
					t.Error("two have the turn")
				}
				order = append(order, i)
				time.Sleep(time.Hour)
			}()
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		if len(order) > 0 {
			t.Errorf("%v took the turn from its holder", order)
		}
		l.unlock()
		time.Sleep(6 * time.Hour)
		if !l.tryLock() {
			t.Fatal("the turn is not free after its last holder")
		}
		if want := []int{0, 1, 2, 3, 4}; !slices.Equal(order, want) {
			t.Errorf("took turns: %v, want %v", order, want)
		}
	})
}
