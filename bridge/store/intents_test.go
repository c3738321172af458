package store_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/storetest"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

func intended(t *testing.T, s model.Store, p model.Path, raw string, want model.Intent) {
	t.Helper()
	if got, ok := s.Intended(p, raw); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("Intended of %q = %+v, %v; want %+v", p, got, ok, want)
	}
}

// What was about to be written outlives the process, all of it if it may have been
// interrupted, however many writes came after it; and the file does not grow.
func TestIntentsStayFew(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	cut := model.Intent{Record: model.Record{Author: "ann"}, Edits: []model.EditSpan{{Off: 3, Len: 4, New: 5}}}
	s.Intend("Cut.md", model.SumOf("one"), cut)
	var last string
	for i := range 5000 {
		last = fmt.Sprint("text ", i)
		s.Intend("Note.md", model.SumOf(last), model.Intent{Record: model.Record{
			Author: "bob", Decision: &model.Decision{Batch: fmt.Sprint(i), Before: strings.Repeat("x", 10_000)},
		}})
		if i%100 == 0 {
			if _, err := s.Append("id", "Note.md", storetest.Record(doc, "x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Append("id", "Note.md", storetest.Record(doc, "x")); err != nil {
		t.Fatal(err)
	}
	intended(t, s, "Note.md", last, model.Intent{Record: model.Record{Author: "bob", Decision: &model.Decision{Batch: "4999"}}})
	for range 2 {
		intended(t, s, "Cut.md", "one", cut)
		if _, ok := s.Intended("Note.md", "text 0"); ok {
			t.Error("the first of 5000 writes is still known")
		}
		closeStore(t, s)
		if info, err := os.Stat(path + ".intents"); err != nil || info.Size() > 20<<20 {
			t.Errorf("after 50 MB the file is %v, %v", info, err)
		}
		s = open(t, path)
	}
}

// A line that a crash cut off, or a new file that it left, costs nothing else.
func TestIntentsCutOff(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	in := model.Intent{Record: model.Record{Author: "ann"}, Edits: []model.EditSpan{{New: 5}}}
	s.Intend("A.md", model.SumOf("one"), in)
	s.Intend("B.md", model.SumOf("two"), in)
	closeStore(t, s)
	info, err := os.Stat(path + ".intents")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+".intents", info.Size()-3); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".intents.new", []byte(`{"path":`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = open(t, path)
		intended(t, s, "A.md", "one", in)
		s.Intend("C.md", model.SumOf("three"), in)
		intended(t, s, "C.md", "three", in)
		closeStore(t, s)
	}
}
