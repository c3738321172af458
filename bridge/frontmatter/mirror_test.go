package frontmatter_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

func TestMirror(t *testing.T) {
	const draft = "---\nstatus: draft\ntags: [a, b]\n---\nBody\n"
	inStep := map[string]any{"status": `"draft"`, "tags": `["a","b"]`}
	for _, tt := range []struct {
		name, before, after string
		mirror, want        map[string]any // want nil: as it is
	}{
		{"changed", draft, "---\nstatus: done\ntags: [a, b]\n---\nBody\n", inStep, map[string]any{"status": `"done"`, "tags": `["a","b"]`}},
		{"added", draft, "---\nstatus: draft\ntags: [a, b]\ndue: 2026-01-31\n---\n", inStep, map[string]any{"status": `"draft"`, "tags": `["a","b"]`, "due": `"2026-01-31"`}},
		{"removed", draft, "---\nstatus: draft\n---\nBody\n", inStep, map[string]any{"status": `"draft"`}},
		{"all removed", draft, "Body\n", inStep, map[string]any{}},
		{"emptied", draft, "---\n---\nBody\n", inStep, map[string]any{}},
		{"written in another way", draft, "---\nstatus: 'draft' # still\ntags:\n  - a\n  - b\n---\nBody\n", inStep, nil},
		{"what earlier changes left", draft, "---\nstatus: done\ntags: [a, b]\n---\nBody\n", map[string]any{"tags": `["a"]`, "old": "1"}, map[string]any{"status": `"done"`, "tags": `["a","b"]`}},
		{"of another form", draft, "---\nstatus: done\n---\n", map[string]any{"status": []any{"x"}, "tags": nil}, map[string]any{"status": `"done"`}},
		{"mended", "---\nstatus: [done\n---\n", "---\nstatus: [done]\n---\n", map[string]any{"status": `"draft"`}, map[string]any{"status": `["done"]`}},
		{"not in use", draft, "---\nstatus: done\n---\n", map[string]any{}, nil},
		{"body", draft, draft + "more\n", map[string]any{"status": `"stale"`}, nil},
		{"broken", draft, "---\nstatus: [done\n---\n", inStep, nil},
		{"twice", draft, "---\nstatus: a\nstatus: b\n---\n", inStep, nil},
		{"no mapping", draft, "---\njust words\n---\n", inStep, nil},
		{
			"values", draft,
			"---\ni: 7\nf: 0.5\nbig: 1e21\nn:\nb: true\nyes: yes\nd: 2026-01-31\nnan: [.nan, -.inf]\ns: \"<a> & 🦊\\n\"\nm: {z: 1, a: [~, {}]}\n1: one\n---\n",
			map[string]any{"i": "7"},
			map[string]any{
				"i": "7", "f": "0.5", "big": "1e+21", "n": "null", "b": "true", "yes": `"yes"`, "d": `"2026-01-31"`, "nan": "[null,null]",
				"s": `"<a> & 🦊\n"`, "m": `{"z":1,"a":[null,{}]}`, "1": `"one"`,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := maps.Clone(tt.mirror)
			set, drop := frontmatter.Mirror(tt.before, tt.after, got)
			for _, p := range set {
				if got[p.Key] == p.Value {
					t.Errorf("%q is set to what it is", p.Key)
				}
				got[p.Key] = p.Value
			}
			for _, key := range drop {
				if _, there := got[key]; !there || slices.ContainsFunc(set, func(p frontmatter.Property) bool { return p.Key == key }) {
					t.Errorf("%q is dropped, and was not there or is set", key)
				}
				delete(got, key)
			}
			if tt.want == nil && len(set)+len(drop) > 0 {
				t.Errorf("set %v, dropped %v", set, drop)
			}
			if tt.want != nil && !maps.Equal(got, tt.want) {
				t.Errorf("mirror is %v, want %v", got, tt.want)
			}
		})
	}
}
