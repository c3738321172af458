package model

import (
	"fmt"
	"testing"
)

// A reader that asks for what came after the number that it was told gets each change once, in order.
func TestSince(t *testing.T) {
	var a Bus
	_, seen, whole := a.Since(0)
	if whole || seen == 0 {
		t.Fatalf("number 0 is whole: %v, the log's is %d", whole, seen)
	}
	var got []Path
	for i := range 3*maxChanges + 7 {
		a.Publish(Event{Path: Path(fmt.Sprint(i)), Version: new(Version), Origin: t})
		if i%3 != 0 {
			continue
		}
		list, now, whole := a.Since(seen)
		if !whole {
			t.Fatalf("the log forgot %d", seen)
		}
		for _, ev := range list {
			if ev.Version != nil || ev.Origin != nil {
				t.Fatalf("the log keeps %v", ev)
			}
			got = append(got, ev.Path)
		}
		seen = now
	}
	for i, p := range got {
		if string(p) != fmt.Sprint(i) {
			t.Fatalf("change %d is %q", i, p)
		}
	}
	list, now, whole := a.Since(seen - 2*maxChanges - 1)
	if whole || len(list) < maxChanges {
		t.Errorf("%d changes of long ago, whole: %v", len(list), whole)
	}
	if _, _, whole := a.Since(now + 1); whole {
		t.Error("a number that the log has not reached is its own")
	}
}
