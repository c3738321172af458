package folderdoc_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// set writes a raw entry, as another client might have.
func set(t *testing.T, doc *ycrdt.Doc, root, key string, value any) {
	t.Helper()
	m := doc.Map(root)
	doc.Transact(func(tx *ycrdt.Txn) {
		if err := m.Set(tx, key, value); err != nil {
			t.Error(err)
		}
	})
}

func meta(id, typ string) map[string]any {
	return map[string]any{"id": id, "type": typ, "version": 0}
}

func listing(f *folderdoc.Folder) string {
	var lines []string
	for _, e := range f.List() {
		lines = append(lines, e.Path+":"+e.Type+":"+e.ID)
	}
	return strings.Join(lines, " ")
}

// transactions counts what doc commits.
func transactions(doc *ycrdt.Doc) *int {
	n := 0
	doc.OnUpdate(func([]byte) { n++ })
	return &n
}

func TestList(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	set(t, doc, "filemeta_v0", "/Both.md", meta("1", "markdown"))
	set(t, doc, "docs", "/Both.md", "1")
	set(t, doc, "docs", "/sub/Legacy.md", "2")
	set(t, doc, "filemeta_v0", "/Deleted.md", meta("3", "markdown"))
	set(t, doc, "filemeta_v0", "/pic/a.png", map[string]any{"id": "4", "type": "image", "version": 0, "hash": "ab", "mimetype": "image/png", "synctime": 1.7e12})
	set(t, doc, "filemeta_v0", "/Newer.md", map[string]any{"id": "5", "type": "markdown", "version": 1})
	set(t, doc, "docs", "/Newer.md", "5")
	set(t, doc, "filemeta_v0", "/Empty", meta("6", "folder"))
	set(t, doc, "filemeta_v0", "NoSlash.canvas", meta("7", "canvas"))
	for _, key := range []string{"/", "//", "//x", "/a//b", "/a/", "", "/../up.md", "/./x.md", "/nul\x00.md"} {
		set(t, doc, "filemeta_v0", key, meta("8", "folder"))
	}
	set(t, doc, "filemeta_v0", "/Nonsense", "text")
	f := folderdoc.Open(doc)
	want := "Both.md:markdown:1 Empty:folder:6 NoSlash.canvas:canvas:7 pic:folder: pic/a.png:image:4 sub:folder: sub/Legacy.md:markdown:2"
	if got := listing(f); got != want {
		t.Errorf("listing is\n%s, want\n%s", got, want)
	}
	if e, ok := f.Get("pic/a.png"); !ok || e.Hash != "ab" || e.Mimetype != "image/png" || e.SyncTime != 1.7e12 {
		t.Errorf("attachment is %+v, %v", e, ok)
	}
}

// Entries that are maps of their own, as other clients than Relay's plugin write them, are as
// any: they are read, moved with all that they hold, deleted, and a newer version is kept.
func TestNestedEntries(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	set(t, doc, "docs", "/Note.md", "1")
	set(t, doc, "filemeta_v0", "/Note.md", ycrdt.NewMap(meta("1", "markdown")))
	image := map[string]any{"id": "2", "type": "image", "version": 0, "hash": "ab", "mimetype": "image/png", "synctime": 1.7e12, "other": "kept"}
	set(t, doc, "filemeta_v0", "/a.png", ycrdt.NewMap(image))
	set(t, doc, "filemeta_v0", "/Deleted.md", ycrdt.NewMap(meta("3", "markdown")))
	newer := meta("4", "image")
	newer["version"] = 1
	set(t, doc, "filemeta_v0", "/newer.png", ycrdt.NewMap(newer))
	f := folderdoc.Open(doc)
	if got, want := listing(f), "Note.md:markdown:1 a.png:image:2"; got != want {
		t.Errorf("listing is %s, want %s", got, want)
	}
	if e, ok := f.Get("a.png"); !ok || e.Hash != "ab" || e.Mimetype != "image/png" || e.SyncTime != 1.7e12 {
		t.Errorf("attachment is %+v, %v", e, ok)
	}
	for from, to := range map[string]string{"Note.md": "sub/Moved.md", "a.png": "sub/b.png"} {
		if err := f.Rename(from, to, false); err != nil {
			t.Error(err)
		}
	}
	if got, want := strings.Split(listing(f), " "), []string{"sub/Moved.md:markdown:1", "sub/b.png:image:2"}; !slices.Equal(got[1:], want) {
		t.Errorf("listing is %q, want %q", got, want)
	}
	if moved, _ := doc.Map("filemeta_v0").Get("/sub/b.png"); moved.(ycrdt.Object).ByKey()["other"] != "kept" {
		t.Errorf("the moved entry is %v", moved)
	}
	if _, err := f.Create(folderdoc.Entry{Path: "newer.png", ID: "5", Type: "image"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an entry of a newer format: %v", err)
	}
	if err := f.Delete("sub/b.png"); err != nil {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	f := folderdoc.Open(doc)
	n := transactions(doc)
	e, err := f.Create(folderdoc.Entry{Path: "a/b/Note.md", ID: "id"})
	if err != nil || e.ID != "id" || e.Type != folderdoc.TypeMarkdown {
		t.Fatalf("Create = %+v, %v", e, err)
	}
	if *n != 1 {
		t.Errorf("%d transactions, want 1", *n)
	}
	if id, _ := doc.Map("docs").Get("/a/b/Note.md"); id != "id" {
		t.Errorf("docs has %v", id)
	}
	for _, dir := range []string{"/a", "/a/b"} {
		if v, _ := doc.Map("filemeta_v0").Get(dir); v == nil {
			t.Errorf("folder %s has no entry", dir)
		}
		if _, there := doc.Map("docs").Get(dir); there {
			t.Errorf("folder %s is in docs", dir)
		}
	}
	again, err := f.Create(folderdoc.Entry{Path: "a/b/Note.md", ID: "second"})
	if err != nil || again.ID != "id" || *n != 1 {
		t.Errorf("second Create = %+v, %v after %d transactions; it is to adopt", again, err, *n)
	}
}

func TestCreateCompletesLegacyEntry(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	set(t, doc, "docs", "/Old.md", "old")
	e, err := folderdoc.Open(doc).Create(folderdoc.Entry{Path: "Old.md", ID: "new"})
	if err != nil || e.ID != "old" {
		t.Fatalf("Create = %+v, %v", e, err)
	}
	v, _ := doc.Map("filemeta_v0").Get("/Old.md")
	if m, _ := v.(ycrdt.Object); m.ByKey()["id"] != "old" {
		t.Errorf("filemeta is %v", v)
	}
}

func TestErrors(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	f := folderdoc.Open(doc)
	for _, p := range []string{"Note.md", "dir/x.md", "other/y.md"} {
		if _, err := f.Create(folderdoc.Entry{Path: p}); err != nil {
			t.Fatal(err)
		}
	}
	set(t, doc, "filemeta_v0", "/Newer.md", map[string]any{"id": "5", "type": "markdown", "version": 1})
	create := func(p, typ string) func() error {
		return func() error {
			_, err := f.Create(folderdoc.Entry{Path: p, Type: typ})
			return err
		}
	}
	before := listing(f)
	n := transactions(doc)
	for name, c := range map[string]struct {
		do   func() error
		want error
	}{
		"empty path":           {create("", ""), folderdoc.ErrPath},
		"leading slash":        {create("/x.md", ""), folderdoc.ErrPath},
		"empty element":        {create("a//x.md", ""), folderdoc.ErrPath},
		"many folders":         {create(strings.Repeat("a/", 2048)+"x.md", ""), folderdoc.ErrPath},
		"dots":                 {create("../x.md", ""), folderdoc.ErrPath},
		"below a file":         {create("Note.md/x.md", ""), fs.ErrExist},
		"another kind":         {create("Note.md", folderdoc.TypeFolder), fs.ErrExist},
		"a folder's name":      {create("dir", folderdoc.TypeFile), fs.ErrExist},
		"of a newer format":    {create("Newer.md", ""), fs.ErrExist},
		"rename nothing":       {func() error { return f.Rename("no.md", "x.md", false) }, fs.ErrNotExist},
		"rename to //":         {func() error { return f.Rename("Note.md", "/", false) }, folderdoc.ErrPath},
		"rename over a note":   {func() error { return f.Rename("Note.md", "dir/x.md", false) }, fs.ErrExist},
		"rename over a folder": {func() error { return f.Rename("Note.md", "dir", true) }, fs.ErrExist},
		"rename over newer":    {func() error { return f.Rename("Note.md", "Newer.md", true) }, fs.ErrExist},
		"rename into itself":   {func() error { return f.Rename("dir", "dir/in", false) }, folderdoc.ErrPath},
		"rename below a file":  {func() error { return f.Rename("dir", "Note.md/dir", false) }, fs.ErrExist},
		"delete nothing":       {func() error { return f.Delete("no.md") }, fs.ErrNotExist},
		"file of a note":       {func() error { return f.SetFile("Note.md", "ab", "x/y", 1) }, fs.ErrNotExist},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if got := listing(f); got != before || *n != 0 {
		t.Errorf("listing is\n%s, want\n%s; %d transactions", got, before, *n)
	}
}

func TestRename(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	f := folderdoc.Open(doc)
	for p, id := range map[string]string{"dir/Note.md": "1", "dir/sub/Deep.md": "2", "dirt.md": "3", "Target.md": "4"} {
		if _, err := f.Create(folderdoc.Entry{Path: p, ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	set(t, doc, "docs", "dir/Legacy.md", "5")
	set(t, doc, "filemeta_v0", "/dir/extra.png", map[string]any{"id": "6", "type": "image", "version": 0, "hash": "ab", "more": "kept"})
	n := transactions(doc)
	if err := f.Rename("dir", "moved/here", false); err != nil {
		t.Fatal(err)
	}
	if *n != 1 {
		t.Errorf("%d transactions, want 1", *n)
	}
	for _, m := range []string{"docs", "filemeta_v0"} {
		for _, k := range doc.Map(m).Keys() {
			if strings.HasPrefix(k, "/dir/") || k == "/dir" || strings.HasPrefix(k, "dir/") {
				t.Errorf("%s still has %q", m, k)
			}
		}
	}
	for p, id := range map[string]string{"moved/here/Note.md": "1", "moved/here/sub/Deep.md": "2", "moved/here/Legacy.md": "5", "dirt.md": "3"} {
		if e, ok := f.Get(p); !ok || e.ID != id {
			t.Errorf("%s is %+v, %v", p, e, ok)
		}
	}
	v, _ := doc.Map("filemeta_v0").Get("/moved/here/extra.png")
	if m, _ := v.(ycrdt.Object); m.ByKey()["more"] != "kept" {
		t.Errorf("the entry lost what it had: %v", v)
	}
	if err := f.Rename("dirt.md", "Target.md", true); err != nil {
		t.Fatal(err)
	}
	if e, _ := f.Get("Target.md"); e.ID != "3" {
		t.Errorf("Target.md is %+v", e)
	}
}

func TestDelete(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	f := folderdoc.Open(doc)
	for _, p := range []string{"dir/Note.md", "dir/sub/Deep.md", "dirt.md"} {
		if _, err := f.Create(folderdoc.Entry{Path: p, ID: p}); err != nil {
			t.Fatal(err)
		}
	}
	set(t, doc, "filemeta_v0", "/dir/sub/Newer.md", map[string]any{"id": "5", "type": "markdown", "version": 1})
	set(t, doc, "filemeta_v0", "/dir/Gone.md", meta("6", "markdown"))
	n := transactions(doc)
	for _, p := range []string{"dir/Note.md", "dir/sub/Deep.md"} {
		if err := f.Delete("dir"); !errors.Is(err, folderdoc.ErrNotEmpty) {
			t.Errorf("Delete of a folder with something in it: %v", err)
		}
		if err := f.Delete(p); err != nil {
			t.Fatal(err)
		}
	}
	if inside := f.Inside("dir"); !slices.Equal(inside, []string{"sub"}) {
		t.Errorf("dir holds %q", inside)
	}
	if inside := f.Inside(""); !slices.Equal(inside, []string{"dir", "dirt.md"}) {
		t.Errorf("the root holds %q", inside)
	}
	if err := f.Delete("dir/sub"); !errors.Is(err, folderdoc.ErrNotEmpty) {
		t.Errorf("Delete of a folder with a newer entry: %v", err)
	}
	if _, there := doc.Map("filemeta_v0").Get("/dir/sub/Newer.md"); !there || *n != 2 {
		t.Errorf("the newer entry is gone, or %d transactions are not 2", *n)
	}
	doc.Transact(func(tx *ycrdt.Txn) { doc.Map("filemeta_v0").Delete(tx, "/dir/sub/Newer.md") })
	for _, p := range []string{"dir/sub", "dir"} { // and what counts as deleted
		if err := f.Delete(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := listing(f); got != "dirt.md:markdown:dirt.md" || doc.Map("docs").Len() != 1 || doc.Map("filemeta_v0").Len() != 1 {
		t.Errorf("listing is %s", got)
	}
}

func TestSetFile(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	f := folderdoc.Open(doc)
	if _, err := f.Create(folderdoc.Entry{Path: "a.png", ID: "1", Hash: "00", Mimetype: "image/png", SyncTime: 5}); err != nil {
		t.Fatal(err)
	}
	before := f.List()
	if err := f.SetFile("a.png", "ff", "image/png", 1.7e12); err != nil {
		t.Fatal(err)
	}
	e, _ := f.Get("a.png")
	if e.Hash != "ff" || e.SyncTime != 1.7e12 {
		t.Errorf("entry %+v", e)
	}
	if d := folderdoc.Diff(before, f.List()); len(d) != 1 || d[0].Kind != folderdoc.Changed {
		t.Errorf("Diff = %+v", d)
	}
}

func TestContent(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	folderdoc.EnsureNonEmpty(doc)
	if len(doc.StateVector()) != 1 || doc.Text("contents").String() != "" {
		t.Errorf("state vector %v, text %q", doc.StateVector(), doc.Text("contents"))
	}
	n := transactions(doc)
	folderdoc.EnsureNonEmpty(doc)
	if *n != 0 {
		t.Error("a document with structs got another")
	}
	for i, c := range []struct {
		user   string
		client ycrdt.ClientID
		want   bool
	}{{"ai:x", 1 << 40, true}, {"ai:x", 1 << 40, false}, {"ai:x", 7, true}, {"human:y", 8, true}} {
		if got := folderdoc.Register(doc, c.user, c.client); got != c.want {
			t.Errorf("%d: Register = %v", i, got)
		}
	}
	v, _ := doc.Map("users").Get("ai:x")
	m := v.(*ycrdt.Map)
	v, _ = m.Get("ids")
	if ids := v.(*ycrdt.Array).Values(); len(ids) != 2 {
		t.Errorf("ids are %v", ids)
	}
	if ds, _ := m.Get("ds"); len(ds.(*ycrdt.Array).Values()) != 0 {
		t.Errorf("ds is %v", ds)
	}
}

// Register replaces an entry that Yjs cannot read by one that it can read. Clients that are connected see a new entry.
func TestRegisterReplacesMalformedEntries(t *testing.T) {
	for _, entry := range []any{"ai:x", ycrdt.NewArray(7.0), ycrdt.NewMap(map[string]any{}), ycrdt.NewMap(map[string]any{"ids": 7.0, "ds": ycrdt.NewArray()})} {
		doc := ycrdt.NewDoc(ycrdt.Options{})
		users := doc.Map("users")
		doc.Transact(func(tx *ycrdt.Txn) {
			if err := users.Set(tx, "ai:x", entry); err != nil {
				t.Fatal(err)
			}
		})
		before, _ := users.Get("ai:x")
		added := folderdoc.Register(doc, "ai:x", 8)
		after, _ := users.Get("ai:x")
		m, ok := after.(*ycrdt.Map)
		if !added || !ok || before == after {
			t.Errorf("%v became %v", before, after)
			continue
		}
		ids, _ := m.Get("ids")
		ds, _ := m.Get("ds")
		if list, ok := ids.(*ycrdt.Array); !ok || fmt.Sprint(list.Values()) != "[8]" {
			t.Errorf("the IDs are %v", ids)
		}
		if _, ok := ds.(*ycrdt.Array); !ok {
			t.Errorf("the deletions are %v", ds)
		}
	}
}

// The rows are what clients enter for files of these names.
func TestTypeOf(t *testing.T) {
	for row := range strings.Lines(`
a.md markdown text/markdown
b.canvas canvas application/canvas+json
c.base base application/yaml
d.png image image/png
e.jpg image image/jpeg
f.jpeg image image/jpeg
g.gif image image/gif
h.svg image image/svg+xml
i.webp image image/webp
j.avif image image/avif
k.bmp image image/bmp
l.pdf pdf application/pdf
m.mp3 audio audio/mpeg
n.wav audio audio/wav
o.m4a audio audio/x-m4a
p.flac audio audio/flac
q.ogg audio audio/ogg
r.oga audio audio/ogg
s.opus audio audio/opus
t.mp4 video video/mp4
u.webm video video/webm
v.ogv video video/ogg
w.mov video video/quicktime
x.mkv video video/x-matroska
y.3gp file video/3gpp
z.txt file text/plain
a.html file text/html
b.css file text/css
c.json file application/json
d.js file application/javascript
e.ts file application/typescript
f.zip file application/octet-stream
g file application/octet-stream
x.md/h file application/octet-stream
x/A.MD markdown text/markdown
x.y/P.JpG image image/jpeg
`[1:]) {
		var name, typ, mime string
		if _, err := fmt.Sscan(row, &name, &typ, &mime); err != nil {
			t.Fatal(err)
		}
		if gotType, gotMime := folderdoc.TypeOf(name); gotType != typ || gotMime != mime {
			t.Errorf("TypeOf(%q) = %s, %s, want %s, %s", name, gotType, gotMime, typ, mime)
		}
	}
}

func TestNewID(t *testing.T) {
	ids := []string{folderdoc.NewID(), folderdoc.NewID()}
	if slices.ContainsFunc(ids, func(id string) bool { return len(id) != 36 || id[14] != '4' }) || ids[0] == ids[1] {
		t.Errorf("ids %q", ids)
	}
}

func TestMirror(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text, mirror := doc.Text("contents"), doc.Map("frontmatter")
	write := func(s string) {
		mirrored := folderdoc.Mirror(doc)
		doc.Transact(func(tx *ycrdt.Txn) {
			text.Delete(tx, 0, text.LenIn(tx))
			text.Insert(tx, 0, s)
		})
		mirrored()
	}
	write("---\nstatus: draft\n---\n")
	if mirror.Len() != 0 {
		t.Errorf("a mirror has been made: %v", maps.Collect(mirror.All()))
	}
	set(t, doc, "frontmatter", "status", `"draft"`)
	write("---\ntags: [a]\n---\n")
	if v, _ := mirror.Get("tags"); v != `["a"]` || mirror.Len() != 1 {
		t.Errorf("mirror is %v", maps.Collect(mirror.All()))
	}
	n := transactions(doc)
	write("---\ntags: [a]\n---\nBody\n")
	if *n != 1 {
		t.Errorf("%d transactions change the text alone", *n)
	}
}
