package semantic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func search(t *testing.T, x *semantic.Index, query string, filter frontmatter.Properties) string {
	t.Helper()
	hits, err := x.Search(t.Context(), query, filter, 3)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range hits {
		paths = append(paths, string(h.Path))
	}
	return strings.Join(paths, " ")
}

func TestSearchFollowsChanges(t *testing.T) {
	notes, _ := labelled(t)
	f := bridgetest.New(t, notes)
	x := semantic.New(f.Workspace, semantic.Options{})
	if got := search(t, x, "slugs eat lettuce", nil); !strings.HasPrefix(got, "Vault/Garden/Slugs.md") {
		t.Fatalf("found %q", got)
	}
	f.Rename("Vault/Garden", "Vault/Plot")
	f.Person("Vault/Chess/New.md", "Snails and other molluscs eat lettuce too.\n")
	if got := search(t, x, "slugs eat lettuce", nil); !strings.Contains(got, "Vault/Plot/Slugs.md") || !strings.Contains(got, "Vault/Chess/New.md") {
		t.Errorf("found %q", got)
	}
	f.Delete("Vault/Plot/Slugs.md")
	if got := search(t, x, "slugs eat lettuce", nil); strings.Contains(got, "Slugs.md") {
		t.Errorf("a note that is gone is found: %q", got)
	}
	if got := search(t, x, "qzxvwk wvxzqj", nil); got != "" {
		t.Errorf("words that no note has find %q", got)
	}
}

func TestSearchFilters(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"V/a.md": "---\nstatus: open\n---\nbread and butter\n", "V/b.md": "---\nstatus: done\n---\nbread and cheese\n", "V/c.md": "bread\n", "V/d.md": "cars\n",
	})
	x := semantic.New(f.Workspace, semantic.Options{})
	if got := search(t, x, "bread", frontmatter.Properties{{Key: "status", Value: "done"}}); got != "V/b.md" {
		t.Errorf("found %q", got)
	}
}

func TestNoNotes(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/empty.md": "", "V/stop.md": "the and of\n"})
	x := semantic.New(f.Workspace, semantic.Options{})
	if got := search(t, x, "anything", nil); got != "" {
		t.Errorf("found %q", got)
	}
	f.Person("V/one.md", "Something about bread.\n")
	if got := search(t, x, "bread", nil); got != "V/one.md" {
		t.Errorf("found %q", got)
	}
}

// Vectors outlive a restart; a damaged file is made again.
func TestVectorsAreKept(t *testing.T) {
	notes, _ := labelled(t)
	f := bridgetest.New(t, notes)
	o := semantic.Options{Dir: owner.Folder(t.TempDir())}
	query := "jar of rye that must be fed"
	x := semantic.New(f.Workspace, o)
	want := search(t, x, query, nil)
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	file := o.Dir.Path("semantic.gob")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	x = semantic.New(f.Workspace, o)
	if got := search(t, x, query, nil); got != want {
		t.Errorf("after a restart: found %q, want %q", got, want)
	}
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(file); err != nil || !slices.Equal(again, kept) {
		t.Errorf("nothing changed, and the file did: %v", err)
	}
	if err := os.WriteFile(file, kept[:len(kept)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	x = semantic.New(f.Workspace, o)
	if got := search(t, x, query, nil); got != want {
		t.Errorf("from half a file: found %q, want %q", got, want)
	}
}

// failing is a source whose disk can no longer read one file.
type failing struct {
	*bridgetest.Source
	rel atomic.Pointer[string]
}

func (s *failing) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	if bad := s.rel.Load(); bad != nil && *bad == rel {
		return nil, model.Stamp{}, syscall.EIO
	}
	return s.Source.Read(ctx, rel)
}

// A note that cannot be read any more does not hide the others.
func TestUnreadableNote(t *testing.T) {
	var source *failing
	f := bridgetest.New(t, map[string]string{"V/bad.md": "Bread with butter.\n", "V/good.md": "Bread with flour.\n"}, func(o *bridge.Options) {
		source = &failing{Source: o.Roots[0].Source.(*bridgetest.Source)}
		o.Roots[0].Source, o.CacheBytes = source, 1
	})
	x := semantic.New(f.Workspace, semantic.Options{})
	if got := search(t, x, "bread", nil); !strings.Contains(got, "V/bad.md") {
		t.Fatalf("found %q", got)
	}
	source.rel.Store(new("bad.md"))
	for _, x := range []*semantic.Index{x, semantic.New(f.Workspace, semantic.Options{})} {
		if got := search(t, x, "bread", nil); got != "V/good.md" {
			t.Errorf("found %q", got)
		}
	}
}

// If the file of vectors is damaged, a search still finds notes by their words.
func TestDamagedVectors(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "Bread needs flour and an oven.\n", "V/b.md": "The boat is on the lake.\n", "V/c.md": "Snails eat the lettuce.\n"})
	o := semantic.Options{Dir: owner.Folder(t.TempDir())}
	x := semantic.New(f.Workspace, o)
	search(t, x, "oven", nil)
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	kept, err := o.Dir.Read("semantic.gob")
	if err != nil {
		t.Fatal(err)
	}
	randomtest.Check(t, 200, func(t testing.TB, r *rand.Rand) {
		if err := o.Dir.Replace("semantic.gob", randomtest.Damage(r, kept)); err != nil {
			t.Fatal(err)
		}
		before := need.Allocated()
		x := semantic.New(f.Workspace, o)
		found, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: "flour oven"}, semantic.Place{}, 3)
		if err != nil || len(found.Notes) == 0 || !slices.ContainsFunc(found.Notes, func(f semantic.Found) bool { return f.Path == "V/a.md" }) {
			t.Errorf("found %v, %v", found.Notes, err)
		}
		if err := x.Save(); err != nil {
			t.Error(err)
		}
		if n := need.Allocated() - before; n > need.MaxBytes {
			t.Errorf("it allocates %d MB", n>>20)
		}
	})
}

// Vectors that could not be saved are saved the next time.
func TestSaveAfterAFailure(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "bread and butter\n"})
	o := semantic.Options{Dir: owner.Folder(filepath.Join(t.TempDir(), "index"))}
	if err := os.WriteFile(string(o.Dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := semantic.New(f.Workspace, o)
	search(t, x, "bread", nil)
	if x.Save() == nil {
		t.Fatal("a file in place of the folder takes the vectors")
	}
	if err := os.Remove(string(o.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := x.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Dir.Path("semantic.gob")); err != nil {
		t.Error(err)
	}
}

// An index that followed many changes answers as one does that was made of the notes as they are.
func TestChangesAreAsNew(t *testing.T) { randomtest.Check(t, 10, changesAreAsNew) }

func changesAreAsNew(t testing.TB, r *rand.Rand) {
	words := strings.Fields("bread butter flour oven river lake boat fish garden lettuce slugs snails chess queen castle engine wheel road")
	text := func() string {
		var b strings.Builder
		for range r.IntN(3) {
			b.WriteString("\n\n# The " + words[r.IntN(len(words))] + "\n\n")
			for range 300 {
				b.WriteString("the " + words[r.IntN(len(words))] + " ")
			}
		}
		return b.String()
	}
	f := bridgetest.New(t, map[string]string{"V/keep.md": "Bread.\n"})
	o := semantic.Options{Dir: owner.Folder(t.TempDir())}
	x := semantic.New(f.Workspace, o)
	answers := func(x *semantic.Index) (list []string) {
		for _, word := range words {
			hits, err := x.Search(t.Context(), word, nil, 50)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				list = append(list, fmt.Sprintf("%s: %s %.6f [%d,%d)", word, h.Path, h.Score, h.Start, h.End))
			}
		}
		return list
	}
	there := make(map[string]bool)
	for range r.IntN(60) {
		p, to := fmt.Sprintf("V/%d.md", r.IntN(12)), fmt.Sprintf("V/%d.md", r.IntN(12))
		switch n := r.IntN(10); {
		case n == 0:
			answers(x)
			if err := x.Save(); err != nil {
				t.Fatal(err)
			}
			x = semantic.New(f.Workspace, o)
		case n == 1 && there[p]:
			f.Delete(p)
			there[p] = false
		case n == 2 && there[p] && !there[to]:
			f.Rename(p, to)
			there[p], there[to] = false, true
		case n < 6:
			answers(x)
		default:
			f.Person(p, text())
			there[p] = true
		}
	}
	got, want := answers(x), answers(semantic.New(f.Workspace, semantic.Options{}))
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Run keeps what there is when it ends.
func TestRun(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "bread and butter\n", "V/b.md": "cars and roads\n"})
	o := semantic.Options{Dir: owner.Folder(t.TempDir())}
	x := semantic.New(f.Workspace, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	search(t, x, "bread", nil)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.Dir.Path("semantic.gob")); err != nil {
		t.Error(err)
	}
}
