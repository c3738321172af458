package bases

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// link is a link to a file, by its name or path in the vault. Links are equal if one's path ends in the other's.
type link struct{ target string }

// tags are a list whose items may be written with '#' or without.
type tags []string

func asList(v any) any {
	if t, ok := v.(tags); ok {
		return each(t, func(tag string) any { return "#" + tag })
	}
	return v
}

func each[A, B any](list []A, fn func(A) B) []B {
	out := make([]B, len(list))
	for i, item := range list {
		out[i] = fn(item)
	}
	return out
}

func truthy(v any) bool {
	switch v := asList(v).(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return true
}

func empty(v any) bool {
	switch v := asList(v).(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case frontmatter.Properties:
		return len(v) == 0
	}
	return false
}

var dateLayouts = []string{"2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339Nano}

// asTime returns a time, or the one that a text is.
func asTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		if len(v) < len("2006-01-02") || v[4:5] != "-" {
			return time.Time{}, false
		}
		for _, layout := range dateLayouts {
			if t, err := time.ParseInLocation(layout, v, time.Local); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// duration is a span of time of calendar units and others.
type duration struct {
	years, months, days int
	rest                time.Duration
}

var durationPart = regexp.MustCompile(`^\s*([+-]?\d{1,6}(?:\.\d{1,9})?)\s*([A-Za-z]+)\s*`)

var units = func() map[string]duration {
	all := map[string]duration{"y": {years: 1}, "M": {months: 1}, "w": {days: 7}, "d": {days: 1}, "h": {rest: time.Hour}, "m": {rest: time.Minute}, "s": {rest: time.Second}}
	for short, name := range map[string]string{"y": "year", "M": "month", "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second"} {
		all[name], all[name+"s"] = all[short], all[short]
	}
	return all
}()

func asDuration(v any) (d duration, ok bool) {
	s, ok := v.(string)
	if !ok || s == "" {
		return d, false
	}
	for s != "" {
		m := durationPart.FindStringSubmatch(s)
		if m == nil {
			return duration{}, false
		}
		unit, known := units[m[2]]
		if !known {
			return duration{}, false
		}
		s = s[len(m[0]):]
		x, _ := strconv.ParseFloat(m[1], 64) // the pattern has digits only
		n := int(x)
		d.years, d.months, d.days = d.years+n*unit.years, d.months+n*unit.months, d.days+n*unit.days
		d.rest += time.Duration(x * float64(unit.rest))
	}
	return d, true
}

func (d duration) after(t time.Time, sign int) time.Time {
	return t.AddDate(sign*d.years, sign*d.months, sign*d.days).Add(time.Duration(sign) * d.rest)
}

func plus(a, b any) any {
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return x + y
		}
	}
	if t, ok := asTime(a); ok {
		if d, ok := asDuration(b); ok {
			return d.after(t, 1)
		}
	}
	_, left := a.(string)
	_, right := b.(string)
	if !left && !right {
		return nil
	}
	if s := text(a) + text(b); len(s) <= maxMade {
		return s
	}
	return nil
}

// maxMade bounds what an expression makes, in bytes: formulas that name each other twice would grow without end.
const maxMade = 100_000

// size returns how many bytes v holds, or a number above limit.
func size(v any, limit int) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			if n > limit {
				break
			}
			n += size(item, limit-n)
		}
	}
	return n
}

func minus(a, b any) any {
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return x - y
		}
		return nil
	}
	t, ok := asTime(a)
	if !ok {
		return nil
	}
	if d, ok := asDuration(b); ok {
		return d.after(t, -1)
	}
	if u, ok := asTime(b); ok {
		return float64(t.Sub(u).Milliseconds())
	}
	return nil
}

func arithmetic(op string, a, b any) any {
	x, ok := a.(float64)
	y, also := b.(float64)
	if !ok || !also {
		return nil
	}
	r := x * y
	switch op {
	case "/":
		r = x / y
	case "%":
		r = math.Mod(x, y)
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return nil
	}
	return r
}

// compare orders two numbers, two dates or two texts; ok is false for anything else.
func compare(a, b any) (c int, ok bool) {
	if x, isNumber := a.(float64); isNumber {
		y, ok := b.(float64)
		return cmp.Compare(x, y), ok && !math.IsNaN(x) && !math.IsNaN(y)
	}
	if t, ok := asTime(a); ok {
		if u, ok := asTime(b); ok {
			return t.Compare(u), true
		}
	}
	x, ok := a.(string)
	y, also := b.(string)
	return strings.Compare(x, y), ok && also
}

func equal(a, b any) bool {
	if l, ok := asLink(a, b); ok {
		r, ok := asLink(b, a)
		return ok && sameFile(l.target, r.target)
	}
	_, left := a.(time.Time)
	_, right := b.(time.Time)
	if left || right {
		c, ok := compare(a, b)
		return ok && c == 0
	}
	a, b = asList(a), asList(b)
	x, ok := a.([]any)
	y, also := b.([]any)
	if ok && also && len(x) == len(y) {
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return frontmatter.Equal(a, b)
}

var wikilink = regexp.MustCompile(`^\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]$`)

// linkOf returns the link to what a text names, with brackets or without.
func linkOf(s string) link {
	if m := wikilink.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return link{s}
}

// asLink returns a link, or the one that a text is, if it is compared with a link.
func asLink(v, with any) (link, bool) {
	if l, ok := v.(link); ok {
		return l, true
	}
	s, ok := v.(string)
	if _, also := with.(link); !ok || !also {
		return link{}, false
	}
	return linkOf(s), true
}

// sameFile reports whether two paths, or names, can mean one file.
func sameFile(a, b string) bool {
	a, b = strings.ToLower(strings.TrimSuffix(a, ".md")), strings.ToLower(strings.TrimSuffix(b, ".md"))
	return a == b || a != "" && b != "" && (strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a))
}

// text returns a value as one text.
func text(v any) string {
	switch v := asList(v).(type) {
	case time.Time:
		if v.Equal(day(v)) {
			return v.Format(time.DateOnly)
		}
		return v.Format("2006-01-02 15:04:05")
	case link:
		return "[[" + strings.TrimSuffix(path.Base(v.target), ".md") + "]]"
	case []any:
		return strings.Join(each(v, text), ", ")
	default:
		return frontmatter.Text(v)
	}
}

// plain returns a value as front matter has it, for an answer.
func plain(v any) any {
	switch v := asList(v).(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case time.Time, link:
		return text(v)
	case []any:
		return each(v, plain)
	default:
		return v
	}
}

func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// rank orders values of different types: numbers, dates, texts, the rest, and what is empty.
func rank(v any) int {
	if empty(v) {
		return 4
	}
	if _, ok := asTime(v); ok {
		return 1
	}
	switch v.(type) {
	case float64:
		return 0
	case string:
		return 2
	}
	return 3
}

// order compares two values for a sort. What is empty comes last, whichever way is up.
func order(a, b any, down bool) int {
	ra, rb := rank(a), rank(b)
	if ra == 4 || rb == 4 {
		return ra - rb
	}
	c := ra - rb
	if c == 0 {
		var ok bool
		if c, ok = compare(a, b); !ok {
			c = strings.Compare(strings.ToLower(text(a)), strings.ToLower(text(b)))
		}
		if x, ok := a.(string); ok && ra == 2 {
			c = cmp.Or(strings.Compare(strings.ToLower(x), strings.ToLower(b.(string))), c)
		}
	}
	if down {
		return -c
	}
	return c
}
