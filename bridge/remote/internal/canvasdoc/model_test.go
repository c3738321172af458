package canvasdoc_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/internal/canvasdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// item is a node or an edge as the model has it, and file is a canvas.
type (
	item = map[string]any
	file = map[string]map[string]item // "nodes" or "edges", then ids
)

func parsed(t testing.TB, data string) file {
	t.Helper()
	var lists map[string][]item
	if err := json.Unmarshal([]byte(data), &lists); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	f := file{"nodes": {}, "edges": {}}
	for name, list := range lists {
		for _, it := range list {
			f[name][it["id"].(string)] = it
		}
	}
	return f
}

func printed(f file) string {
	lists := make(map[string][]item)
	for name, items := range f {
		for _, id := range slices.Sorted(maps.Keys(items)) {
			lists[name] = append(lists[name], items[id])
		}
	}
	data, _ := json.Marshal(lists)
	return string(data)
}

// editor makes random changes; what it writes into texts tells who wrote it.
type editor struct {
	*rand.Rand
	name string
	made int
}

func (e *editor) word() string {
	e.made++
	return fmt.Sprintf("%s%d ", e.name, e.made)
}

// edit changes a canvas in some places.
func (e *editor) edit(f file) {
	for range 1 + e.IntN(4) {
		nodes, edges := f["nodes"], f["edges"]
		ids := slices.Sorted(maps.Keys(nodes))
		if len(ids) < 3 || e.IntN(5) == 0 {
			id := strings.TrimSpace(e.word())
			nodes[id] = item{"id": id, "type": "text", "text": e.word() + e.word(), "x": 0.0, "y": 0.0}
			continue
		}
		id, other := ids[e.IntN(len(ids))], ids[e.IntN(len(ids))]
		n := maps.Clone(nodes[id])
		switch e.IntN(6) {
		case 0:
			delete(nodes, id)
			continue
		case 1:
			n[[]string{"x", "y"}[e.IntN(2)]] = float64(e.IntN(1000))
		case 2:
			if n["color"] == nil {
				n["color"] = fmt.Sprint(e.IntN(6))
			} else {
				delete(n, "color")
			}
		case 3, 4:
			words := strings.SplitAfter(n["text"].(string), " ")
			at := e.IntN(len(words))
			switch {
			case len(words) > 2 && e.IntN(3) == 0:
				words = slices.Delete(words, at, at+1)
			default:
				words = slices.Insert(words, at, e.word())
			}
			n["text"] = strings.Join(words, "")
		case 5:
			if n := len(edges); n > 3 {
				delete(edges, slices.Sorted(maps.Keys(edges))[e.IntN(n)])
			}
			id := strings.TrimSpace(e.word())
			edges[id] = item{"id": id, "fromNode": ids[0], "toNode": other}
		}
		nodes[id] = n
	}
}

// TestModel lets an agent write what it made of a file that it had read some time ago, while a
// person edits the canvas. Nothing that the person did since the agent's reading is lost by that
// write, and of what the agent did everything is done that does not stand against it.
func TestModel(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		persons, agents := ycrdt.NewDoc(ycrdt.Options{ClientID: 5}), ycrdt.NewDoc(ycrdt.Options{ClientID: 7})
		person, agent := &editor{r, "p", 0}, &editor{r, "a", 0}
		base := file{"nodes": {}, "edges": {}}
		read := ""
		for range 30 {
			if r.IntN(3) > 0 { // the person's program writes what it has on the screen
				before := string(canvasdoc.Read(persons))
				f := parsed(t, before)
				person.edit(f)
				write(t, persons, before, printed(f))
			}
			if r.IntN(3) > 0 {
				sync(t, persons, agents)
				continue
			}
			if r.IntN(2) == 0 {
				read = string(canvasdoc.Read(agents))
				base = parsed(t, read)
				continue
			}
			sync(t, persons, agents) // of two writers of one object who do not know of each other one wins
			is := parsed(t, string(canvasdoc.Read(agents)))
			made := parsed(t, cmp.Or(read, "{}"))
			agent.edit(made)
			write(t, agents, read, printed(made))
			now := parsed(t, string(canvasdoc.Read(agents)))
			for _, kind := range []string{"nodes", "edges"} {
				check(t, base[kind], is[kind], made[kind], now[kind], tied(base, is))
			}
			if t.Failed() {
				t.Fatalf("the agent made\n%s\nof\n%s\nand of what was\n%s\nthat became\n%s", printed(made), printed(base), printed(is), printed(now))
			}
			read = string(canvasdoc.Read(agents))
			base = now
		}
		sync(t, persons, agents)
		if p, a := parsed(t, string(canvasdoc.Read(persons))), parsed(t, string(canvasdoc.Read(agents))); !reflect.DeepEqual(p, a) {
			t.Fatalf("the person has\n%s\nand the agent\n%s", printed(p), printed(a))
		}
	})
}

// tied is the nodes to which edges lead that base does not have.
func tied(base, is file) map[string]bool {
	ids := make(map[string]bool)
	for id, e := range is["edges"] {
		if base["edges"][id] == nil {
			ids[e["fromNode"].(string)], ids[e["toNode"].(string)] = true, true
		}
	}
	return ids
}

// check compares what became of the items is, when somebody wrote made, who had read base.
func check(t testing.TB, base, is, made, now map[string]item, tied map[string]bool) {
	t.Helper()
	for id, theirs := range is {
		switch {
		case base[id] == nil && made[id] == nil:
			if !reflect.DeepEqual(now[id], theirs) {
				t.Errorf("%s, which the writer did not know, is %v", id, now[id])
			}
		case made[id] == nil && reflect.DeepEqual(base[id], theirs) && !tied[id]:
			if now[id] != nil {
				t.Errorf("%s was deleted, and is still there", id)
			}
		case now[id] == nil:
			t.Errorf("%s is gone, in which somebody had changed %v", id, theirs)
		default:
			checkMembers(t, id, base[id], theirs, made[id], now[id])
		}
	}
	for id, n := range made {
		if base[id] == nil && is[id] == nil && !reflect.DeepEqual(now[id], n) {
			t.Errorf("the new %s is %v", id, now[id])
		}
		if base[id] != nil && is[id] == nil && now[id] != nil {
			t.Errorf("%s, which others have deleted, is back", id)
		}
	}
}

func checkMembers(t testing.TB, id string, base, is, made, now item) {
	t.Helper()
	if made == nil {
		made = base // a deletion that was not done
	}
	for _, key := range []string{"id", "type", "x", "y", "color", "fromNode", "toNode"} {
		want := made[key]
		if base[key] != is[key] || base[key] == made[key] {
			want = is[key]
		}
		if now[key] != want {
			t.Errorf("%s of %s is %v, want %v", key, id, now[key], want)
		}
	}
	text := func(n item) string { s, _ := n["text"].(string); return s }
	old := strings.Fields(text(base))
	for _, side := range []item{is, made} {
		for _, word := range strings.Fields(text(side)) {
			if !slices.Contains(old, word) && !slices.Contains(strings.Fields(text(now)), word) {
				t.Errorf("%s of %s is lost: %q", word, id, text(now))
			}
		}
	}
	for _, word := range old {
		deleted := !slices.Contains(strings.Fields(text(is)), word) || !slices.Contains(strings.Fields(text(made)), word)
		if deleted == slices.Contains(strings.Fields(text(now)), word) {
			t.Errorf("%s of %s: gone is %v, and the text is %q", word, id, deleted, text(now))
		}
	}
}
