package links

import "testing"

func TestRetargetCanvas(t *testing.T) {
	const old, moved = "sub/A.md", `Neu/"B" & <C>.md`
	for _, tt := range []struct{ name, data, want string }{
		{"a file", `{ "nodes" : [ {"id":"1", "type":"file","file" :  "sub/A.md" , "x": 1.0} ] }`,
			`{ "nodes" : [ {"id":"1", "type":"file","file" :  "Neu/\"B\" & <C>.md" , "x": 1.0} ] }`},
		{"escaped, with a subpath beside", `{"nodes":[{"file":"sub\/\u0041.md","subpath":"#x"}]}`, `{"nodes":[{"file":"Neu/\"B\" & <C>.md","subpath":"#x"}]}`},
		{"twice, and a background", `{"nodes":[{"file":"sub/A.md"},{"type":"group","background":"sub/A.md"},{"file":"sub/A.md"}]}`,
			`{"nodes":[{"file":"Neu/\"B\" & <C>.md"},{"type":"group","background":"Neu/\"B\" & <C>.md"},{"file":"Neu/\"B\" & <C>.md"}]}`},
		{"another file", `{"nodes":[{"file":"sub/A.md.md"},{"file":"A.md"},{"file":"sub/AA.md"}]}`, ""},
		{"text that says so", `{"nodes":[{"text":"sub/A.md"}],"edges":[{"file":"sub/A.md"}],"file":"sub/A.md"}`, ""},
		{"deeper", `{"nodes":[{"x":{"file":"sub/A.md"}},[{"file":"sub/A.md"}]]}`, ""},
		{"no string", `{"nodes":[{"file":["sub/A.md"]},{"file":null}]}`, ""},
		{"no canvas", `[{"file":"sub/A.md"}]`, ""},
		{"no JSON", `{"nodes":[{"file":"sub/A.md"}]`, ""},
		{"empty", ``, ""},
	} {
		got, ok := RetargetCanvas([]byte(tt.data), old, moved, nil)
		want := tt.want
		if want == "" {
			want = tt.data
		}
		if string(got) != want || ok != (tt.want != "") {
			t.Errorf("%s: %s, %v", tt.name, got, ok)
		}
	}
	got, ok := RetargetCanvas([]byte(`{"nodes":[{"file":"sub/A.md"},{"file":"subs/A.md"}]}`), "sub", "new/sub", nil)
	if want := `{"nodes":[{"file":"new/sub/A.md"},{"file":"subs/A.md"}]}`; string(got) != want || !ok {
		t.Errorf("a folder: %s", got)
	}
}

func FuzzRetargetCanvas(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"file":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		moved, ok := RetargetCanvas(data, "a", "b", nil)
		if !ok {
			return
		}
		if _, again := RetargetCanvas(moved, "a", "b", nil); again {
			t.Errorf("%q still names it", moved)
		}
	})
}
