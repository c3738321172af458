package links_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// newIndex has the given files in the root "V", notes and others alike.
func newIndex(files ...string) *links.Index {
	x := links.NewIndex()
	for _, f := range files {
		x.AddFile("V/" + f)
	}
	return x
}

func TestResolve(t *testing.T) {
	two := []string{"zzzz/Note.md", "a/b/Note.md"}
	for _, tt := range []struct {
		name  string
		files []string
		from  string // in V
		text  string // its only link
		want  string // in V, "" for unresolved
	}{
		{"row 1 from elsewhere", []string{"Note.md", "zzzz/Note.md", "a/b/Note.md"}, "x/S.md", "[[Note]]", "Note.md"},
		{"row 1 exact before same folder", []string{"Note.md", "zzzz/Note.md", "a/b/Note.md"}, "zzzz/S.md", "[[Note]]", "Note.md"},
		{"row 2 same folder", two, "zzzz/S.md", "[[Note]]", "zzzz/Note.md"},
		{"row 3 shortest string", two, "S.md", "[[Note]]", "a/b/Note.md"},
		{"row 4 ancestor has no bonus", append(two, "b/Note.md"), "zzzz/deep/S.md", "[[Note]]", "b/Note.md"},
		{"row 5 suffix", []string{"a/b/Note.md"}, "S.md", "[[b/Note]]", "a/b/Note.md"},
		{"row 5 whole elements only", []string{"a/bb/Note.md"}, "S.md", "[[b/Note]]", ""},
		{"row 6 exact path", []string{"b/Note.md", "a/b/Note.md"}, "a/b/S.md", "[[b/Note]]", "b/Note.md"},
		{"row 7 parent", []string{"y.md"}, "a/x.md", "[[../y]]", "y.md"},
		{"row 7 parent of the vault", []string{"y.md"}, "x.md", "[[../y]]", ""},
		{"row 8 relative has no fallback", []string{"b/Missing.md"}, "a/S.md", "[[./Missing]]", ""},
		{"row 8 relative", []string{"a/N.md"}, "a/S.md", "[[./N]]", "a/N.md"},
		{"row 9 case", []string{"Log.md"}, "S.md", "[[LOG]]", "Log.md"},
		{"row 9 own spelling first", []string{"LOG.md", "Log.md", "log.md"}, "S.md", "[[Log]]", "Log.md"},
		{"row 10 case of the extension", []string{"Ext.md"}, "S.md", "[[Ext.MD]]", "Ext.md"},
		{"row 11 with extension", []string{"Note.md"}, "S.md", "[[Note.md]]", "Note.md"},
		{"row 11 dot in the name", []string{"v1.2.md"}, "S.md", "[[v1.2]]", "v1.2.md"},
		{"row 14 self", nil, "S.md", "[[#H]]", "S.md"},
		{"row 15 subpath", []string{"Note.md"}, "S.md", "[[Note#H1#H2]]", "Note.md"},
		{"row 19 embed", []string{"i/img.png"}, "S.md", "![[img.png|100]]", "i/img.png"},
		{"row 20 attachment", []string{"Figure 1.png"}, "S.md", "[[Figure 1.png]]", "Figure 1.png"},
		{"row 20 attachment without extension", []string{"Figure 1.png"}, "S.md", "[[Figure 1]]", ""},
		{"row 20 file that has none", []string{"Makefile"}, "S.md", "[[Makefile]]", ""},
		{"row 21 markdown, vault-wide", []string{"Sub/My Note.md"}, "S.md", "[t](My%20Note.md)", "Sub/My Note.md"},
		{"row 22 markdown, vault path", []string{"Sub/My Note.md"}, "Sub/S.md", "[t](Sub/My%20Note.md)", "Sub/My Note.md"},
		{"row 24 hash in a name", []string{"We!rd (name) [x] #1.md"}, "S.md", "[t](We!rd%20(name)%20[x]%20#1.md)", ""},
		{"row 25 bracket in a name", []string{"Sq]uare.md"}, "S.md", "[[Sq]uare]]", "Sq]uare.md"},
		{"row 28 URL", []string{"e.com.md"}, "S.md", "[[https://e.com]]", ""},
		{"row 32 front matter", []string{"N.md"}, "S.md", "---\nx: \"[[N]]\"\n---\n", "N.md"},
		{"row 36 NFD file, NFC link", []string{"Cafe\u0301.md"}, "S.md", "[[Caf\u00e9]]", "Cafe\u0301.md"},
		{"row 36 NFC file, NFD link", []string{"Caf\u00e9.md"}, "S.md", "[[CAFE\u0301]]", "Caf\u00e9.md"},
		{"row 39 odd names on disk", []string{"a: b?.md"}, "S.md", "[[a: b?]]", "a: b?.md"},
		{"row 41 unresolved path", []string{"Thing.md"}, "S.md", "[[New/Thing]]", ""},
		{"ties are lexicographic", []string{"b/Note.md", "a/Note.md"}, "S.md", "[[Note]]", "a/Note.md"},
		{"rooted", []string{"a/Note.md", "Note.md"}, "a/S.md", "[[/Note]]", "Note.md"},
		{"rooted has no fallback", []string{"a/Note.md"}, "S.md", "[[/Note]]", ""},
		{"attachment beside a note of its name", []string{"x.png.md", "x.png"}, "S.md", "[[x.png]]", "x.png"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newIndex(tt.files...)
			ls := links.Extract(tt.text)
			x.Set("V/"+tt.from, ls, nil)
			got, ok := x.Resolve("V/"+tt.from, ls[0])
			if tt.want != "" {
				tt.want = "V/" + tt.want
			}
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Resolve(%s from %s) = %q, %v, want %q", tt.text, tt.from, got, ok, tt.want)
			}
		})
	}
}

// A link leads to a file of its own root, whatever other roots have.
func TestLinksStayInTheirRoot(t *testing.T) {
	x := links.NewIndex()
	for _, f := range []string{"A/x/Note.md", "B/Note.md", "B/Only.md", "C/d/Only.md"} {
		x.AddFile(f)
	}
	for _, tt := range []struct{ from, target, want string }{
		{"A/S.md", "Note", "A/x/Note.md"},
		{"B/S.md", "Note", "B/Note.md"},
		{"A/S.md", "B/Note", ""},
		{"A/S.md", "/B/Note.md", ""},
		{"A/S.md", "Only", ""},
		{"C/S.md", "Only", "C/d/Only.md"},
		{"C/S.md", "../B/Only", ""},
	} {
		got, _ := x.Resolve(tt.from, links.Link{Target: tt.target})
		if got != tt.want {
			t.Errorf("Resolve(%s from %s) = %q, want %q", tt.target, tt.from, got, tt.want)
		}
	}
}

// Row 12, 13: an alias in front matter resolves nothing.
func TestAliasesResolveNothing(t *testing.T) {
	x := links.NewIndex()
	x.Set("V/Note.md", links.Extract("---\naliases: [AL]\n---\n"), nil)
	x.Set("V/S.md", links.Extract("[[AL]] [[Note|AL]]"), nil)
	resolved, unresolved := x.Forward("V/S.md", func(string) bool { return true })
	if !slices.Equal(resolved, []string{"V/Note.md"}) || !slices.Equal(unresolved, []string{"AL"}) {
		t.Errorf("Forward = %q, %q", resolved, unresolved)
	}
}

// Row 42: what a suggestion would add is not in the graph, what it would delete is.
func TestPendingLinks(t *testing.T) {
	x := newIndex("New.md", "Old.md")
	x.Set("V/S.md", links.Extract("[[Old]]"), links.Extract("[[New]]"))
	if got, _ := x.Forward("V/S.md", func(string) bool { return true }); !slices.Equal(got, []string{"V/Old.md"}) {
		t.Errorf("Forward = %q", got)
	}
	if got := x.Backlinks("V/New.md"); got != nil {
		t.Errorf("Backlinks = %q", got)
	}
}

// Row 37: a second note of a name takes over the links that it is nearer to.
func TestIndexFollowsChanges(t *testing.T) {
	x := newIndex("a/b/Note.md")
	x.Set("V/c/S.md", links.Extract("[[Note]] and [[note#h]] and [[Gone]]"), nil)
	backlinks := func(want map[string][]string) {
		t.Helper()
		for _, p := range []string{"V/a/b/Note.md", "V/c/Note.md", "V/Note.md", "V/e/Note.md"} {
			if got := x.Backlinks(p); !slices.Equal(got, want[p]) {
				t.Errorf("Backlinks(%s) = %q, want %q", p, got, want[p])
			}
		}
	}
	source := []string{"V/c/S.md"}
	backlinks(map[string][]string{"V/a/b/Note.md": source})
	x.AddFile("V/c/Note.md")
	backlinks(map[string][]string{"V/c/Note.md": source})
	x.Set("V/Note.md", nil, nil)
	backlinks(map[string][]string{"V/Note.md": source})
	x.Rename("V/Note.md", "V/Other.md")
	backlinks(map[string][]string{"V/c/Note.md": source})
	x.Rename("V/c", "V/e")
	backlinks(map[string][]string{"V/e/Note.md": {"V/e/S.md"}})
	x.Remove("V/e/Note.md")
	backlinks(map[string][]string{"V/a/b/Note.md": {"V/e/S.md"}})
	if _, unresolved := x.Forward("V/e/S.md", func(string) bool { return true }); !slices.Equal(unresolved, []string{"Gone"}) {
		t.Errorf("unresolved = %q", unresolved)
	}
	x.Set("V/e/S.md", nil, nil)
	backlinks(nil)
	x.Remove("V")
	if _, ok := x.Resolve("V/S.md", links.Link{Target: "Other"}); ok {
		t.Error("something is left after all was removed")
	}
}

func TestRenameOverAnother(t *testing.T) {
	x := links.NewIndex()
	x.Set("V/A.md", links.Extract("[[#self]] [[T]]"), nil)
	x.Set("V/B.md", links.Extract("[[U]]"), nil)
	x.AddFile("V/T.md")
	x.Rename("V/A.md", "V/B.md")
	if got := x.Backlinks("V/T.md"); !slices.Equal(got, []string{"V/B.md"}) {
		t.Errorf("Backlinks(T) = %q", got)
	}
	if got := x.Backlinks("V/B.md"); !slices.Equal(got, []string{"V/B.md"}) {
		t.Errorf("Backlinks(B) = %q, want the note itself", got)
	}
	if _, unresolved := x.Forward("V/B.md", func(string) bool { return true }); unresolved != nil {
		t.Errorf("B still has the links of the note that it replaced: %q", unresolved)
	}
}

// A model that resolves by looking at every file agrees with the index after any history.
func TestIndexAgainstModel(t *testing.T) { randomtest.Check(t, 10, indexAgainstModel) }

func indexAgainstModel(t testing.TB, rnd *rand.Rand) {
	dirs := []string{"A/", "A/x/", "A/x/y/", "B/", "B/x/"}
	names := []string{"n.md", "N.md", "m.md", "p.png"}
	targets := []string{"n", "N", "x/n", "y/m", "./m", "../n", "/n", "p.png", "A/n", "B/x/m", ""}
	pick := func(s []string) string { return s[rnd.IntN(len(s))] }
	x, model := links.NewIndex(), map[string][]links.Link{}
	for step := range 400 {
		p, q := pick(dirs)+pick(names), pick(dirs)+pick(names)
		switch rnd.IntN(5) {
		case 0:
			x.Remove(p)
			delete(model, p)
		case 1:
			if _, ok := model[p]; ok && p != q {
				x.Rename(p, q)
				model[q] = model[p]
				delete(model, p)
			}
		default:
			var ls []links.Link
			for range rnd.IntN(3) {
				ls = append(ls, links.Link{Target: pick(targets)})
			}
			x.Set(p, ls, nil)
			model[p] = ls
		}
		if step%20 == 0 {
			compareWithModel(t, x, model)
		}
	}
}

func compareWithModel(t testing.TB, x *links.Index, model map[string][]links.Link) {
	t.Helper()
	want := map[string][]string{}
	for from, ls := range model {
		for _, l := range ls {
			got, _ := x.Resolve(from, l)
			if w := resolveSlowly(slices.Collect(maps.Keys(model)), from, l.Target); got != w {
				t.Fatalf("Resolve(%q from %s) = %q, want %q among %q", l.Target, from, got, w, slices.Sorted(maps.Keys(model)))
			}
			if got != "" && !slices.Contains(want[got], from) {
				want[got] = append(want[got], from)
			}
		}
	}
	for p := range model {
		slices.Sort(want[p])
		if got := x.Backlinks(p); !slices.Equal(got, want[p]) {
			t.Fatalf("Backlinks(%s) = %q, want %q", p, got, want[p])
		}
	}
}

// resolveSlowly tries the rules one after the other on all files.
func resolveSlowly(files []string, from, target string) string {
	slices.SortFunc(files, func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if target == "" {
		return from
	}
	folder, dir := from[:1], from[:strings.LastIndexByte(from, '/')]
	ending := func(under, suffix string) string {
		var found []string
		for _, f := range files {
			if strings.HasPrefix(f, under) && strings.HasSuffix(strings.ToLower("/"+f[len(under):]), strings.ToLower("/"+strings.TrimSuffix(suffix, ".md")+ext(suffix))) &&
				(len(found) == 0 || len(f) == len(found[0])) {
				found = append(found, f)
			}
		}
		for _, f := range found {
			if strings.HasSuffix(f, target+ext(target)) {
				return f
			}
		}
		return append(found, "")[0]
	}
	exactly := func(p string) string {
		for _, q := range []string{p + ext(p), ""} {
			for _, same := range []func(a, b string) bool{func(a, b string) bool {
				return strings.EqualFold(a, b) && strings.HasSuffix(a, target+ext(target))
			}, strings.EqualFold} {
				for _, f := range files {
					if q != "" && same(f, q) {
						return f
					}
				}
			}
		}
		return ""
	}
	switch {
	case strings.HasPrefix(target, "./"):
		return exactly(dir + target[1:])
	case strings.HasPrefix(target, "../"):
		if i := strings.LastIndexByte(dir, '/'); i > 0 {
			return exactly(dir[:i] + target[2:])
		}
		return ""
	case target[0] == '/':
		return exactly(folder + target)
	}
	return first(exactly(folder+"/"+target), exactly(dir+"/"+target), ending(folder+"/", target))
}

func ext(p string) string {
	if strings.HasSuffix(p, ".png") {
		return ""
	}
	return ".md"
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func TestIndexConcurrently(t *testing.T) {
	x := links.NewIndex()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				p := fmt.Sprintf("V/%d/Note %d.md", g, i%10)
				x.Set(p, links.Extract("[[Note 1]] [[Note 2]]"), nil)
				x.Backlinks("V/0/Note 1.md")
				x.Forward(p, func(string) bool { return true })
				if i%7 == 0 {
					x.Remove(p)
				}
			}
		})
	}
	wg.Wait()
	if got := x.Backlinks("V/0/Note 2.md"); len(got) == 0 {
		t.Error("no backlinks")
	}
}

// Adding a note costs the same however many links its name takes over.
func BenchmarkIndexBuild(b *testing.B) {
	const n = 10_000
	ls := links.Extract("[[README]] [[Note 1]] [[a/Note 2]] ![[img.png]]")
	for b.Loop() {
		x := links.NewIndex()
		for i := range n {
			x.Set(fmt.Sprintf("V/d%d/README.md", i), ls, nil)
		}
		x.Backlinks("V/d1/README.md")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/note")
}
