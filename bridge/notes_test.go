package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
)

func pathsOf(notes []*index.NoteInfo) string {
	var paths []string
	for _, n := range notes {
		paths = append(paths, string(n.Path))
	}
	return strings.Join(paths, " ")
}

func props(t *testing.T, json string) frontmatter.Properties {
	t.Helper()
	var p frontmatter.Properties
	if err := p.UnmarshalJSON([]byte(json)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNotes(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"V/b.md":     "---\nstatus: done\n---\nOne {++two++} {--three--}\n",
		"V/a.md":     "# H\n#tag\n",
		"V/sub/c.md": "",
		"V/file.txt": "x",
		"W/d.md":     "[[a]]\n",
	})
	for under, want := range map[model.Path]string{
		"": "V/a.md V/b.md V/sub/c.md W/d.md", "V": "V/a.md V/b.md V/sub/c.md", "V/sub": "V/sub/c.md", "V/a.md": "V/a.md",
	} {
		if notes, err := f.Notes(t.Context(), under); err != nil || pathsOf(notes) != want {
			t.Errorf("under %q: %q, %v", under, pathsOf(notes), err)
		}
	}
	if _, err := f.Notes(t.Context(), "V/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
	info, err := f.NoteInfo(t.Context(), "V/b.md")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := info.Properties.Get("status"); status != "done" || info.Words != 2 || info.Size != int64(len("---\nstatus: done\n---\nOne two \n")) {
		t.Errorf("the accepted view is described as %+v", info)
	}
	if _, err := f.NoteInfo(t.Context(), "V/file.txt"); !errors.Is(err, model.ErrNotNote) {
		t.Errorf("a file that is no note: %v", err)
	}
}

func TestNotesFollowChanges(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "#x\n", "V/s/b.md": "#x/y\n"})
	tagged := func(tag, want string) {
		t.Helper()
		notes, err := f.NotesWith(t.Context(), frontmatter.Properties{{Key: "tags", Value: tag}})
		if err != nil || pathsOf(notes) != want {
			t.Errorf("tag %s: %q, %v, want %q", tag, pathsOf(notes), err, want)
		}
	}
	tagged("x", "V/a.md V/s/b.md")
	f.Person("V/a.md", "#z\n")
	tagged("x", "V/s/b.md")
	tagged("z", "V/a.md")
	if _, err := f.Write(t.Context(), "V/a.md", bridge.Write{Text: "#z #x\n"}); err != nil {
		t.Fatal(err)
	}
	tagged("x", "V/a.md V/s/b.md")
	f.Rename("V/s", "V/t")
	tagged("x/y", "V/t/b.md")
	f.Person("V/c.md", "#x\n")
	f.Delete("V/a.md")
	tagged("x", "V/c.md V/t/b.md")
	tagged("z", "")
	pending := 0
	ctx := model.WithProgress(t.Context(), func(_, total int) { pending = total })
	if notes, err := f.Notes(ctx, ""); err != nil || pathsOf(notes) != "V/c.md V/t/b.md" || pending != 0 {
		t.Errorf("notes %q, %v, %d pending", pathsOf(notes), err, pending)
	}
}

func TestNotesWith(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"V/1.md": "---\nStatus: Done\nn: 3\ntags: [work/urgent]\nlist: [a, B]\nempty:\nd: 2024-05-06T08:30\n---\n",
		"V/2.md": "---\nstatus: open\nn: \"3\"\nlist: []\nmap: {k: v}\nmany: [1, 20]\n---\n#Work\n",
		"V/3.md": "---\nstatus: done\nd: 2024-05-06\nn: 10.5\nx: .nan\n---\n",
		"V/4.md": "---\nstatus: [\n---\n#home\n",
	})
	for _, tt := range []struct{ want, found string }{
		{`{"status": "done"}`, "V/1.md V/3.md"},
		{`{"STATUS": "DONE", "n": 3}`, "V/1.md"},
		{`{"n": 3}`, "V/1.md V/2.md"},
		{`{"n": "3"}`, "V/1.md V/2.md"},
		{`{"status": ["open", "done"]}`, "V/1.md V/2.md V/3.md"},
		{`{"status": []}`, ""},
		{`{"tags": "work"}`, "V/1.md V/2.md"},
		{`{"tag": "#work/urgent"}`, "V/1.md"},
		{`{"tags": ["home", "urgent"]}`, "V/4.md"},
		{`{"list": "b"}`, "V/1.md"},
		{`{"list": null}`, "V/2.md"},
		{`{"empty": null}`, "V/1.md"},
		{`{"map": {"=": {"k": "v"}}}`, "V/2.md"},
		{`{"d": "2024-05-06"}`, "V/3.md"},
		{`{"none": "x"}`, ""},
		{`{}`, "V/1.md V/2.md V/3.md V/4.md"},
		{`{"status": {"=": ["OPEN", "x"]}}`, "V/2.md"},
		{`{"status": {"!=": "done"}}`, "V/2.md V/4.md"},
		{`{"status": {"!=": ["done", "open"]}}`, "V/4.md"},
		{`{"tags": {"!=": "work"}}`, "V/3.md V/4.md"},
		{`{"list": {"!=": null}, "status": ["done", "open"]}`, "V/1.md V/3.md"},
		{`{"EMPTY": {"exists": true}}`, "V/1.md"},
		{`{"empty": {"exists": false}}`, "V/2.md V/3.md V/4.md"},
		{`{"tags": {"exists": true}}`, "V/1.md V/2.md V/4.md"},
		{`{"n": {">": 3}}`, "V/3.md"},
		{`{"n": {">=": "3"}}`, "V/1.md V/2.md V/3.md"},
		{`{"n": {">": 3, "<": 10.5}}`, ""},
		{`{"n": {"<=": 10.5, "!=": 3}}`, "V/3.md"},
		{`{"many": {">": 5}}`, "V/2.md"},
		{`{"status": {"<": 5}}`, ""},
		{`{"d": {"<": 5}}`, ""},
		{`{"n": {"<": "2024-05-06"}}`, ""},
		{`{"x": {"<=": 5}}`, ""},
		{`{"d": {"<": "2024-05-06T08:30"}}`, "V/3.md"},
		{`{"d": {"<=": "2024-05-06 08:30"}}`, "V/1.md V/3.md"},
		{`{"d": {">": "2024-05-06"}}`, "V/1.md"},
		{`{"d": {">=": "2024-05-06", "<": "2024-05-07"}, "status": "done"}`, "V/1.md V/3.md"},
	} {
		notes, err := f.NotesWith(t.Context(), props(t, tt.want))
		if err != nil || pathsOf(notes) != tt.found {
			t.Errorf("%s: %q, %v, want %q", tt.want, pathsOf(notes), err, tt.found)
		}
	}
	for want, say := range map[string]string{
		`{"a": {}}`:                         "no operator",
		`{"a": {"=>": 3}}`:                  `"=>" is not an operator`,
		`{"a": {"exists": "yes"}}`:          "true or false",
		`{"a": {"<": "soon"}}`:              "< needs a number, or a date",
		`{"a": {"<": null}}`:                "< needs a number, or a date",
		`{"b": 1, "a": {">=": [1]}}`:        ">= needs a number, or a date",
		`{"a": {"<": "2024-13-01"}}`:        "< needs a number, or a date",
		`{"a": {"<": "2024-01-01", "": 1}}`: `"" is not an operator`,
	} {
		_, err := f.NotesWith(t.Context(), props(t, want))
		var wrong *index.ConditionError
		if !errors.As(err, &wrong) || wrong.Key != "a" || !strings.Contains(wrong.Msg, say) {
			t.Errorf("%s: error %v, want %q", want, err, say)
		}
	}
}

func TestNotesProgress(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "a\n", "V/b.md": "b\n"})
	var heard []int
	ctx := model.WithProgress(t.Context(), func(done, total int) { heard = append(heard, done, total) })
	if _, err := f.Notes(ctx, ""); err != nil || !slices.Equal(heard, []int{0, 2, 1, 2}) {
		t.Errorf("heard %v, %v", heard, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	f.Person("V/a.md", "a #new\n")
	if _, err := f.Notes(cancelled, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	heard = nil
	if notes, err := f.Notes(ctx, "V/a.md"); err != nil || !notes[0].HasTag("new") || !slices.Equal(heard, []int{0, 1}) {
		t.Errorf("after a call that was cancelled: %v, %v, heard %v", notes, err, heard)
	}
}

// manyNotes are n notes of about 4 KB.
func manyNotes(n int) (notes map[string]string, bytes int) {
	notes = make(map[string]string, n)
	prose := strings.Repeat("Some *plain* prose with a [[Link|link]] in it, `code` and a #topic/sub, and then more words.\n\n- an item\n- another\n\n", 32)
	for i := range n {
		p := fmt.Sprintf("Vault/%02d/Note %05d.md", i%50, i)
		notes[p] = fmt.Sprintf("---\ntitle: Note %d\nstatus: %s\ndate: 2024-%02d-%02d\ntags: [area/%d, all]\nrating: %d\n---\n# Note %d\n\n## Part\n\n%s",
			i, []string{"open", "done", "later"}[i%3], i%12+1, i%28+1, i%40, i%5, i, prose)
		bytes += len(notes[p])
	}
	return notes, bytes
}

// BenchmarkNotes prints what the index of 10,000 notes of 4 KB costs: the time to
// build it in all, its memory by that of the text, and the median search.
func BenchmarkNotes(b *testing.B) {
	texts, size := manyNotes(10_000)
	f := bridgetest.New(b, texts)
	for p := range texts {
		if _, err := f.Open(b.Context(), model.Path(p)); err != nil {
			b.Fatal(err)
		}
	}
	before, start := heap(), time.Now()
	if _, err := f.Notes(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	share := float64(heap()-before) / float64(size)
	b.Run("build", func(b *testing.B) {
		for b.Loop() { // built above, once
		}
		b.ReportMetric(took.Seconds(), "build-s")
		b.ReportMetric(share, "memory/text")
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if notes, err := f.Notes(b.Context(), ""); err != nil || len(notes) != len(texts) {
				b.Fatal(err)
			}
		}
	})
	for name, want := range map[string]string{"one in three": `{"status": "done"}`, "two": `{"tags": "area/7", "rating": 2}`, "all": `{"tags": ["all"]}`} {
		b.Run("search/"+name, func(b *testing.B) {
			var p frontmatter.Properties
			if err := p.UnmarshalJSON([]byte(want)); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := f.NotesWith(b.Context(), p); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
