package bridge_test

import (
	"reflect"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
)

// After a rename, of a note or of its folder, the lists are what they are for a note that was always there.
func TestListsAfterARename(t *testing.T) {
	const text = "One {++two++} {--three--}{>>why?<<} and {++two++}. Four.{>>five<<}\n"
	f := bridgetest.New(t, map[string]string{"N/a.md": text, "N/d/b.md": text, "N/c.md": text})
	want := bridgetest.New(t, map[string]string{"N/new.md": text, "N/e/b.md": text, "N/c.md": text})
	if list, err := f.Suggestions(t.Context(), ""); err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	f.Rename("N/a.md", "N/new.md")
	f.Rename("N/d", "N/e")
	got, err := f.Suggestions(t.Context(), "")
	there, errThere := want.Suggestions(t.Context(), "")
	if err != nil || errThere != nil || !reflect.DeepEqual(got, there) {
		t.Errorf("suggestions %+v, %v\nwant %+v, %v", got, err, there, errThere)
	}
	threads, err := f.Threads(t.Context(), "")
	there2, errThere := want.Threads(t.Context(), "")
	if err != nil || errThere != nil || len(threads) == 0 || !reflect.DeepEqual(threads, there2) {
		t.Errorf("threads %+v, %v\nwant %+v, %v", threads, err, there2, errThere)
	}
}
