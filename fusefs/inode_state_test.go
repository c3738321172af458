//go:build !windows

package fusefs

import "testing"

// What has retired never gets its name back, nor does what has lost one, but by a rename.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for e := evAdopt + 1; e <= evUnlinkStale; e++ {
		for s := stateScratch; s <= stateUnlinkedStale; s++ {
			next := s.After(e)
			if s.IsReplaced() && next == stateLive {
				t.Errorf("event %d: state %d becomes %d", e, s, next)
			}
			if s.Links() == 0 && next.Links() != 0 {
				t.Errorf("event %d: state %d without a name becomes %d", e, s, next)
			}
			if next.IsNote() && !s.IsNote() {
				t.Errorf("event %d: state %d becomes a note, %d", e, s, next)
			}
			if s.IsStale() && s.Links() == 0 && !next.IsStale() {
				t.Errorf("event %d: state %d is not told of any more as %d", e, s, next)
			}
			if again := next.After(e); again != next {
				t.Errorf("event %d twice: state %d becomes %d, then %d", e, s, next, again)
			}
		}
	}
}
