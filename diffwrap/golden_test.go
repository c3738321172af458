package diffwrap_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/relayfs/relayfs/diffwrap"
)

var update = flag.Bool("update", false, "rewrite the stored, accepted and rejected parts of testdata/put")

// now is the time of every golden Put.
var now = time.Date(2026, 7, 13, 7, 1, 55, 0, time.UTC)

// visible writes what txtar cannot hold: ␍ is a carriage return, ␠ a blank (at the end of a line), a final ␄ says that
// the text does not end with a line break.
var visible = strings.NewReplacer("␍", "\r", "␠", " ", "␄\n", "")

// TestGolden runs every case of testdata/put: a text before, what a program wrote, and what is stored then, shown as
// accepted and as rejected. The comment on top says which rule of readability the case is about.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/put/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runGolden(t, file, archive)
		})
	}
}

func runGolden(t *testing.T, file string, archive *txtar.Archive) {
	part := make(map[string]string)
	for _, f := range archive.Files {
		part[f.Name] = visible.Replace(string(f.Data))
	}
	options := goldenOptions(t, part["options"])
	if part["options"] != "literal\n" {
		options.Known = knownIn(part["before"])
	}
	result, err := options.Put(part["before"], part["written"])
	if want, refused := part["refused"]; refused {
		var refusal *diffwrap.RefusedError
		if !errors.As(err, &refusal) || refusal.Error()+"\n" != want {
			t.Fatalf("Put: %v\nwant refused: %s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	stored := diffwrap.Apply(part["before"], result.Edits)
	got := map[string]string{
		"stored": stored, "accepted": result.Known.Accepted(stored), "rejected": result.Known.Original(stored),
		"warnings": strings.Join(append(result.Warnings, ""), "\n"),
	}
	if *update {
		updateGolden(t, file, archive, got)
		return
	}
	for _, name := range []string{"stored", "accepted", "rejected", "warnings"} {
		if got[name] != part[name] {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got[name], part[name])
		}
	}
	if again, err := (diffwrap.Options{Known: result.Known}).Put(stored, got["accepted"]); err != nil || len(again.Edits) > 0 {
		t.Errorf("the accepted view written back unchanged: %v %v", again, err)
	}
}

// knownIn has every suggestion and comment of a text.
func knownIn(raw string) diffwrap.Known {
	var offsets []int
	marks, _, _ := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		offsets = append(offsets, m.Start)
	}
	for _, c := range diffwrap.Everything.Comments(raw) {
		offsets = append(offsets, c.Start)
	}
	slices.Sort(offsets)
	return diffwrap.KnownAt(offsets)
}

// goldenOptions reads "dialect author".
func goldenOptions(t *testing.T, line string) diffwrap.Options {
	t.Helper()
	dialect, author, _ := strings.Cut(strings.TrimSpace(line), " ")
	o := diffwrap.Options{Author: author}
	switch dialect {
	case "":
	case diffwrap.Commentator.String():
		o.Dialect, o.Now = diffwrap.Commentator, now
	case diffwrap.RelayComments.String():
		o.Dialect, o.Now = diffwrap.RelayComments, now
	case diffwrap.Plain.String(), "literal": // no mark of before is known
	case "refuse-frontmatter":
		o.FrontMatter = diffwrap.FrontMatterRefuse
	default:
		t.Fatalf("options %q", line)
	}
	return o
}

func updateGolden(t *testing.T, file string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	files := archive.Files[:0:0]
	for _, f := range archive.Files {
		if _, computed := got[f.Name]; !computed {
			files = append(files, f)
		}
	}
	for _, name := range []string{"stored", "accepted", "rejected", "warnings"} {
		if name == "warnings" && got[name] == "" {
			continue
		}
		files = append(files, txtar.File{Name: name, Data: []byte(showInvisible(got[name]))})
	}
	if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: files}), 0o666); err != nil {
		t.Fatal(err)
	}
}

// showInvisible is the inverse of visible.
func showInvisible(s string) string {
	s = strings.ReplaceAll(s, "\r", "␍")
	for strings.Contains(s, " \n") {
		s = strings.ReplaceAll(s, " \n", "␠\n")
		s = strings.ReplaceAll(s, " ␠", "␠␠")
	}
	if !strings.HasSuffix(s, "\n") {
		s += "␄\n"
	}
	return s
}
