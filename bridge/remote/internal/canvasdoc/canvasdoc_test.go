package canvasdoc_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/internal/canvasdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// obj returns the object with the given keys and values in turn.
func obj(pairs ...any) (o ycrdt.Object) {
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, ycrdt.Member{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return o
}

// canvas returns a document as a peer makes it that puts these values in the maps.
func canvas(nodes, edges ycrdt.Object) *ycrdt.Doc {
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 1})
	doc.Transact(func(tx *ycrdt.Txn) {
		for name, items := range map[string]ycrdt.Object{"nodes": nodes, "edges": edges} {
			for _, el := range items {
				if err := doc.Map(name).Set(tx, el.Key, el.Value); err != nil {
					panic(err)
				}
			}
		}
	})
	return doc
}

func insert(doc *ycrdt.Doc, root string, at int, s string) {
	doc.Transact(func(tx *ycrdt.Txn) { doc.Text(root).Insert(tx, at, s) })
}

func want(t *testing.T, doc *ycrdt.Doc, file string) {
	t.Helper()
	if got := string(canvasdoc.Read(doc)); got != file {
		t.Errorf("the file is\n%s\nwant\n%s", got, file)
	}
}

func write(t testing.TB, doc *ycrdt.Doc, base, data string) {
	t.Helper()
	if err := canvasdoc.Write(doc, []byte(base), []byte(data)); err != nil {
		t.Fatal(err)
	}
}

const empty = "{\n\t\"nodes\":[],\n\t\"edges\":[]\n}"

func nodes(lines ...string) string {
	return "{\n\t\"nodes\":[\n\t\t" + strings.Join(lines, ",\n\t\t") + "\n\t],\n\t\"edges\":[]\n}"
}

// The file has Obsidian's bytes: its layout, the members in the order in which a peer stored
// them, and strings and numbers as JSON.stringify writes them.
func TestLayout(t *testing.T) {
	want(t, canvas(nil, nil), empty)
	doc := canvas(obj(
		"z", obj("id", "z", "type", "text", "text", "\"a\\b\"\n\t\u0001\u2028</p>é🦊", "x", -20, "y", 0.5, "width", 1e21, "height", math.Copysign(0, -1), "color", "6"),
		"a", obj("width", 1<<40, "type", "group", "id", "a", "own", obj("b", []any{}, "a", []any{nil, true}), "none", ycrdt.Undefined{}, "nan", math.NaN()),
	), obj("e", obj("id", "e", "fromNode", "z", "toNode", "a")))
	want(t, doc, "{\n\t\"nodes\":[\n"+
		"\t\t"+`{"id":"z","type":"text","text":"\"a\\b\"\n\t\u0001`+"\u2028"+`</p>é🦊","x":-20,"y":0.5,"width":1e+21,"height":0,"color":"6"},`+"\n"+
		"\t\t"+`{"width":1099511627776,"type":"group","id":"a","own":{"b":[],"a":[null,true]},"nan":null}`+"\n"+
		"\t],\n\t\"edges\":[\n"+
		"\t\t"+`{"id":"e","fromNode":"z","toNode":"a"}`+"\n"+
		"\t]\n}")
}

// A text node says what its Text does, or the member text while that is empty.
func TestText(t *testing.T) {
	doc := canvas(obj(
		"a", obj("id", "a", "type", "text", "text", "member"),
		"b", obj("id", "b", "type", "text"),
		"c", obj("id", "c", "type", "link", "text", "member"),
	), nil)
	insert(doc, "b", 0, "Text")
	insert(doc, "c", 0, "Text")
	base := nodes(`{"id":"a","type":"text","text":"member"}`, `{"id":"b","type":"text","text":"Text"}`, `{"id":"c","type":"link","text":"member"}`)
	want(t, doc, base)

	changed := strings.NewReplacer(`"member"},`, `"a member"},`, `"Text"`, `""`).Replace(base)
	write(t, doc, base, changed)
	want(t, doc, changed)
	if a, b := doc.Text("a").String(), doc.Text("b").String(); a != "a member" || b != "" {
		t.Errorf("Texts are %q and %q", a, b)
	}
}

// A write that changes nothing makes no update; one that changes a text alone leaves the
// node's object, and the characters that it keeps.
func TestMinimalWrite(t *testing.T) {
	doc := canvas(obj("a", obj("id", "a", "type", "text", "text", "", "n", ycrdt.BigInt(1))), nil)
	insert(doc, "a", 0, "one two three")
	base := string(canvasdoc.Read(doc))
	write(t, doc, base, base) // the first makes the header
	var updates int
	doc.OnUpdate(func([]byte) { updates++ })
	write(t, doc, base, strings.ReplaceAll(base, ":", " :\n"))
	if updates != 0 {
		t.Errorf("a write without a change made %d updates", updates)
	}
	peer := ycrdt.NewDoc(ycrdt.Options{ClientID: 9})
	sync(t, doc, peer)
	insert(peer, "a", len("one two thr"), "|")
	peer.Transact(func(tx *ycrdt.Txn) {
		_ = peer.Map("nodes").Set(tx, "a", obj("id", "a", "type", "text", "text", "", "n", ycrdt.BigInt(2)))
	})
	write(t, doc, base, strings.Replace(base, "one two", "zero two", 1))
	sync(t, doc, peer)
	want(t, doc, nodes(`{"id":"a","type":"text","text":"zero two thr|ee","n":2}`))
	if updates != 2 {
		t.Errorf("%d updates, want the writer's and the peer's", updates)
	}
}

// sync brings documents in step.
func sync(t testing.TB, a, b *ycrdt.Doc) {
	t.Helper()
	for _, pair := range [][2]*ycrdt.Doc{{a, b}, {b, a}} {
		if err := pair[1].ApplyUpdate(pair[0].EncodeStateAsUpdate(pair[1].EncodeStateVector())); err != nil {
			t.Fatal(err)
		}
	}
}

// A new canvas has the header, its nodes in the order of the file, and Texts.
func TestNewCanvas(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	write(t, doc, "", "{}")
	if v, _ := doc.Map("relay").Get("v"); v != int64(0) {
		t.Errorf("header is %v", v)
	}
	want(t, doc, empty)
	file := nodes(`{"id":"z","type":"text","text":"said"}`, `{"id":"a","type":"link","url":"https://example.org"}`)
	write(t, doc, empty, file)
	want(t, doc, file)
	if got := doc.Text("z").String(); got != "said" {
		t.Errorf("Text is %q", got)
	}
	write(t, doc, file, empty)
	write(t, doc, empty, strings.Replace(file, "said", "anew", 1)) // the Text had the old one
	want(t, doc, nodes(`{"id":"z","type":"text","text":"anew"}`, `{"id":"a","type":"link","url":"https://example.org"}`))
}

// A write that was made already changes nothing, also if its base is from before.
func TestWrittenTwice(t *testing.T) {
	doc := canvas(obj("a", obj("id", "a", "type", "text", "text", "one two")), nil)
	base := string(canvasdoc.Read(doc))
	changed := nodes(`{"id":"a","type":"text","text":"one more two"}`, `{"id":"b","x":1}`)
	for range 2 {
		write(t, doc, base, changed)
		want(t, doc, changed)
	}
}

// What others have changed since the base was read stays, member by member.
func TestOthersWin(t *testing.T) {
	const base = `{"nodes":[{"id":"a","x":0,"y":0,"c":1,"d":1},{"id":"b","x":0},{"id":"c","x":0},{"id":"d","x":0}],"edges":[{"id":"e","fromNode":"a","toNode":"b"}]}`
	doc := canvas(obj(
		"a", obj("id", "a", "x", 5, "y", 0, "c", 1, "new", "theirs"), // moved, d deleted
		"c", obj("id", "c", "x", 7), // moved; b is deleted
		"d", obj("id", "d", "x", 0),
		"hers", obj("id", "hers"),
	), obj(
		"e", obj("id", "e", "fromNode", "a", "toNode", "b"),
		"drawn", obj("id", "drawn", "fromNode", "hers", "toNode", "d"),
	))
	write(t, doc, base, `{"nodes":[{"id":"b","x":1},{"id":"a","x":9,"y":9,"d":2,"new":"mine"},{"id":"hers","x":1},{"id":"mine"}],"edges":[]}`)
	want(t, doc, "{\n\t\"nodes\":[\n"+
		"\t\t"+`{"id":"a","x":5,"y":9,"new":"theirs"},`+"\n"+
		"\t\t"+`{"id":"c","x":7},`+"\n"+
		"\t\t"+`{"id":"d","x":0},`+"\n"+
		"\t\t"+`{"id":"hers","x":1},`+"\n"+
		"\t\t"+`{"id":"mine"}`+"\n"+
		"\t],\n\t\"edges\":[\n"+
		"\t\t"+`{"id":"drawn","fromNode":"hers","toNode":"d"}`+"\n"+
		"\t]\n}")
}

func TestRefusedFiles(t *testing.T) {
	doc := canvas(obj("a", obj("id", "a")), nil)
	before := string(canvasdoc.Read(doc))
	doc.OnUpdate(func([]byte) { t.Error("a refused write changed the document") })
	for file, says := range map[string]string{
		"[]":                                    "not a JSON object",
		"{":                                     "not JSON",
		"{} {}":                                 "after its end",
		`{"nodes":{}}`:                          "not a list",
		`{"nodes":null}`:                        "not a list",
		`{"edges":[1]}`:                         "not an object",
		`{"nodes":[{"id":1}]}`:                  "no id",
		`{"nodes":[{"id":"a"},{"id":"a"}]}`:     `the id "a"`,
		`{"nodes":[{"id":"a"}],"metadata":{}}`:  `"metadata"`,
		`{"nodes":[{"id":"a","x":1e999}]}`:      "too large",
		`{"nodes":[` + strings.Repeat("[", 1e6): "nested",
		`{"nodes":[{"id":"a","x":` + nested(102, `{"a":`, `}`) + `}]}`: "nested",
	} {
		err := canvasdoc.Write(doc, []byte(before), []byte(file))
		if !errors.Is(err, canvasdoc.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.50s: %v, want one that says %q", file, err, says)
		}
	}
	want(t, doc, before)
}

func nested(n int, open, end string) string {
	return strings.Repeat(open, n) + "1" + strings.Repeat(end, n)
}

// What a hostile peer puts into a canvas is shown as far as it is a canvas, stays as it is,
// and does not keep others from writing.
func TestHostileDocument(t *testing.T) {
	deep := any(1)
	for range 99 {
		deep = obj("a", deep)
	}
	doc := canvas(obj(
		"number", 5, "list", []any{obj("id", "x")}, "bytes", []byte{1}, "map", ycrdt.NewMap(map[string]any{"id": "map"}),
		"", obj("id", "a", "type", 5, "bytes", []byte{1}),
		"nodes", obj("type", "text", "text", "n"), "relay", obj("type", "text", "text", "r"), "users", obj("type", "text", "text", "u"),
		"a", obj("type", "text", "text", 5, "deep", deep),
	), obj("e", "text"))
	insert(doc, "nodes", 0, "list of the map")
	shown := nodes(`{"id":"","type":5,"bytes":null}`, `{"type":"text","text":"n","id":"nodes"}`, `{"type":"text","text":"r","id":"relay"}`,
		`{"type":"text","text":"u","id":"users"}`, `{"type":"text","text":5,"deep":`+nested(99, `{"a":`, `}`)+`,"id":"a"}`)
	want(t, doc, shown)
	changed := strings.NewReplacer(`"n"`, `"n!"`, `"r"`, `"r!"`, `"u"`, `"u!"`, `"text":5`, `"text":"!"`).Replace(shown)
	changed = strings.Replace(changed, `"edges":[]`, `"edges":[{"id":"e"},{"id":"f"}]`, 1)
	write(t, doc, shown, changed)
	want(t, doc, strings.Replace(strings.Replace(changed, `{"id":"e"},`, "\n\t\t", 1), "]\n}", "\n\t]\n}", 1))
	if got := doc.Text("nodes").String(); got != "list of the map" {
		t.Errorf("the list of a map is %q", got)
	}
	write(t, doc, string(canvasdoc.Read(doc)), "{}")
	want(t, doc, empty)
	for _, key := range []string{"number", "list", "bytes", "map"} {
		if _, ok := doc.Map("nodes").Get(key); !ok {
			t.Errorf("%s is gone", key)
		}
	}
}

// Reading and writing take time in proportion to what there is.
func TestLinear(t *testing.T) {
	file := func(n int) string {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"id":"%d","type":"text","text":"a"}`, i))
		}
		return nodes(lines...)
	}
	need.Linear(t, "canvas", 1000, file, func(file string) {
		doc := ycrdt.NewDoc(ycrdt.Options{})
		write(t, doc, "", file)
		changed := strings.ReplaceAll(file, `"a"`, `"b"`)
		write(t, doc, file, changed)
		want(t, doc, changed)
		write(t, doc, changed, empty)
		want(t, doc, empty)
	})
}
