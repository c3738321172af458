package tool

import (
	"encoding/json"
	"reflect"
	"testing"
)

type sampleArgs struct {
	Name  string `arg:"name" need:"true" doc:"a name"`
	Mode  string `arg:"mode" enum:"a|b" doc:"a mode"`
	Count int    `arg:"count" min:"1" doc:"a count"`
	Deep  *int   `arg:"-D" min:"0" doc:"a depth"`
	On    bool   `arg:"on" doc:"a switch"`
	Off   *bool  `arg:"off" doc:"another"`
}

type manyItem struct {
	Path string `arg:"path" is:"path" need:"true" doc:"a path"`
	Old  string `arg:"old" need:"true" doc:"a text"`
	All  bool   `arg:"all" doc:"a switch"`
}

type manyArgs struct {
	manyItem
	Many  []manyItem `arg:"many" for:"path,old" doc:"several"`
	Paths []string   `arg:"paths" is:"path" for:"path" doc:"several paths"`
}

func TestDecodeLists(t *testing.T) {
	params := paramsOf(reflect.TypeFor[manyArgs]())
	for _, tt := range []struct {
		raw  string
		want manyArgs
		err  string
	}{
		{raw: `{"path":"a","old":"x"}`, want: manyArgs{manyItem: manyItem{"a", "x", false}}},
		{raw: `{"many":[{"path":"a","old":"x"},{"path":"b","old":"y","all":true}]}`, want: manyArgs{Many: []manyItem{{"a", "x", false}, {"b", "y", true}}}},
		{raw: `{"path":"a","all":true,"many":[{"old":"x"},{"old":"y","path":"b","all":false}]}`,
			want: manyArgs{manyItem{"a", "", true}, []manyItem{{"a", "x", true}, {"b", "y", false}}, nil}},
		{raw: `{"path":"a","many":"[{\"old\":\"x\"}]"}`, want: manyArgs{manyItem{"a", "", false}, []manyItem{{"a", "x", false}}, nil}},
		{raw: `{"paths":["a","b"],"old":"x"}`, want: manyArgs{manyItem{"", "x", false}, nil, []string{"a", "b"}}},
		{raw: `{"old":"x"}`, err: `The argument "path" of sample is missing.`},
		{raw: `{"many":null}`, err: `The argument "path" of sample is missing.`},
		{raw: `{"many":[{"path":"a"}]}`, err: `The argument "many[0].old" of sample is missing.`},
		{raw: `{"many":[{"path":"a","old":"x"},{"path":"../b","old":"x"}]}`, err: `The argument "many[1].path" is "../b", which is not allowed: it must not contain ".." or NUL. Paths look like Folder/sub/Name.md.`},
		{raw: `{"many":[{"path":"a","old":"x","colour":1}]}`, err: `sample takes no argument "many[0].colour". It takes: path, old, all.`},
		{raw: `{"many":[3]}`, err: `The argument "many" must be a list of objects.`},
		{raw: `{"many":{}}`, err: `The argument "many" must be a list.`},
		{raw: `{"many":[]}`, err: `The argument "many" is empty. Give at least one item, or leave it out.`},
		{raw: `{"paths":["a",3],"old":"x"}`, err: `The argument "paths[1]" must be a string, not a number.`},
		{raw: `{"paths":["a",""],"old":"x"}`, err: `The argument "paths[1]" is empty. Paths look like Folder/sub/Name.md.`},
	} {
		var got manyArgs
		err := decodeCall("sample", params, json.RawMessage(tt.raw), &got)
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: error %v, want %q", tt.raw, err, tt.err)
		}
		if err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.raw, got, tt.want)
		}
	}
	const want = `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"a path"},"old":{"type":"string","description":"a text"},"all":{"type":"boolean","description":"a switch"},` +
		`"many":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"all":{"type":"boolean"}},"additionalProperties":false},"description":"several"},` +
		`"paths":{"type":"array","items":{"type":"string"},"description":"several paths"}},"additionalProperties":false}`
	if got := string(ArgumentSchema(params)); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
}

const notUnicode = `The argument "name" is not valid Unicode: it has bytes that are not UTF-8, or half of a surrogate pair. Nothing was changed; send it again as UTF-8.`

func TestDecodeArgs(t *testing.T) {
	two, no := 2, false
	for _, tt := range []struct {
		raw  string
		want sampleArgs
		err  string
	}{
		{raw: `{"name":"x"}`, want: sampleArgs{Name: "x"}},
		{raw: `{"name":"x","mode":"b","count":2,"-D":2,"on":true,"off":false}`, want: sampleArgs{"x", "b", 2, &two, true, &no}},
		{raw: `{"name":"x","count":"2","-D":"2","on":"true","off":"false"}`, want: sampleArgs{"x", "", 2, &two, true, &no}},
		{raw: `{"name":"x","count":2.0,"mode":null}`, want: sampleArgs{Name: "x", Count: 2}},
		{raw: ``, err: `The argument "name" of sample is missing.`},
		{raw: `null`, err: `The argument "name" of sample is missing.`},
		{raw: `{"name":null}`, err: `The argument "name" of sample is missing.`},
		{raw: `[]`, err: `The arguments of sample must be a JSON object.`},
		{raw: `{"name":3}`, err: `The argument "name" must be a string, not a number.`},
		{raw: `{"name":["x"]}`, err: `The argument "name" must be a string, not a list.`},
		{raw: `{"name":"\ud83d\ude00 \\ud800 \u00e9 \ufffd"}`, want: sampleArgs{Name: "😀 \\ud800 é \ufffd"}},
		{raw: `{"name":"\ud83d"}`, err: notUnicode},
		{raw: `{"name":"\ude00\ud83d"}`, err: notUnicode},
		{raw: `{"name":"\ud83dx\ude00"}`, err: notUnicode},
		{raw: `{"name":"\\\ud83d\n"}`, err: notUnicode},
		{raw: "{\"name\":\"caf\xe9\"}", err: notUnicode},
		{raw: `{"name":"x","mode":"c"}`, err: `The argument "mode" must be one of a, b, not "c".`},
		{raw: `{"name":"x","count":"many"}`, err: `The argument "count" must be a whole number, not a string.`},
		{raw: `{"name":"x","count":1.5}`, err: `The argument "count" must be a whole number, not 1.5.`},
		{raw: `{"name":"x","count":1e300}`, err: `The argument "count" must be a whole number, not 1e+300.`},
		{raw: `{"name":"x","count":1e999}`, err: `The argument "count" has a number that is too large.`},
		{raw: `{"name":"x","count":0}`, err: `The argument "count" must be at least 1, not 0.`},
		{raw: `{"name":"x","-D":-1}`, err: `The argument "-D" must be at least 0, not -1.`},
		{raw: `{"name":"x","on":1}`, err: `The argument "on" must be true or false, not a number.`},
		{raw: `{"name":"x","off":{}}`, err: `The argument "off" must be true or false, not an object.`},
		{raw: `{"name":"x","colour":1,"b":2}`, err: `sample takes no argument "b", "colour". It takes: name, mode, count, -D, on, off.`},
	} {
		var got sampleArgs
		err := decodeCall("sample", paramsOf(reflect.TypeFor[sampleArgs]()), json.RawMessage(tt.raw), &got)
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: error %v, want %q", tt.raw, err, tt.err)
		}
		if err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.raw, got, tt.want)
		}
	}
}

// Whatever the arguments are, decoding ends in a struct or a sentence.
func FuzzDecodeArgs(f *testing.F) {
	for _, raw := range []string{`{"name":"x","count":"2"}`, `{"name":1e999}`, `{"-D":[{}]}`, `{"name":"\ud800"}`, `nul`} {
		f.Add([]byte(raw))
	}
	params := paramsOf(reflect.TypeFor[sampleArgs]())
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got sampleArgs
		if err := decodeCall("sample", params, raw, &got); err != nil && err.Error() == "" {
			t.Error("an empty sentence")
		}
	})
}
