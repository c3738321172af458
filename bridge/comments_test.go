package bridge_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// TestCommentsWait decides on comments of agents, in files and in live documents,
// among suggestions of two authors.
func TestCommentsWait(t *testing.T) {
	const before = "One two 🦊 three.\n"
	const written = "One two{>>why?<<} 🦊 three.\n"
	const both = "One two{>>why?<<} 🦊 {--three--}{++four++}.\n"
	bob := model.Author{Name: "bob", Session: "s2"}
	inFile := bridgetest.New(t, map[string]string{"Notes/Note.md": before})
	inLive, live := openLive(t, map[string]string{"Note.md": before})
	for _, tc := range []struct {
		name string
		f    *bridgetest.Fixture
		path model.Path
	}{{"file", inFile, "Notes/Note.md"}, {"live", inLive, "Team/Note.md"}} {
		t.Run(tc.name, func(t *testing.T) {
			write := func(author model.Author, text string) {
				t.Helper()
				if _, err := tc.f.Write(t.Context(), tc.path, bridge.Write{Text: text, By: author}); err != nil {
					t.Fatal(err)
				}
			}
			check := func(what, raw string, authors ...string) []string {
				t.Helper()
				v, err := tc.f.Open(t.Context(), tc.path)
				if err != nil || v.Raw() != raw {
					t.Errorf("%s: %v, raw %q, want %q", what, err, v.Raw(), raw)
				}
				list, err := tc.f.Suggestions(t.Context(), tc.path)
				if err != nil || len(list) != len(authors) {
					t.Fatalf("%s: suggestions %+v, %v, want %q", what, list, err, authors)
				}
				var ids []string
				for i, s := range list {
					ids = append(ids, s.ID)
					if s.Author != authors[i] {
						t.Errorf("%s: %+v is by %q, want %q", what, s, s.Author, authors[i])
					}
				}
				return ids
			}
			decide := func(verdict model.Verdict, ids ...string) {
				t.Helper()
				if out, err := tc.f.Decide(t.Context(), ids, verdict, person); err != nil || len(out.Decided) != len(ids) {
					t.Fatalf("Decide = %+v, %v", out, err)
				}
			}
			undo := func() {
				t.Helper()
				if _, err := tc.f.Undo(t.Context(), "", person); err != nil {
					t.Fatal(err)
				}
			}
			write(ann, written)
			ids := check("written", written, "ann")
			decide(model.Accepted, ids...)
			check("accepted", written)
			undo()
			if again := check("taken back", written, "ann"); again[0] != ids[0] {
				t.Errorf("the comment is %s, was %s", again[0], ids[0])
			}
			decide(model.Rejected, ids...)
			check("rejected", before)
			undo()
			check("rejection taken back", written, "ann")
			write(bob, diffwrap.Accepted(both))
			ids = check("two authors", both, "ann", "bob")
			decide(model.Accepted, ids...)
			check("both accepted", diffwrap.Accepted(both))
		})
	}
	peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) { text.Insert(tx, 0, "{>>a person's<<} ") })
	if list, err := inLive.Suggestions(t.Context(), "Team"); err != nil || len(list) != 0 {
		t.Errorf("a person's comment is listed: %+v, %v", list, err)
	}
}

// A person's comment on text in a link is placed after the link.
func TestPersonCommentsOnALink(t *testing.T) {
	for quote, before := range map[string]string{
		"the plan": "See [[Plan|the plan]]", "Plan|the": "See [[Plan|the plan]]", "[md": "See [[Plan|the plan]], [md](Plan.md)", "ref": "See [[Plan|the plan]], [md](Plan.md), [ref][r]",
	} {
		f := bridgetest.New(t, map[string]string{"Notes/Note.md": "See [[Plan|the plan]], [md](Plan.md), [ref][r].\n\n[r]: Plan.md\n"})
		if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: "Notes/Note.md", Quote: quote}, "why?", person); err != nil {
			t.Errorf("on %q: %v", quote, err)
		}
		if got, _, ok := strings.Cut(f.SourceText("Notes/Note.md"), "{>>"); !ok || got != before {
			t.Errorf("on %q: the comment is after %q, want %q", quote, got, before)
		}
	}
}

// A person's comment breaks no block ID, marker or definition.
func TestPersonCommentsBesideMarkers(t *testing.T) {
	for _, tt := range []struct{ text, quote, want string }{ // want is "" if the comment is refused
		{"Para one ^pid\n", "one ^pid", "Para one{>>} ^pid\n"},
		{"Para {++more ++}one ^pid\n", "more one ^pid", "Para {++more ++}one{>>} ^pid\n"},
		{"Para{>>old<<} ^pid\n", "^pid", "Para{>>old<<}{>>} ^pid\n"},
		{"Para {++one ^pid++}\n", "one", ""},
		{"- [ ] a\n", "- [ ]", ""},
		{"[r]: Plan.md\n", "Plan", ""},
		{"```\na\n```\n", "a", ""},
	} {
		f := bridgetest.New(t, map[string]string{"Notes/Note.md": tt.text})
		_, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: "Notes/Note.md", Quote: tt.quote}, "why?", person)
		got := f.SourceText("Notes/Note.md")
		if tt.want == "" {
			if err == nil || got != tt.text {
				t.Errorf("%q, on %q: %q, %v, want an error", tt.text, tt.quote, got, err)
			}
			continue
		}
		before, after, _ := strings.Cut(tt.want, "{>>}")
		if err != nil || !strings.HasPrefix(got, before+"{>>") || !strings.HasSuffix(got, "<<}"+after) || !strings.Contains(got, "why?") {
			t.Errorf("%q, on %q: %q, %v, want %q", tt.text, tt.quote, got, err, tt.want)
		}
	}
}
