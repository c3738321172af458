package fusefs_test

import (
	"fmt"
	"testing"

	"github.com/relayfs/relayfs/bridge"
)

// The kernel forgets the notes of an idle mount, but for the latest and those that are open. All are what they were: numbers,
// texts, what a program had read before it writes, and notes that are open.
func TestEvict(t *testing.T) {
	t.Parallel()
	const notes, keep = 200, 20
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("F/sub/n%03d.md", i)] = fmt.Sprintf("note %d\nend\n", i)
	}
	m := mount(t, files)
	a := m.agent(t, "F/sub")
	const numbers = `" ".join(str(os.stat("n%%03d.md" %% i).st_ino) for i in range(200))`
	before := a.do(numbers)
	a.do(`keep("texts", [read("n%%03d.md" %% i) for i in range(200)])`)
	a.do(`keep("open", open("n000.md", "r+"))`)
	eventually(t, func() error {
		m.server.Evict(t.Context(), keep)
		if got := m.server.Inodes(); got > keep+1 {
			return fmt.Errorf("%d inodes are left, want the latest %d and an open one", got, keep)
		}
		return nil
	})
	m.Person("F/sub/n001.md", "note 1\nby a person\nend\n")
	a.do(`write("n001.md", held["texts"][1].replace("note", "Note"))`)
	a.do(`held["open"].write("NOTE") and held["open"].close()`)
	for name, want := range map[string]string{"n000": "NOTE 0\nend\n", "n001": "Note 1\nby a person\nend\n", "n002": "note 2\nend\n"} {
		eventually(t, func() error { return wants(name, a.do(`read("%s.md")`, name), fmt.Sprintf("%q", want)) })
	}
	if after := a.do(numbers); after != before {
		t.Errorf("inode numbers are %s, were %s", after, before)
	}
}

// A program that asks whether a note has changed since it last looked hears no, although nothing is in memory any more.
func TestEvictKeepsTimes(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/a.md": "a one\n", "F/b.md": "b\n", "F/c.md": "c\n", "F/d.md": "d\n"}, func(o *bridge.Options) { o.CacheBytes = 1 })
	a := m.agent(t, "F")
	a.do(`write("a.md", "a two\n")`)
	a.do(`replace("b.md", "b two\n")`)
	a.do(`write("new.md", "new\n")`)
	m.Person("F/c.md", "c by a person\n")
	m.sh(t, "F", "sed -i s/d/e/ d.md; touch -d '2020-01-01 00:00:00.25' c.md")
	const times = `" ".join("%%s %%d" %% (n, os.stat(n).st_mtime_ns) for n in sorted(os.listdir(".")))`
	eventually(t, func() error { return wants("c.md", a.do(`read("c.md")`), `"c by a person\n"`) })
	before := a.do(times)
	eventually(t, func() error {
		m.server.Evict(t.Context(), 0)
		// Two folders, and what programs have set something of: c.md and the file that sed made.
		return wants("nodes", fmt.Sprint(m.server.Nodes()), "4")
	})
	checkText(t, "times", a.do(times), before)
}

// A mount that is used is not evicted from.
func TestEvictWaits(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/a.md": "a\n", "F/b.md": "b\n"})
	a := m.agent(t, "F")
	a.do(`read("a.md") + read("b.md")`)
	m.server.Housekeep(t.Context())
	if got := m.server.Inodes(); got != 2 {
		t.Errorf("%d inodes are left of 2 that were used", got)
	}
	eventually(t, func() error { // the kernel says in its own time that it has closed and forgotten one
		m.server.Housekeep(t.Context())
		return wants("inodes that are left when nobody used them", fmt.Sprint(m.server.Inodes()), "0")
	})
}
