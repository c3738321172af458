package tree

import (
	"fmt"
	"slices"
	"testing"
)

// Locks are taken in the order of the paths in the source, also of nodes that are shown at other places.
func TestSourceChildrenAreSorted(t *testing.T) {
	d := &Node{children: make(map[string]*Node)}
	var want []string
	for i := range 20 {
		n := &Node{parent: d, name: fmt.Sprintf("%02d", i)}
		d.children[n.name] = n
		want = append(want, n.name)
		switch i % 4 {
		case 1:
			n.hide()
		case 2:
			n.show(d, fmt.Sprintf("%02d moved", 30-i))
		}
	}
	var got []string
	for _, c := range d.sourceChildren() {
		got = append(got, c.loc().name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
