package remote_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// TestConformance holds relayfs to what clients of Relay, y-sweet, y-websocket and
// Hocuspocus rely on, point by point.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, point := range []struct {
		name string
		test func(*testing.T)
	}{
		{"01 a note is entered in both maps in one transaction, after its content", enteredOnce},
		{"02 a move is one transaction and keeps the id", movedOnce},
		{"03 the move of a folder moves every key in it", folderMovedOnce},
		{"04 keys with empty elements are never written, and not served", noEmptyElements},
		{"05 the id that is at a path already is adopted", idAdopted},
		{"06 an entry in docs only is a note", legacyEntry},
		{"07 a Markdown entry without its twin in docs is none", entryWithoutTwin},
		{"08 an empty note has a struct", emptyNote},
		{"09 awareness and 102 are echoed", echoed},
		{"10 step 1 is sent anew now and then", stepOneAgain},
		{"11 a connection closed with 1008 comes back with another token", tokenRenewal},
		{"12 queries of subdocs have at most 100 names", queryPages},
		{"13 a save that changes a note in many places changes it there", manyHunks},
		{"14 a save deletes only what it changes", minimalDiff},
		{"15 positions count UTF-16 units", utf16Positions},
		{"16 suggestions of both dialects are read and decided on", bothDialects},
		{"17 the users map of a server does not touch the text", usersOfServer},
		{"18 a change of front matter is mirrored in its map, in one transaction", frontMatterMap},
		{"19 a front matter map that is not in use stays so", noFrontMatterMap},
		{"20 of a property that a person and an agent change at once, the person's value stays", contestedProperty},
	} {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()
			point.test(t)
		})
	}
}

// pair is a person and a client of a y-websocket server.
func pair(t *testing.T) (*person, *client) {
	t.Helper()
	s := sharedServer(t, "y-websocket")
	p := s.person()
	p.do("list", nil) // it watches from now on
	return p, mustOpen(t, s, direct)
}

// transaction is what one transaction changed in the folder's document.
type transaction struct{ Docs, Meta []string }

// keys are those that one transaction, the first that has path, changed in both maps.
func (p *person) keys(path string) []string {
	p.t.Helper()
	var all []transaction
	p.do("transactions", nil, &all)
	for _, tx := range all {
		if slices.Contains(tx.Docs, path) || slices.Contains(tx.Meta, path) {
			both := slices.DeleteFunc(slices.Clone(tx.Meta), func(k string) bool { return !slices.Contains(tx.Docs, k) })
			return both
		}
	}
	p.t.Fatalf("no transaction has %s: %v", path, all)
	return nil
}

func (p *person) id(path string) string {
	p.t.Helper()
	var list []struct{ Path, ID string }
	p.do("list", nil, &list)
	for _, e := range list {
		if e.Path == path {
			return e.ID
		}
	}
	p.t.Fatalf("nothing at %s", path)
	return ""
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func enteredOnce(t *testing.T) {
	p, c := pair(t)
	c.create("Team/New.md", "new\n")
	p.do("awaitText", args{"path": "New.md", "text": "new\n"})
	want(t, "keys of the entry", p.keys("/New.md"), []string{"/New.md"})
	p.clean() // it looked into the document when it saw the entry
}

func movedOnce(t *testing.T) {
	p, c := pair(t)
	c.create("Team/Old.md", "x\n")
	p.do("has", args{"path": "Old.md"})
	id := p.id("Old.md")
	c.rename("Team/Old.md", "Team/New.md")
	p.do("has", args{"path": "New.md"})
	p.keys("/Old.md")
	if got := p.id("New.md"); got != id {
		t.Errorf("id is %s, want %s", got, id)
	}
	c.rename("Team/New.md", "Team/Newer.md")
	p.do("has", args{"path": "Newer.md"})
	want(t, "keys of the move", p.keys("/Newer.md"), []string{"/New.md", "/Newer.md"})
	p.clean()
}

func folderMovedOnce(t *testing.T) {
	p, c := pair(t)
	c.create("Team/a/One.md", "1\n")
	c.create("Team/a/b/Two.md", "2\n")
	p.do("has", args{"path": "a/One.md"})
	p.do("has", args{"path": "a/b/Two.md"})
	c.rename("Team/a", "Team/z")
	p.do("has", args{"path": "z/One.md"})
	want(t, "keys of the move", p.keys("/z/One.md"), []string{"/a/One.md", "/a/b/Two.md", "/z/One.md", "/z/b/Two.md"})
	p.do("gone", args{"path": "a"})
	p.clean()
}

func noEmptyElements(t *testing.T) {
	p, c := pair(t)
	c.create("Team//x.md", "x\n")
	c.create("Team/a//x.md", "x\n")
	p.do("has", args{"path": "a/x.md"})
	p.clean()
	for _, key := range []string{"/", "//", "//x.md", "/a//x.md"} {
		p.do("raw", args{"map": "docs", "key": key, "value": "id"})
		p.do("raw", args{"map": "filemeta_v0", "key": key, "value": args{"id": "id", "version": 0, "type": "markdown"}})
	}
	p.do("create", args{"path": "Good.md", "text": "good\n"})
	c.awaitText("Team/Good.md", "good\n")
	if list, err := c.ReadDir(t.Context(), "Team"); err != nil || len(list) != 3 {
		t.Errorf("folder has %v, %v", list, err)
	}
}

func idAdopted(t *testing.T) {
	s := startServer(t, "y-websocket")
	p := s.person()
	p.do("create", args{"path": "Other.md", "text": "other\n"})
	dir := t.TempDir()
	c, err := open(t, s.address(), s.folder, dir, direct)
	noError(t, err)
	c.awaitText("Team/Other.md", "other\n")
	port := s.lose(c)
	c.create("Team/Note.md", "by the agent\n")
	c.stop()
	p.do("raw", args{"map": "docs", "key": "/Gone.md", "value": "gone"}) // that it works offline
	s.start(port)
	q := s.person()
	q.do("create", args{"path": "Note.md", "text": "by a person\n", "id": "note-of-a-person"})
	c, err = open(t, s.address(), s.folder, dir, direct)
	noError(t, err)
	c.awaitText("Team/Note.md", "by a person\n\nby the agent\n")
	if id := q.id("Note.md"); id != "note-of-a-person" {
		t.Errorf("id is %s", id)
	}
}

func legacyEntry(t *testing.T) {
	p, c := pair(t)
	p.do("legacy", args{"path": "Old.md", "text": "old\n"})
	c.awaitText("Team/Old.md", "old\n")
}

func entryWithoutTwin(t *testing.T) {
	p, c := pair(t)
	p.do("raw", args{"map": "filemeta_v0", "key": "/Half.md", "value": args{"id": "half", "version": 0, "type": "markdown"}})
	p.do("create", args{"path": "Whole.md", "text": "whole\n"})
	c.awaitText("Team/Whole.md", "whole\n")
	if _, err := c.Stat(t.Context(), "Team/Half.md"); err == nil {
		t.Error("half an entry is a note")
	}
}

func emptyNote(t *testing.T) {
	p, c := pair(t)
	c.create("Team/Empty.md", "")
	p.do("awaitText", args{"path": "Empty.md", "text": ""})
	p.clean()
}

func echoed(t *testing.T) {
	s := startServer(t, "relay-server")
	conn, _, err := websocket.Dial(t.Context(), s.url()+"/d/"+s.folder+"/ws/"+s.folder, nil)
	noError(t, err)
	defer conn.CloseNow()
	awareness := ysync.AppendAwareness(nil, ysync.EncodeAwareness(7, 1, []byte(`{"user":"me"}`)))
	echo := ysync.AppendEcho(nil, []byte("now"))
	for _, frame := range [][]byte{awareness, echo} {
		noError(t, conn.Write(t.Context(), websocket.MessageBinary, frame))
	}
	var seen []string
	for !slices.Contains(seen, string(awareness)) || !slices.Contains(seen, string(echo)) {
		_, frame, err := conn.Read(t.Context())
		noError(t, err)
		seen = append(seen, string(frame))
	}
}

func stepOneAgain(t *testing.T) {
	s := sharedServer(t, "y-websocket")
	p := s.person()
	p.do("create", args{"path": "Note.md", "text": "one\n"})
	proxy := newChaos(t, s)
	proxy.calm.Store(true)
	c, err := open(t, proxy.address(s), s.folder, t.TempDir(), direct, func(o *remote.Options, _ *bridge.Options) { o.Resync = time.Second })
	noError(t, err)
	c.awaitText("Team/Note.md", "one\n")
	proxy.deaf.Store(true)
	p.do("insert", args{"path": "Note.md", "at": 0, "text": "zero "})
	c.awaitText("Team/Note.md", "zero one\n")
}

func queryPages(t *testing.T) {
	const notes = 250
	s := startFilled(t, notes)
	dir := t.TempDir()
	c, err := open(t, s.address(), s.folder, dir, direct)
	noError(t, err)
	c.await("the notes", func() bool { return c.source.SyncStatus().Unfetched == 0 && known(c) == notes })
	c.stop()
	proxy := newChaos(t, s)
	proxy.calm.Store(true)
	var asked, most atomic.Int64
	proxy.heard = func(frame []byte) {
		if f, err := ysync.Decode(frame); err == nil && f.Type == ysync.QuerySubdocs {
			asked.Add(int64(len(f.Names)))
			most.Store(max(most.Load(), int64(len(f.Names))))
		}
	}
	c, err = open(t, proxy.address(s), s.folder, dir, direct)
	noError(t, err)
	c.await("all queries", func() bool { return asked.Load() == notes })
	if most.Load() != ysync.MaxQuerySubdocs {
		t.Errorf("a query has %d names", most.Load())
	}
}

// known is how many notes the client knows.
func known(c *client) int {
	list, err := c.ReadDir(c.t.Context(), "Team")
	noError(c.t, err)
	return len(list)
}

func manyHunks(t *testing.T) {
	p, c := pair(t)
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("line %d 🦊 of the note\n", i))
	}
	c.create("Team/Note.md", strings.Join(lines, ""))
	for i := 0; i < 50; i += 7 {
		lines[i] = strings.Replace(lines[i], "🦊", "🐸🐸", 1)
	}
	lines = slices.Delete(lines, 20, 23)
	now := strings.Join(lines, "")
	c.write("Team/Note.md", func(string) string { return now })
	p.do("awaitText", args{"path": "Note.md", "text": now})
}

func minimalDiff(t *testing.T) {
	p, c := pair(t)
	p.do("create", args{"path": "Note.md", "text": "one two three four\n"})
	c.awaitText("Team/Note.md", "one two three four\n")
	p.do("anchor", args{"path": "Note.md", "at": len("one two thr")})
	c.write("Team/Note.md", func(string) string { return "zero two three five\n" })
	p.do("awaitText", args{"path": "Note.md", "text": "zero two three five\n"})
	var at int
	if p.do("anchored", args{"path": "Note.md"}, &at); at != len("zero two thr") {
		t.Errorf("a person's cursor is at %d", at)
	}
}

func utf16Positions(t *testing.T) {
	p, c := pair(t)
	p.do("create", args{"path": "Note.md", "text": "🦊🦊 a 👩‍👩‍👧 b\n"})
	c.awaitText("Team/Note.md", "🦊🦊 a 👩‍👩‍👧 b\n")
	c.write("Team/Note.md", func(s string) string { return strings.Replace(s, "b", "🐸c", 1) })
	p.do("awaitText", args{"path": "Note.md", "text": "🦊🦊 a 👩‍👩‍👧 🐸c\n"})
	p.do("insert", args{"path": "Note.md", "at": 5, "text": "x"})
	c.awaitText("Team/Note.md", "🦊🦊 xa 👩‍👩‍👧 🐸c\n")
}

func bothDialects(t *testing.T) {
	p, c := pair(t)
	p.do("create", args{"path": "Note.md", "text": "" +
		`one {++{"author":"Lens","timestamp":1700000000000}@@two ++}three` + "\n\n" +
		`four {++five ++}{{author="Relay" date="2026-07-13T07:01:55.123Z">><<}}six` + "\n"})
	var list []model.Suggestion
	c.await("the suggestions", func() bool {
		list, _ = c.Suggestions(t.Context(), "Team")
		return len(list) == 2
	})
	var ids []string
	for i, author := range []string{"Lens", "Relay"} {
		ids = append(ids, list[i].ID)
		if list[i].Author != author {
			t.Errorf("suggestion %d is %+v", i, list[i])
		}
	}
	_, err := c.Decide(t.Context(), ids, model.Accepted, model.Author{Name: "ann"})
	noError(t, err)
	p.do("awaitText", args{"path": "Note.md", "text": "one two three\n\nfour five six\n"})
}

func usersOfServer(t *testing.T) {
	p, c := pair(t)
	p.do("create", args{"path": "Note.md", "text": "text\n"})
	c.awaitText("Team/Note.md", "text\n")
	v, err := c.Open(t.Context(), "Team/Note.md")
	noError(t, err)
	p.do("setMap", args{"path": "Note.md", "map": "users", "key": "ann", "value": args{"ids": []int{1}, "ds": []int{}}})
	p.do("insert", args{"path": "Note.md", "at": 0, "text": "more "})
	c.awaitText("Team/Note.md", "more text\n")
	if v.Text() != "text\n" {
		t.Errorf("a version has changed: %q", v.Text())
	}
	c.write("Team/Note.md", func(s string) string { return s + "end\n" })
	p.do("awaitText", args{"path": "Note.md", "text": "more text\nend\n"})
	var users map[string]any
	if p.do("users", args{"path": "Note.md"}, &users); users["ann"] == nil {
		t.Errorf("users are %v", users)
	}
}

// The plugin of either person would write the map's values over the front matter for
// everybody, if the agent's change and the undo of it were not in the map as well.
func frontMatterMap(t *testing.T) {
	s := sharedServer(t, "y-websocket")
	p, q := s.person(), s.person()
	c := mustOpen(t, s)
	const body = "---\nBody\n"
	text := "---\nstatus: draft\nold: 1\n" + body
	p.do("create", args{"path": "Note.md", "text": text})
	p.do("property", args{"path": "Note.md", "key": "status", "value": "draft"})
	p.do("property", args{"path": "Note.md", "key": "tags", "value": []string{"a"}})
	text = "---\nstatus: draft\nold: 1\ntags: [\"a\"]\n" + body
	everybody := func(now string, mirror map[string]string) {
		t.Helper()
		c.awaitText("Team/Note.md", now)
		for _, who := range []*person{p, q} {
			who.do("awaitText", args{"path": "Note.md", "text": now})
			var m map[string]string
			if who.do("map", args{"path": "Note.md", "map": "frontmatter"}, &m); !maps.Equal(m, mirror) {
				t.Errorf("map is %v, want %v", m, mirror)
			}
			who.clean()
		}
	}
	everybody(text, map[string]string{"status": `"draft"`, "tags": `["a"]`})

	done := "---\nstatus: done\ntags: [\"a\"]\ndue: 2026-01-31\n" + body
	mirror := map[string]string{"status": `"done"`, "tags": `["a"]`, "due": `"2026-01-31"`}
	c.write("Team/Note.md", func(string) string { return done })
	everybody(done, mirror)
	journal, err := c.Journal(1)
	noError(t, err)
	out, err := c.Undo(t.Context(), journal[0].BatchOf(), model.Author{Name: "ann"})
	if err != nil || len(out.Failed) > 0 {
		t.Fatalf("undo: %v, %v", err, out.Failed)
	}
	everybody(text, map[string]string{"status": `"draft"`, "tags": `["a"]`, "old": "1"})
	c.write("Team/Note.md", func(string) string { return done })
	everybody(done, mirror)
	q.do("property", args{"path": "Note.md", "key": "due", "value": "2026-02-28"})
	mirror["due"] = `"2026-02-28"`
	everybody(strings.Replace(done, "01-31", "02-28", 1), mirror)
}

// Yjs lets the one of the two win whose client has the higher id. The plugin writes its value
// over the text, also over a mixture of both.
func contestedProperty(t *testing.T) {
	p, c := pair(t)
	const notes = 4
	path := func(i int) string { return fmt.Sprintf("Note %d.md", i) }
	text := func(status string) string { return "---\nstatus: " + status + "\n---\nBody\n" }
	for i := range notes {
		p.do("create", args{"path": path(i), "text": text("draft")})
		p.do("property", args{"path": path(i), "key": "status", "value": "draft"})
		c.awaitText(model.Path("Team/"+path(i)), text("draft"))
	}
	p.do("offline", nil)
	for i := range notes {
		p.do("property", args{"path": path(i), "key": "status", "value": "mine"})
		for _, status := range []string{"begun", "done"} {
			c.write(model.Path("Team/"+path(i)), func(string) string { return text(status) })
		}
	}
	c.awaitSent()
	p.do("online", nil)
	for i := range notes {
		c.awaitText(model.Path("Team/"+path(i)), text("mine"))
		p.do("awaitText", args{"path": path(i), "text": text("mine")})
		var m map[string]string
		if p.do("map", args{"path": path(i), "map": "frontmatter"}, &m); m["status"] != `"mine"` {
			t.Errorf("%s: the map is %v", path(i), m)
		}
	}
}

func noFrontMatterMap(t *testing.T) {
	p, c := pair(t)
	p.do("create", args{"path": "Note.md", "text": "---\nstatus: draft\n---\nbody\n"})
	c.awaitText("Team/Note.md", "---\nstatus: draft\n---\nbody\n")
	c.write("Team/Note.md", func(s string) string { return strings.Replace(s, "draft", "done", 1) })
	p.do("awaitText", args{"path": "Note.md", "includes": "done"})
	var m map[string]string
	if p.do("map", args{"path": "Note.md", "map": "frontmatter"}, &m); len(m) != 0 {
		t.Errorf("map is %v", m)
	}
}
