package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// Each field of an argument struct is one argument, described by its tags:
//
//	arg  the name
//	doc  the description in the schema
//	need "true" for a required argument
//	min  minimum of an int
//	max  maximum size in bytes of a string, or of an object as JSON
//	enum the allowed strings, separated by '|'
//	def  the default, as JSON, for the schema; the tool itself must apply the default
//	is   "path" for a string, or a list of strings, that must be paths; "bound" for paging arguments
//	for  the required arguments that may be omitted if this argument is given, separated by ','
//
// A field is a string, bool or int, a pointer to one of these if a missing value differs from zero,
// frontmatter.Properties for an object, or a list of strings or of argument structs. If an item of such a list omits a
// field, the default is the argument of the call. The fields of an embedded struct are arguments as well.

type Param struct {
	Name, Doc    string
	kind         reflect.Kind // String, Bool, Int, Map for an object, or Slice
	items        []Param      // fields of the items, if these are structs
	alternatives []string     // arguments that may be omitted if this one is given
	index        []int
	required     bool
	path         bool
	paging       bool
	min          *int
	max          int // maximum size in bytes; 0 means no limit
	enum         []string
	def          json.RawMessage
}

// paramsOf reads the tags of an argument struct. It panics if a tag is invalid.
func paramsOf(t reflect.Type) []Param {
	var params []Param
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		number := func(tag string) *int {
			s, ok := f.Tag.Lookup(tag)
			if !ok {
				return nil
			}
			n, err := strconv.Atoi(s)
			if err != nil {
				panic(fmt.Sprintf("schema: %s.%s: %s: %v", t, f.Name, tag, err))
			}
			return &n
		}
		p := Param{
			Name: f.Tag.Get("arg"), Doc: f.Tag.Get("doc"), index: f.Index, required: f.Tag.Get("need") == "true", path: f.Tag.Get("is") == "path", paging: f.Tag.Get("is") == "bound",
			kind: f.Type.Kind(), min: number("min"), max: *cmp.Or(number("max"), new(int)),
		}
		switch {
		case f.Type == reflect.TypeFor[frontmatter.Properties]():
			p.kind = reflect.Map
		case p.kind == reflect.Pointer:
			p.kind = f.Type.Elem().Kind()
		case p.kind == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			p.items = paramsOf(f.Type.Elem())
		}
		if s := f.Tag.Get("for"); s != "" {
			p.alternatives = strings.Split(s, ",")
		}
		if s := f.Tag.Get("enum"); s != "" {
			p.enum = strings.Split(s, "|")
		}
		if s, ok := f.Tag.Lookup("def"); ok {
			p.def = json.RawMessage(s)
		}
		params = append(params, p)
	}
	return params
}

func decodeCall(tool string, params []Param, raw json.RawMessage, dst any) error {
	given := make(map[string]json.RawMessage)
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &given); err != nil {
			return result.InvalidArgument("The arguments of %s must be a JSON object.", tool)
		}
	}
	return decode(tool, "", params, given, nil, reflect.ValueOf(dst).Elem())
}

func clearPaging(params []Param, args any) {
	for _, p := range params {
		if p.paging {
			reflect.ValueOf(args).Elem().FieldByIndex(p.index).SetZero()
		}
	}
}

// decode sets the fields of v. prefix precedes the names of arguments in errors. otherwise has the arguments of the
// call, which are the defaults for an item.
func decode(tool, prefix string, params []Param, given, otherwise map[string]json.RawMessage, v reflect.Value) error {
	rest := maps.Clone(given)
	var instead []string
	for _, p := range params {
		if !missing(given[p.Name]) {
			instead = append(instead, p.alternatives...)
		}
	}
	for _, p := range params {
		value := given[p.Name]
		if missing(value) {
			value = otherwise[p.Name]
		}
		delete(rest, p.Name)
		if missing(value) {
			if p.required && !slices.Contains(instead, p.Name) {
				return result.InvalidArgument("The argument %q of %s is missing.", prefix+p.Name, tool)
			}
			continue
		}
		if p.items != nil {
			if err := p.setItems(tool, v.FieldByIndex(p.index), value, given); err != nil {
				return err
			}
			continue
		}
		p.Name = prefix + p.Name
		if err := p.set(v.FieldByIndex(p.index), value); err != nil {
			return err
		}
	}
	return unknownArguments(tool, prefix, params, rest)
}

func missing(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

const maxItems = 500

func (p Param) setItems(tool string, f reflect.Value, value json.RawMessage, call map[string]json.RawMessage) error {
	list, err := p.listOf(value)
	if err != nil {
		return err
	}
	f.Set(reflect.MakeSlice(f.Type(), len(list), len(list)))
	for i, raw := range list {
		item := make(map[string]json.RawMessage)
		if json.Unmarshal(raw, &item) != nil {
			return result.InvalidArgument("The argument %q must be a list of objects.", p.Name)
		}
		if err := decode(tool, fmt.Sprintf("%s[%d].", p.Name, i), p.items, item, call, f.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// listOf decodes a list. It also accepts a list in a JSON string, because some models send such strings.
func (p Param) listOf(value json.RawMessage) ([]json.RawMessage, error) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		value = json.RawMessage(text)
	}
	var list []json.RawMessage
	err := json.Unmarshal(value, &list)
	switch {
	case err != nil:
		return nil, result.InvalidArgument("The argument %q must be a list.", p.Name)
	case len(list) == 0:
		return nil, result.InvalidArgument("The argument %q is empty. Give at least one item, or leave it out.", p.Name)
	case len(list) > maxItems:
		return nil, result.InvalidArgument("The argument %q has %d items: at most %d. Make several calls.", p.Name, len(list), maxItems)
	}
	return list, nil
}

func unknownArguments(tool, prefix string, params []Param, rest map[string]json.RawMessage) error {
	if len(rest) == 0 {
		return nil
	}
	var names, known []string
	for name := range rest {
		names = append(names, strconv.Quote(prefix+name))
	}
	for _, p := range params {
		known = append(known, p.Name)
	}
	slices.Sort(names)
	return result.InvalidArgument("%s takes no argument %s. It takes: %s.", tool, strings.Join(names, ", "), strings.Join(known, ", "))
}

func (p Param) set(f reflect.Value, value json.RawMessage) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil { // value is valid JSON, so it must have a number out of range
		return result.InvalidArgument("The argument %q has a number that is too large.", p.Name)
	}
	if !wellFormed(value) {
		return result.InvalidArgument("The argument %q is not valid Unicode: it has bytes that are not UTF-8, or half of a surrogate pair. Nothing was changed; send it again as UTF-8.", p.Name)
	}
	if p.max > 0 && len(value) > p.max {
		return result.InvalidArgument("The argument %q is too long: at most %d bytes.", p.Name, p.max)
	}
	switch p.kind {
	case reflect.Map:
		return p.setObject(f, value, v)
	case reflect.Slice:
		return p.setStrings(f, value)
	}
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	switch p.kind {
	case reflect.String:
		return p.setString(f, v)
	case reflect.Bool:
		return p.setBool(f, v)
	default:
		return p.setInt(f, v)
	}
}

// maxDepth is the maximum nesting depth of an object. It is much higher than the depth of any object that users edit.
const maxDepth = 64

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	case map[string]any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	default:
		return 0
	}
	return deepest + 1
}

func (p Param) setObject(f reflect.Value, value json.RawMessage, v any) error {
	if _, ok := v.(map[string]any); !ok {
		return p.wrongType("an object", v)
	}
	if depth(v) > maxDepth {
		return result.InvalidArgument("The argument %q is nested too deeply: at most %d levels.", p.Name, maxDepth)
	}
	var object frontmatter.Properties
	if err := json.Unmarshal(value, &object); err != nil {
		return result.InvalidArgument("The argument %q cannot be read: %v.", p.Name, err)
	}
	f.Set(reflect.ValueOf(object))
	return nil
}

func (p Param) setStrings(f reflect.Value, value json.RawMessage) error {
	list, err := p.listOf(value)
	if err != nil {
		return err
	}
	f.Set(reflect.MakeSlice(f.Type(), len(list), len(list)))
	for i, raw := range list {
		item := Param{Name: fmt.Sprintf("%s[%d]", p.Name, i), kind: reflect.String, path: p.path, required: true}
		if err := item.set(f.Index(i), raw); err != nil {
			return err
		}
	}
	return nil
}

func (p Param) setString(f reflect.Value, v any) error {
	s, ok := v.(string)
	if !ok {
		return p.wrongType("a string", v)
	}
	if p.enum != nil && !slices.Contains(p.enum, s) {
		return result.InvalidArgument("The argument %q must be one of %s, not %q.", p.Name, strings.Join(p.enum, ", "), s)
	}
	if p.path {
		if err := p.checkPath(s); err != nil {
			return err
		}
	}
	f.SetString(s)
	return nil
}

func (p Param) checkPath(s string) error {
	clean, err := model.CleanPath(s)
	switch {
	case errors.Is(err, model.ErrNameTooLong):
		return result.InvalidArgument("The argument %q is too long: a name has at most 255 bytes, and a path 4,096.", p.Name)
	case err != nil:
		return result.InvalidArgument("The argument %q is %q, which is not allowed: it must not contain \"..\" or NUL. Paths look like Folder/sub/Name.md.", p.Name, s)
	case clean == "" && p.required:
		return result.InvalidArgument("The argument %q is empty. Paths look like Folder/sub/Name.md.", p.Name)
	}
	return nil
}

// setBool sets a bool. It also accepts "true" and "false", because some models send these strings.
func (p Param) setBool(f reflect.Value, v any) error {
	switch v {
	case true, "true":
		f.SetBool(true)
	case false, "false":
		f.SetBool(false)
	default:
		return p.wrongType("true or false", v)
	}
	return nil
}

// setInt sets an int. It also accepts "2" and 2.0.
func (p Param) setInt(f reflect.Value, v any) error {
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case string:
		parsed, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return p.wrongType("a whole number", v)
		}
		n = float64(parsed)
	default:
		return p.wrongType("a whole number", v)
	}
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return result.InvalidArgument("The argument %q must be a whole number, not %v.", p.Name, v)
	}
	if p.min != nil && n < float64(*p.min) {
		return result.InvalidArgument("The argument %q must be at least %d, not %v.", p.Name, *p.min, v)
	}
	f.SetInt(int64(n))
	return nil
}

func (p Param) wrongType(want string, got any) error {
	return result.InvalidArgument("The argument %q must be %s, not %s.", p.Name, want, jsonKind(got))
}

func jsonKind(v any) string {
	return map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "a boolean", reflect.Float64: "a number",
		reflect.Slice: "a list", reflect.Map: "an object",
	}[reflect.ValueOf(v).Kind()]
}

// escapes matches JSON escapes. Its group matches only an unpaired surrogate.
var escapes = regexp.MustCompile(`(?i)\\(?:ud[89ab]..\\ud[c-f]..|(ud[89a-f]..)|.)`)

// wellFormed reports whether a JSON string is valid UTF-8 with paired surrogates. encoding/json would decode other
// strings with U+FFFD, which a tool would then write into a note.
func wellFormed(value []byte) bool {
	if !bytes.Contains(value, []byte(`\ud`)) && !bytes.Contains(value, []byte(`\uD`)) { // a quick check for long texts
		return utf8.Valid(value)
	}
	for _, m := range escapes.FindAllSubmatchIndex(value, -1) {
		if m[2] >= 0 {
			return false
		}
	}
	return utf8.Valid(value)
}
