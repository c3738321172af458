package fusefs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
)

func readOnly(o *bridge.Options) { o.ReadOnly = true }

// On a read-only mount descriptors are opened, read, mapped and closed without
// the server's knowledge; they go on with what was opened all the same.
func TestReadOnlyDescriptors(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/empty.md": "", "F/data.csv": "a,b\n"}, readOnly)
	a := m.agent(t, "F")
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), tideTable)
	checkText(t, "empty.md", m.cat(t, "F/empty.md"), "")
	checkText(t, "data.csv", m.cat(t, "F/data.csv"), "a,b\n")
	a.do(`keep("f", open("Note.md", "rb", 0))`)
	a.do(`keep("m", __import__("mmap").mmap(held["f"].fileno(), 0, prot=1))`)
	checkText(t, "mapped", a.do(`held["m"][:6].decode()`), `"# Tide"`)
	for _, text := range []string{"shorter\n", "LONGER " + tideTable, ""} {
		m.Person("F/Note.md", text)
		eventually(t, func() error { return wants("the name", m.cat(t, "F/Note.md"), text) })
		checkText(t, "the descriptor", a.do(`len(os.pread(held["f"].fileno(), 1 << 20, 0))`), strconv.Itoa(len(tideTable)))
		checkText(t, "its size", a.do(`os.fstat(held["f"].fileno()).st_size`), strconv.Itoa(len(tideTable)))
	}
	m.fails(t, "F", "echo x >> Note.md", "Read-only file system")
	m.fails(t, "F", "mkdir x", "Read-only file system")
}

// A large folder is listed whole, also by several at a time, by one who stops in
// the middle, and after a change. It can be synced, and emptied while it is listed.
func TestLargeFolder(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	var names []string
	for i := range 3000 {
		name := fmt.Sprintf("a note with a somewhat long name %04d.md", i)
		files["F/"+name] = "x\n"
		names = append(names, name)
	}
	check := func(t *testing.T, opts ...func(*bridge.Options)) *mounted {
		want := slices.Clone(names)
		m := mount(t, files, opts...)
		a := m.agent(t, "F")
		a.do(`keep("d", os.scandir("."))`)
		a.do(`next(held["d"]).name != ""`)
		list := func() string {
			return m.sh(t, "F", `for i in 1 2 3; do ls | md5sum & done | sort -u | wc -l; wait; ls`)
		}
		checkText(t, "listing", list(), "1\n"+strings.Join(want, "\n")+"\n")
		checkText(t, "the rest of a listing", a.do(`1 + len(list(held["d"]))`), "3000")
		m.Delete("F/" + want[17])
		want = slices.Delete(want, 17, 18)
		eventually(t, func() error { return wants("listing", list(), "1\n"+strings.Join(want, "\n")+"\n") })
		return m
	}
	t.Run("read-only", func(t *testing.T) { check(t, readOnly) })
	t.Run("writable", func(t *testing.T) {
		m := check(t)
		m.sh(t, "F", `sync .`)
		m.sh(t, "", `mkdir F/.d; cd F/.d; seq 3000 | xargs touch; [ $(ls | wc -l) = 3000 ]; cd ..; rm -r .d`)
	})
}
