package folderdoc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// replay makes the changes on a listing, and fails where one cannot be made.
func replay(t testing.TB, before []folderdoc.Entry, changes []folderdoc.Change) map[string]folderdoc.Entry {
	at := make(map[string]folderdoc.Entry)
	for _, e := range before {
		at[e.Path] = e
	}
	room := func(p string) {
		if _, taken := at[p]; taken {
			t.Fatalf("%q is taken", p)
		}
		if i := strings.LastIndexByte(p, '/'); i > 0 && at[p[:i]].Type != folderdoc.TypeFolder {
			t.Fatalf("%q has no folder", p)
		}
	}
	for _, c := range changes {
		switch c.Kind {
		case folderdoc.Created:
			room(c.Path)
			at[c.Path] = c.Entry
		case folderdoc.Changed:
			at[c.Path] = c.Entry
		case folderdoc.Removed:
			if _, there := at[c.Path]; !there {
				t.Fatalf("%q is not there to be removed", c.Path)
			}
			for p := range at {
				if strings.HasPrefix(p, c.Path+"/") {
					t.Fatalf("%q is removed with %q in it", c.Path, p)
				}
			}
			delete(at, c.Path)
		case folderdoc.Renamed:
			if _, there := at[c.OldPath]; !there {
				t.Fatalf("%q is not there to be renamed", c.OldPath)
			}
			room(c.Path)
			moved := make(map[string]folderdoc.Entry)
			for p, e := range at {
				if p == c.OldPath || strings.HasPrefix(p, c.OldPath+"/") {
					delete(at, p)
					moved[c.Path+p[len(c.OldPath):]] = e
				}
			}
			maps.Copy(at, moved)
		}
	}
	return at
}

var names = []string{"a", "b", "c.md", "d.md", "e.png"}

func drawPath(r *rand.Rand) string {
	parts := make([]string, randomtest.Between(r, 1, 3))
	for i := range parts {
		parts[i] = randomtest.Pick(r, names...)
	}
	return strings.Join(parts, "/")
}

// mutate makes a random change of the folder; many fail, which changes nothing.
func mutate(r *rand.Rand, f *folderdoc.Folder) {
	p, q := drawPath(r), drawPath(r)
	switch randomtest.Between(r, 0, 4) {
	case 0, 1:
		typ := ""
		if !strings.Contains(p, ".") {
			typ = folderdoc.TypeFolder
		}
		f.Create(folderdoc.Entry{Path: p, Type: typ})
	case 2, 3:
		f.Rename(p, q, r.IntN(2) == 0)
	case 4:
		f.Delete(p)
	}
}

// The changes between any two states of a folder can be made one by one, and
// lead from the one to the other.
func TestDiffLeadsFromOneToTheOther(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		doc := ycrdt.NewDoc(ycrdt.Options{})
		f := folderdoc.Open(doc)
		var before []folderdoc.Entry
		for i, n := 0, randomtest.Between(r, 1, 25); i < n; i++ {
			mutate(r, f)
			if randomtest.Between(r, 0, 3) == 0 {
				before = f.List()
			}
		}
		after := f.List()
		changes := folderdoc.Diff(before, after)
		if applied := folderdoc.Apply(before, changes); !slices.EqualFunc(applied, after, func(a, b folderdoc.Entry) bool {
			return a.Path == b.Path && a.Type == b.Type && (a.ID == b.ID || a.Type == folderdoc.TypeFolder)
		}) {
			t.Fatalf("applied: %v, want %v", applied, after)
		}
		got := replay(t, before, changes)
		if len(got) != len(after) {
			t.Fatalf("%d entries, want %d", len(got), len(after))
		}
		for _, e := range after {
			have, there := got[e.Path]
			if !there || e.Type != folderdoc.TypeFolder && have.ID != e.ID {
				t.Fatalf("%q is %+v, want %+v", e.Path, have, e)
			}
		}
		for _, root := range []string{"docs", "filemeta_v0"} {
			for _, k := range doc.Map(root).Keys() {
				if !strings.HasPrefix(k, "/") || strings.Contains(k, "//") || strings.HasSuffix(k, "/") {
					t.Fatalf("%s has the key %q", root, k)
				}
			}
		}
	})
}

// Diff and Apply take little time even if a user renames 20,000 entries at once and some of the renames wait for others.
func TestDiffOfManyRenames(t *testing.T) {
	for name, renamed := range map[string]func(i int) (typ, p string){
		"a chain": func(i int) (string, string) { return folderdoc.TypeMarkdown, fmt.Sprintf("%06d", i+1) },
		"folders": func(i int) (string, string) { return folderdoc.TypeFolder, fmt.Sprintf("new%06d", i) },
	} {
		var before, after []folderdoc.Entry
		for i := range 20_000 {
			typ, p := renamed(i)
			before = append(before, folderdoc.Entry{Path: fmt.Sprintf("%06d", i), ID: fmt.Sprint(i), Type: typ})
			after = append(after, folderdoc.Entry{Path: p, ID: fmt.Sprint(i), Type: typ})
		}
		slices.SortFunc(after, func(a, b folderdoc.Entry) int { return strings.Compare(a.Path, b.Path) })
		start := time.Now()
		got := folderdoc.Apply(before, folderdoc.Diff(before, after))
		if took := time.Since(start); took > need.Scaled(5*time.Second) && !need.Raced() {
			t.Errorf("%s: took %v", name, took)
		}
		if !slices.Equal(got, after) {
			t.Errorf("%s: got %d entries, want %d others", name, len(got), len(after))
		}
	}
}

func TestDiff(t *testing.T) {
	entry := func(s string) folderdoc.Entry {
		p, id, _ := strings.Cut(s, "=")
		typ, _ := folderdoc.TypeOf(p)
		if !strings.Contains(p, ".") {
			typ = folderdoc.TypeFolder
		}
		return folderdoc.Entry{Path: p, ID: id, Type: typ}
	}
	list := func(s string) []folderdoc.Entry {
		var l []folderdoc.Entry
		for _, f := range strings.Fields(s) {
			l = append(l, entry(f))
		}
		return l
	}
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":            {"a=1 a/x.md=2", "a=1 a/x.md=2", ""},
		"a file moves":       {"x.md=2", "y.md=2", "x.md>y.md"},
		"a folder moves":     {"a=1 a/x.md=2 a/y.md=3", "b=1 b/x.md=2 b/y.md=3", "a>b"},
		"all but one move":   {"a=1 a/x.md=2 a/y.md=3", "a a/y.md=3 b=1 b/x.md=2", "+b a/x.md>b/x.md"},
		"new at an old id":   {"x.md=1", "x.md=2", "-x.md +x.md"},
		"two swap":           {"x.md=1 y.md=2", "x.md=2 y.md=1", "-x.md y.md>x.md +y.md"},
		"an id at two":       {"x.md=1", "x.md=1 y.md=1", "+y.md"},
		"a folder of files":  {"a a/x.md=1", "", "-a/x.md -a"},
		"a file to a folder": {"a.md=1", "a.md a.md/x.md=1", "-a.md +a.md +a.md/x.md"},
	} {
		t.Run(name, func(t *testing.T) {
			after := list(c.after)
			for i := range after {
				if after[i].ID == "" {
					after[i].Type = folderdoc.TypeFolder
				}
			}
			var got []string
			for _, ch := range folderdoc.Diff(list(c.before), after) {
				switch ch.Kind {
				case folderdoc.Created:
					got = append(got, "+"+ch.Path)
				case folderdoc.Removed:
					got = append(got, "-"+ch.Path)
				case folderdoc.Renamed:
					got = append(got, fmt.Sprintf("%s>%s", ch.OldPath, ch.Path))
				case folderdoc.Changed:
					got = append(got, "*"+ch.Path)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("changes are %q, want %q", s, c.want)
			}
		})
	}
}
