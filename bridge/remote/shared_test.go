package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// typist is a person who types in notes of a server through Yjs.
type typist struct {
	t    testing.TB
	s    *server
	docs map[string]*ycrdt.Doc
}

func (s *server) typist(t testing.TB) *typist {
	return &typist{t: t, s: s, docs: make(map[string]*ycrdt.Doc)}
}

// people has connections of its own: the end of any httptest.Server breaks requests of the default client.
var people = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// sync sends what the server lacks of a document, before it receives anything, and returns the document.
func (p *typist) sync(name string) *ycrdt.Doc {
	p.t.Helper()
	doc := p.docs[name]
	if doc == nil {
		doc = ycrdt.NewDoc(ycrdt.Options{})
		p.docs[name] = doc
	}
	url := "http://127.0.0.1:" + p.s.port + "/d/" + name
	res, err := people.Post(url+"/update", "application/octet-stream", bytes.NewReader(doc.EncodeStateAsUpdate(nil)))
	noError(p.t, err)
	res.Body.Close()
	res, err = people.Get(url + "/as-update")
	noError(p.t, err)
	update, err := io.ReadAll(res.Body)
	res.Body.Close()
	noError(p.t, err)
	noError(p.t, doc.ApplyUpdate(update))
	return doc
}

// note returns the document of the note at path, nil if the server lists none.
func (p *typist) note(path string) (name string, doc *ycrdt.Doc) {
	p.t.Helper()
	e, ok := folderdoc.Open(p.sync(p.s.folder)).Get(path)
	if !ok {
		return "", nil
	}
	name = transport.DocumentName(p.s.folder, e.ID)
	return name, p.sync(name)
}

// create makes a note.
func (p *typist) create(path, text string) {
	p.t.Helper()
	id := folderdoc.NewID()
	name := transport.DocumentName(p.s.folder, id)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	p.docs[name] = doc
	contents := doc.Text(model.ContentsName)
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, 0, text) })
	p.sync(name)
	_, err := folderdoc.Open(p.sync(p.s.folder)).Create(folderdoc.Entry{Path: path, ID: id, Type: folderdoc.TypeMarkdown})
	noError(p.t, err)
	p.sync(p.s.folder)
}

// typeBehind types text behind the first occurrence of another in a note.
func (p *typist) typeBehind(path, behind, text string) {
	p.t.Helper()
	name, doc := p.note(path)
	contents := doc.Text(model.ContentsName)
	before, _, ok := strings.Cut(contents.String(), behind)
	if !ok {
		p.t.Fatalf("%q is not in %q", behind, contents.String())
	}
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, len(before)+len(behind), text) })
	p.sync(name)
}

// shown is what a mount shows of the pending suggestions of a note.
func (c *client) shown(p model.Path) (list []string) {
	c.t.Helper()
	found, err := c.Suggestions(c.t.Context(), p)
	noError(c.t, err)
	for _, s := range found {
		list = append(list, fmt.Sprintf("%s %v %q %q by %s in %s, %v, on line %d", s.ID, s.Kind, s.Old, s.New, s.Author, s.Session, s.Time.UTC(), s.Line))
	}
	return list
}

// both waits until two mounts show the same text and suggestions.
func both(a, b *client, p model.Path) {
	a.t.Helper()
	state := func(c *client) string {
		v, err := c.Open(c.t.Context(), p)
		if err != nil {
			return err.Error()
		}
		return v.Raw() + "\n---\n" + strings.Join(c.shown(p), "\n")
	}
	deadline := time.Now().Add(a.patience)
	for {
		one, other := state(a), state(b)
		if one == other {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("one mount shows\n%s\nand the other one\n%s", one, other)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// meet waits until two mounts have sent everything and show the same.
func meet(a, b *client, p model.Path) {
	a.t.Helper()
	a.awaitSent()
	b.awaitSent()
	both(a, b, p)
}

// twoMounts opens two mounts of a note, for which an agent of the second one proposes another text.
func twoMounts(t *testing.T, n model.Path, text, changed string) (s *server, here, there *client) {
	t.Helper()
	s = startServer(t, "relay-server")
	here, there = mustOpen(t, s, structured), mustOpen(t, s, structured)
	s.typist(t).create(n.Base(), text)
	here.awaitText(n, text)
	there.awaitText(n, text)
	there.write(n, func(string) string { return changed })
	there.awaitSent()
	both(here, there, n)
	return s, here, there
}

func structured(o *remote.Options, b *bridge.Options) { b.Mode = bridge.Suggest }

// An agent deletes words on one mount, a person types inside of the deletion, and somebody decides on another mount: what the person typed
// stays, and the other mount knows whose the suggestion was.
func TestDecidedElsewhere(t *testing.T) {
	t.Parallel()
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		t.Run(string(verdict), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "relay-server")
			here, there := mustOpen(t, s, structured), mustOpen(t, s, structured)
			person := s.typist(t)
			person.create("n.md", "one two three four\n")
			there.awaitText("Team/n.md", "one two three four\n")
			here.awaitText("Team/n.md", "one two three four\n")
			there.write("Team/n.md", func(text string) string { return strings.Replace(text, "two three ", "", 1) })
			there.awaitSent()
			both(here, there, "Team/n.md")
			list, err := here.Suggestions(t.Context(), "Team/n.md")
			noError(t, err)
			if len(list) != 1 || list[0].Author != "ai" || list[0].Session != "s" {
				t.Fatalf("the other mount shows %+v", list)
			}
			person.typeBehind("n.md", "two ", "mine ")
			here.await("the person's word", func() bool {
				v, err := here.Open(t.Context(), "Team/n.md")
				return err == nil && strings.Contains(v.Raw(), "mine")
			})
			both(here, there, "Team/n.md")
			out, err := here.Decide(t.Context(), []string{list[0].ID}, verdict, model.Author{Name: "person"})
			noError(t, err)
			if len(out.Decided) != 1 {
				t.Fatalf("decided %+v", out)
			}
			want := map[model.Verdict]string{model.Accepted: "one mine four\n", model.Rejected: "one two mine three four\n"}[verdict]
			here.awaitText("Team/n.md", want)
			there.awaitText("Team/n.md", want)
			both(here, there, "Team/n.md")
			if _, err := here.Undo(t.Context(), "", model.Author{Name: "person"}); err != nil {
				t.Fatal(err)
			}
			there.await("the undo", func() bool { return len(there.shown("Team/n.md")) == 1 })
			both(here, there, "Team/n.md")
			again, err := there.Suggestions(t.Context(), "Team/n.md")
			noError(t, err)
			if again[0].ID != list[0].ID || again[0].Author != "ai" || !again[0].Time.Equal(list[0].Time) {
				t.Errorf("after an undo there is %+v, was %+v", again[0], list[0])
			}
		})
	}
}

// Two mounts decide one suggestion while the server is down, and one or both undo that. Afterwards no word is there twice, and
// no text of an agent counts without an acceptance. If all is undone, the suggestion is as before.
func TestDecidedOnBothSides(t *testing.T) {
	t.Parallel()
	const n, text, changed = "Team/n.md", "one two three four\n", "one TWO three four\n"
	sides := []string{"accept", "reject", "accept undo", "reject undo", "accept undo reject", "reject undo accept"}
	for _, onHere := range sides {
		for _, onThere := range sides {
			t.Run(onHere+" and "+onThere, func(t *testing.T) {
				t.Parallel()
				s, here, there := twoMounts(t, n, text, changed)
				list := here.shown(n)
				do := func(c *client, what string) {
					if what == "undo" {
						_, err := c.Undo(t.Context(), "", model.Author{Name: "person"})
						noError(t, err)
						return
					}
					found, err := c.Suggestions(t.Context(), n)
					noError(t, err)
					_, err = c.Decide(t.Context(), []string{found[0].ID}, model.Verdict(what+"ed"), model.Author{Name: "person"})
					noError(t, err)
				}
				port := s.lose(here, there)
				stands := map[*client]string{here: onHere, there: onThere}
				for c, all := range stands {
					for what := range strings.FieldsSeq(all) {
						do(c, what)
						stands[c] = what
					}
				}
				s.start(port)
				check := func() {
					meet(here, there, n)
					v, err := here.Open(t.Context(), n)
					noError(t, err)
					one, other := stands[here], stands[there]
					original := v.Known().Original(v.Canonical())
					for _, word := range []string{"two", "TWO"} {
						if strings.Count(v.Text(), word) > 1 || strings.Count(original, word) > 1 {
							t.Errorf("%q, %q and %v", v.Raw(), v.Text(), here.shown(n))
						}
					}
					switch {
					case one == "undo" && other == "undo" && !slices.Equal(here.shown(n), list),
						one != "accept" && other != "accept" && v.Text() != text && len(here.shown(n)) == 0,
						one != "reject" && other != "reject" && v.Text() != changed:
						t.Errorf("%s here and %s there: %q, %q and %v", one, other, v.Raw(), v.Text(), here.shown(n))
					}
				}
				check()
				for _, c := range []*client{here, there} {
					if stands[c] != "undo" {
						do(c, "undo")
						stands[c] = "undo"
						check()
					}
				}
				do(here, "reject")
				meet(here, there, n)
				v, err := here.Open(t.Context(), n)
				noError(t, err)
				if v.Raw() != text {
					t.Errorf("rejected in the end, the note is %q", v.Raw())
				}
			})
		}
	}
}

// An agent extends its suggestion on one mount while a user accepts the suggestion on another mount. What the agent has added
// waits for a decision of its own.
func TestAcceptedWhileExtended(t *testing.T) {
	t.Parallel()
	const n, text = "Team/n.md", "one two three four five\n"
	for name, texts := range map[string][3]string{ // proposed, extended, and what the extension alone would make of the accepted text
		"at the end of an addition":      {"one two ADDED three four five\n", "one two ADDED MORE three four five\n", "one two ADDED three four five\n"},
		"at the start of an addition":    {"one two ADDED three four five\n", "one two MORE ADDED three four five\n", "one two ADDED three four five\n"},
		"within an addition":             {"one two ADDED BEFORE three four five\n", "one two ADDED MORE BEFORE three four five\n", "one two ADDED BEFORE three four five\n"},
		"within the text of replacement": {"one two ADDED BEFORE four five\n", "one two ADDED MORE BEFORE four five\n", "one two ADDED BEFORE four five\n"},
	} {
		for _, first := range []string{"accepted", "extended"} {
			t.Run(name+", "+first+" first", func(t *testing.T) {
				t.Parallel()
				s, here, there := twoMounts(t, n, text, texts[0])
				typist := s.typist(t)
				port := s.lose(here, there)
				do := map[string]func(){
					"accepted": func() {
						_, err := here.Decide(t.Context(), []string{here.suggestion(n).ID}, model.Accepted, model.Author{Name: "person"})
						noError(t, err)
					},
					"extended": func() { there.write(n, func(string) string { return texts[1] }) },
				}
				do[first]()
				for name, action := range do {
					if name != first {
						action()
					}
				}
				s.start(port)
				check := func(c *client, shown, original string, pending int) {
					t.Helper()
					meet(here, there, n)
					v, err := c.Open(t.Context(), n)
					noError(t, err)
					if got := v.Known().Original(v.Canonical()); v.Text() != shown || got != original || len(c.shown(n)) != pending {
						t.Fatalf("%q is shown as %q, want %q; the original is %q, want %q; %v", v.Raw(), v.Text(), shown, got, original, c.shown(n))
					}
				}
				check(here, texts[1], texts[2], 1)
				more := here.suggestion(n)
				if more.Author != "ai" || more.Session != "s" || strings.TrimSpace(more.New) != "MORE" {
					t.Errorf("what was added later is %+v", more)
				}
				_, err := here.Decide(t.Context(), []string{more.ID}, model.Accepted, model.Author{Name: "person"}) // changes no text
				noError(t, err)
				check(there, texts[1], texts[1], 0)
				_, err = here.Undo(t.Context(), "", model.Author{Name: "person"})
				noError(t, err)
				check(there, texts[1], texts[2], 1)
				// A write elsewhere draws the marks. If a user takes them away by hand later, the text is the user's.
				there.write(n, func(text string) string { return strings.Replace(text, "one", "ONE", 1) })
				check(here, strings.Replace(texts[1], "one", "ONE", 1), texts[2], 2)
				reject := func(c *client, pick func(model.Suggestion) bool) {
					found, err := c.Suggestions(t.Context(), n)
					noError(t, err)
					i := slices.IndexFunc(found, pick)
					if i < 0 {
						t.Fatalf("no such suggestion in %v", c.shown(n))
					}
					_, err = c.Decide(t.Context(), []string{found[i].ID}, model.Rejected, model.Author{Name: "person"})
					noError(t, err)
				}
				reject(there, func(s model.Suggestion) bool { return strings.Contains(s.New, "ONE") })
				check(here, texts[1], texts[2], 1)
				reject(here, func(s model.Suggestion) bool { return strings.Contains(s.New, "MORE") })
				check(there, texts[2], texts[2], 0)
				_, err = here.Undo(t.Context(), "", model.Author{Name: "person"})
				noError(t, err)
				check(there, texts[1], texts[2], 1)
				_, doc := typist.note("n.md")
				contents := doc.Text(model.ContentsName)
				for _, d := range []string{"++}", "{++"} {
					at := strings.Index(contents.String(), d)
					doc.Transact(func(tx *ycrdt.Txn) { contents.Delete(tx, at, len(d)) })
				}
				typist.note("n.md")
				here.await("the text without marks", func() bool { return len(here.shown(n)) == 0 })
				check(here, texts[1], texts[1], 0)
			})
		}
	}
}

// suggestion is the only pending suggestion of a note.
func (c *client) suggestion(p model.Path) model.Suggestion {
	c.t.Helper()
	found, err := c.Suggestions(c.t.Context(), p)
	noError(c.t, err)
	if len(found) != 1 {
		c.t.Fatalf("%d suggestions: %v", len(found), c.shown(p))
	}
	return found[0]
}

// A root of facts that relayfs has not written changes nothing, and costs little.
func TestHostileFacts(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	c := mustOpen(t, s, structured)
	person := s.typist(t)
	person.create("n.md", "one two three four\n")
	c.awaitText("Team/n.md", "one two three four\n")
	c.write("Team/n.md", func(text string) string { return strings.Replace(text, "two ", "", 1) })
	c.awaitSent()
	want := c.shown("Team/n.md")
	name, doc := person.note("n.md")
	hostile := ycrdt.NewDoc(ycrdt.Options{ClientID: 9})
	noError(t, hostile.ApplyUpdate(doc.EncodeStateAsUpdate(nil)))
	m := hostile.Map(facts.Name)
	run := `[%d,%d,1]`
	many := 15_000
	if need.Raced() {
		many = 3000
	}
	var runs []string
	for i := range many {
		runs = append(runs, fmt.Sprintf(run, 77, 200_000-2*i))
	}
	descending := strings.Join(runs, ",")
	values := []any{
		nil, 7, "", "{", []any{1}, map[string]any{"author": "x"}, []byte{1}, ycrdt.NewMap(nil), strings.Repeat("[", 1<<20), "null",
		`{"client":9,"marks":[{"add":[[0,0,9]]}]}`, `{"client":9,"marks":[{"add":[[5,9007199254740991,9007199254740991]]}]}`,
		`{"client":9,"author":"a\u0000b"}`, `{"client":9,"author":"` + strings.Repeat("x", 1<<10) + `"}`,
		`{"client":9,"decision":{"runs":[{"at":[5,5,5],"role":3,"mark":0}],"marks":[{"item":7}]}}`,
		`{"client":9,"decision":{"runs":[{"at":[5,5,5],"role":3,"mark":-1}]}}`,
		`{"client":9,"returned":[{"old":[5,5,5],"new":[6,6,1000000]}]}`,
		`{"client":9,"author":"x","marks":[{"add":[` + descending + `]}]}`, `{"client":9,"author":"x","marks":[{"del":[` + descending + `]}]}`,
		`{"client":9,"author":"x","returned":[{"old":[77,0,400000],"new":[78,0,400000]},{"old":[78,0,400000],"new":[77,0,400000]}]}`,
	}
	hostile.Transact(func(tx *ycrdt.Txn) {
		for i, v := range values {
			noError(t, m.Set(tx, fmt.Sprintf("%d-9", i+1), v))
			if text, ok := v.(string); ok {
				noError(t, m.Set(tx, fmt.Sprintf("0%d-9", i+1), text))
				noError(t, m.Set(tx, fmt.Sprintf("99999999999999999999%d-9", i+1), text))
			}
		}
		for i := range many {
			one := fmt.Sprintf(`{"client":9,"author":"x","clock":%d,"len":1,"marks":[{"add":[[77,%d,1]]}]}`, 2*i, 200_000-2*i)
			noError(t, m.Set(tx, fmt.Sprintf("%d-9", i+100), one))
		}
	})
	noError(t, doc.ApplyUpdate(hostile.EncodeStateAsUpdate(nil)))
	doc.Transact(func(tx *ycrdt.Txn) {
		for i := range 2000 { // what another client says that 9 has done
			noError(t, doc.Map(facts.Name).Set(tx, fmt.Sprintf("%d-9", i+15_100), fmt.Sprintf(`{"client":9,"author":"x","clock":%d,"len":1}`, i)))
		}
		doc.Text(model.ContentsName).Insert(tx, 0, "x ")
	})
	start := time.Now()
	person.sync(name)
	c.await("the change", func() bool {
		v, err := c.Open(t.Context(), "Team/n.md")
		return err == nil && strings.HasPrefix(v.Raw(), "x ")
	})
	if took := time.Since(start); took > need.Scaled(5*time.Second) && !need.Raced() {
		t.Errorf("reading took %v", took)
	}
	if got := c.shown("Team/n.md"); !slices.Equal(got, want) {
		t.Errorf("it shows %q, before %q", got, want)
	}
	c.write("Team/n.md", func(text string) string { return text + "more\n" })
	c.awaitSent()
	other := mustOpen(t, s, structured)
	other.await("the note", func() bool { _, err := other.Open(t.Context(), "Team/n.md"); return err == nil })
	both(c, other, "Team/n.md")
}

// An agent extends its suggestion on one mount while a user rejects the suggestion on the other one. All of its text is
// rejected, although no mark is left in the note.
func TestRejectedWhileExtended(t *testing.T) {
	t.Parallel()
	const n, text = "Team/n.md", "one two\n"
	s, here, there := twoMounts(t, n, text, text+"three\n")
	port := s.lose(here, there)
	found, err := here.Suggestions(t.Context(), n)
	noError(t, err)
	_, err = here.Decide(t.Context(), []string{found[0].ID}, model.Rejected, model.Author{Name: "person"})
	noError(t, err)
	there.write(n, func(text string) string { return text + "four\n" })
	s.start(port)
	meet(here, there, n)
	for _, c := range []*client{here, there} {
		c.await("the rejection", func() bool {
			v, err := c.Open(t.Context(), n)
			return err == nil && v.Canonical() == text && v.Text() == text
		})
	}
	here.write(n, func(text string) string { return "zero " + text })
	here.awaitSent()
	there.awaitText(n, "{++zero ++}"+text)
}

// A new note of an agent is rejected on one mount, while the agent and a user change it elsewhere. The user's word stays, and an undo
// brings the note back as it was rejected.
func TestNewNoteRejectedWhileEdited(t *testing.T) {
	t.Parallel()
	const n = "Team/n.md"
	for _, first := range []string{"rejected", "edited"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			s, here, there := twoMounts(t, "Team/other.md", "other\n", "OTHER\n")
			there.create(n, "one two three\n")
			there.awaitSent()
			here.await("the note", func() bool { _, err := here.Open(t.Context(), n); return err == nil })
			both(here, there, n)
			typist := s.typist(t)
			name, doc := typist.note("n.md")
			port := s.lose(here, there)
			do := map[string]func(){
				"rejected": func() {
					_, err := here.Decide(t.Context(), []string{here.suggestion(n).ID}, model.Rejected, model.Author{Name: "person"})
					noError(t, err)
				},
				"edited": func() {
					_, err := there.Update(t.Context(), n, model.Author{Name: "ai"}, nil, func(v *model.Version) (string, error) {
						return strings.Replace(v.Text(), "two", "two MORE", 1), nil
					})
					noError(t, err)
					contents := doc.Text(model.ContentsName)
					at := strings.Index(contents.String(), "two") + len("two")
					doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, at, " USER") })
				},
			}
			do[first]()
			for name, action := range do {
				if name != first {
					action()
				}
			}
			s.start(port)
			typist.sync(name)
			check := func(want string, pending int) {
				t.Helper()
				for _, c := range []*client{here, there} {
					c.awaitSent()
					c.await(fmt.Sprintf("%q", want), func() bool {
						v, err := c.Open(t.Context(), n)
						return err == nil && v.Text() == want && v.Known().Original(v.Canonical()) == " USER"
					})
				}
				both(here, there, n)
				if len(here.shown(n)) != pending {
					t.Fatalf("suggestions: %v", here.shown(n))
				}
			}
			check(" USER", 0)
			_, err := here.Undo(t.Context(), "", model.Author{Name: "person"})
			noError(t, err)
			check("one two USER three\n", 1)
		})
	}
}
