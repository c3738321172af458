package bases

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/moment"
	"github.com/relayfs/relayfs/bridge/outline"
)

// method is a function of a value.
type method struct {
	args arity
	run  func(of any, args []any) any
}

// function is one of a file, or of its arguments alone.
type function struct {
	args arity
	run  func(*File, []any) any
}

var (
	one  = arity{1, 1}
	some = arity{1, -1}
	no   = arity{0, 0}
)

// fileFields are the properties of a file.
var fileFields = map[string]node{
	"name":       func(f *File) any { return path.Base(f.Path) },
	"basename":   func(f *File) any { return strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)) },
	"path":       func(f *File) any { return f.Path },
	"folder":     func(f *File) any { return strings.TrimPrefix(path.Dir("/"+f.Path), "/") },
	"ext":        func(f *File) any { return strings.TrimPrefix(path.Ext(f.Path), ".") },
	"size":       func(f *File) any { return float64(f.Size) },
	"mtime":      func(f *File) any { return f.Modified },
	"tags":       func(f *File) any { return tags(f.Tags) },
	"links":      func(f *File) any { return linksTo(f.Links) },
	"backlinks":  func(f *File) any { return linksTo(f.Backlinks) },
	"properties": func(f *File) any { return f.Properties },
}

func linksTo(paths func() []string) []any {
	var out []any
	if paths != nil {
		for _, p := range paths() {
			out = append(out, link{p})
		}
	}
	return out
}

var fileMethods = map[string]function{
	"hasTag": {some, func(f *File, args []any) any {
		o := outline.Outline{Tags: f.Tags}
		return slices.ContainsFunc(args, func(v any) bool { return o.HasTag(text(v)) })
	}},
	"inFolder": {one, func(f *File, args []any) any {
		want := strings.ToLower(strings.Trim(text(args[0]), "/"))
		return want == "" || strings.HasPrefix(strings.ToLower(f.Path), want+"/")
	}},
	"hasLink": {one, func(f *File, args []any) any {
		want := args[0]
		if s, ok := want.(string); ok {
			want = linkOf(s)
		}
		return slices.ContainsFunc(linksTo(f.Links), func(v any) bool { return equal(v, want) })
	}},
	"hasProperty": {one, func(f *File, args []any) any {
		return slices.ContainsFunc(f.Properties, func(e frontmatter.Property) bool { return strings.EqualFold(e.Key, text(args[0])) })
	}},
}

var dateFields = map[string]func(time.Time) int{
	"year": time.Time.Year, "month": func(t time.Time) int { return int(t.Month()) }, "day": time.Time.Day,
	"hour": time.Time.Hour, "minute": time.Time.Minute, "second": time.Time.Second,
}

var globals = map[string]function{
	"if":    {args: arity{2, 3}},
	"now":   {no, func(f *File, _ []any) any { return f.Now }},
	"today": {no, func(f *File, _ []any) any { return day(f.Now) }},
	"date": {one, func(_ *File, args []any) any {
		if t, ok := asTime(args[0]); ok {
			return t
		}
		return nil
	}},
	"duration": {one, func(_ *File, args []any) any { return args[0] }}, // which date arithmetic reads
	"number":   {one, func(_ *File, args []any) any { return toNumber(args[0]) }},
	"list": {one, func(_ *File, args []any) any {
		if l, ok := asList(args[0]).([]any); ok {
			return l
		}
		return []any{args[0]}
	}},
	"link": {arity{1, 2}, func(_ *File, args []any) any { return linkOf(text(args[0])) }},
	"max":  {some, func(_ *File, args []any) any { return extreme(args, 1) }},
	"min":  {some, func(_ *File, args []any) any { return extreme(args, -1) }},
}

func toNumber(v any) any {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1.0
		}
		return 0.0
	case time.Time:
		return float64(v.UnixMilli())
	case string:
		if x, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
	}
	return nil
}

func extreme(args []any, sign float64) any {
	var best any
	for _, a := range args {
		x, ok := a.(float64)
		if b, _ := best.(float64); ok && (best == nil || sign*x > sign*b) {
			best = x
		}
	}
	return best
}

// methods are those of all types. On a value of another type one gives nil.
var methods = map[string]method{
	"isEmpty":  {no, func(v any, _ []any) any { return empty(v) }},
	"isTruthy": {no, func(v any, _ []any) any { return truthy(v) }},
	"toString": {no, func(v any, _ []any) any { return text(v) }},
	"contains": {one, func(v any, args []any) any { return contains(v, args[0]) }},
	"containsAny": {some, func(v any, args []any) any {
		return slices.ContainsFunc(args, func(a any) bool { return contains(v, a) })
	}},
	"containsAll": {some, func(v any, args []any) any {
		return !slices.ContainsFunc(args, func(a any) bool { return !contains(v, a) })
	}},
	"startsWith": {one, func(v any, args []any) any { s, ok := v.(string); return ok && strings.HasPrefix(s, text(args[0])) }},
	"endsWith":   {one, func(v any, args []any) any { s, ok := v.(string); return ok && strings.HasSuffix(s, text(args[0])) }},
	"lower":      onType(strings.ToLower),
	"trim":       onType(strings.TrimSpace),
	"abs":        onType(math.Abs),
	"ceil":       onType(math.Ceil),
	"floor":      onType(math.Floor),
	"round": {arity{0, 1}, func(v any, args []any) any {
		x, ok := v.(float64)
		if !ok {
			return nil
		}
		scale := math.Pow10(digits(args))
		return math.Floor(x*scale+0.5) / scale
	}},
	"toFixed": {arity{0, 1}, func(v any, args []any) any {
		if x, ok := v.(float64); ok {
			return strconv.FormatFloat(x, 'f', digits(args), 64)
		}
		return nil
	}},
	"join": {one, func(v any, args []any) any {
		l, ok := asList(v).([]any)
		if !ok {
			return nil
		}
		items := each(l, text)
		if sep := text(args[0]); len(items)*len(sep) <= maxMade {
			return strings.Join(items, sep)
		}
		return nil
	}},
	"date": {no, func(v any, _ []any) any { return ofTime(v, func(t time.Time) any { return day(t) }) }},
	"time": {no, func(v any, _ []any) any { return ofTime(v, func(t time.Time) any { return t.Format(time.TimeOnly) }) }},
	"format": {one, func(v any, args []any) any {
		return ofTime(v, func(t time.Time) any { return moment.Format(t, text(args[0])) })
	}},
}

// onType returns a method of values of one type.
func onType[T any](fn func(T) T) method {
	return method{no, func(v any, _ []any) any {
		if x, ok := v.(T); ok {
			return fn(x)
		}
		return nil
	}}
}

func ofTime(v any, fn func(time.Time) any) any {
	if t, ok := asTime(v); ok {
		return fn(t)
	}
	return nil
}

// digits returns how many digits behind the point an argument wants, within what a number has.
func digits(args []any) int {
	if len(args) == 0 {
		return 0
	}
	n, _ := args[0].(float64)
	return int(min(max(n, 0), 15))
}

// contains reports whether a text holds another, or a list an item.
func contains(v, item any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text(item))
	case tags:
		want := strings.TrimPrefix(text(item), "#")
		return slices.ContainsFunc(v, func(tag string) bool { return strings.EqualFold(tag, want) })
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return equal(x, item) })
	}
	return false
}
