package frontmatter

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// indentStep is by how much a nested block is indented, as Obsidian does.
const indentStep = 2

// entries are the lines of block entries at column, each with the break before.
func (e *editor) entries(p Properties, column int) string {
	var b strings.Builder
	for _, x := range p {
		b.WriteString(e.nl + strings.Repeat(" ", column) + blockKey(x.Key) + ":" + e.after(x.Value, column))
	}
	return b.String()
}

// after is a value as it follows the colon of a key at column.
func (e *editor) after(v any, column int) string {
	if isBlock(v) {
		return e.block(v, column)
	}
	if text := scalarText(v, 0, false); text != "" {
		return " " + text
	}
	return ""
}

// block is a list or a mapping on lines of its own, each with the break before.
func (e *editor) block(v any, column int) string {
	if p, ok := v.(Properties); ok {
		return e.entries(p, column+indentStep)
	}
	var b strings.Builder
	for _, item := range v.([]any) {
		b.WriteString(e.nl + strings.Repeat(" ", column+indentStep) + "-" + e.item(item, column+indentStep))
	}
	return b.String()
}

// item is a value as it follows a dash at column.
func (e *editor) item(v any, column int) string {
	switch {
	case isBlock(v):
		lines := e.block(v, column)
		if p, ok := v.(Properties); ok {
			lines = e.entries(p, column+indentStep)
			return " " + strings.TrimPrefix(lines, e.nl+strings.Repeat(" ", column+indentStep))
		}
		return lines
	case v == nil:
		return ""
	}
	return " " + scalarText(v, 0, false)
}

// inline is a value that takes the place of old on the line of its key, in the
// style of old as far as that goes.
func (e *editor) inline(v any, old *yaml.Node, column int) string {
	if isBlock(v) {
		return e.flowText(v)
	}
	var style yaml.Style
	if old.Kind == yaml.ScalarNode {
		style = old.Style
	}
	if s, ok := v.(string); ok && style&yaml.LiteralStyle != 0 && literalSafe(s) {
		return e.literal(s, column)
	}
	return scalarText(v, style, false)
}

// literalSafe says that s can be written as a literal block scalar.
func literalSafe(s string) bool {
	return strings.Contains(s, "\n") && strings.TrimSpace(s) != "" && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n") &&
		!strings.HasSuffix(s, "\n\n") && !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !printable(r) })
}

// literal is s as a literal block scalar, from its indicator on.
func (e *editor) literal(s string, column int) string {
	head := "|-"
	if trimmed := strings.TrimSuffix(s, "\n"); trimmed != s {
		head, s = "|", trimmed
	}
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(e.nl)
		if line != "" {
			b.WriteString(strings.Repeat(" ", column+indentStep) + line)
		}
	}
	return b.String()
}

// flowText is a value between brackets.
func (e *editor) flowText(v any) string {
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, e.flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Properties:
		for _, p := range v {
			parts = append(parts, e.flowKey(p.Key)+": "+e.flowText(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case nil:
		return "null"
	}
	return scalarText(v, 0, true)
}

func (e *editor) flowKey(key string) string { return scalarText(key, 0, true) }

func blockKey(key string) string { return scalarText(key, 0, false) }

// scalarText writes a scalar or an empty collection, a string in the quotes of
// style if it has some, or plain if that is read as the same string.
func scalarText(v any, style yaml.Style, flow bool) string {
	switch v := v.(type) {
	case []any:
		return "[]"
	case Properties:
		return "{}"
	case string:
		switch {
		case style&yaml.SingleQuotedStyle != 0 && !strings.ContainsFunc(v, func(r rune) bool { return !printable(r) }):
			return "'" + strings.ReplaceAll(v, "'", "''") + "'"
		case style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 || !plainSafe(v, flow):
			return doubleQuoted(v)
		}
		return v
	}
	return Text(v)
}

var (
	// ambiguous are plain scalars that some reader takes for something other than a
	// string: the words and numbers of YAML 1.1 and 1.2.
	ambiguous = regexp.MustCompile(`(?i)^(~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(inf|nan)|[-+.]?[0-9][0-9a-fx_.,:eo+\-]*( .*)?)$`)
	isoDate   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$`)
)

// plainSafe says that s needs no quotes.
func plainSafe(s string, flow bool) bool {
	switch {
	case isoDate.MatchString(s):
		return true // Obsidian writes dates so
	case s == "", s != strings.TrimSpace(s), ambiguous.MatchString(s):
		return false
	case strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`"), strings.HasSuffix(s, ":"):
		return false
	case strings.Contains(s, ": "), strings.Contains(s, " #"), flow && strings.ContainsAny(s, ",[]{}:"):
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !printable(r) })
}

// printable says that r may stand in a scalar as it is. What looks like nothing,
// and what YAML 1.1 takes for a line break, is escaped.
func printable(r rune) bool {
	return r != utf8.RuneError && (unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r)) && r != '\ufeff' && !strings.ContainsRune("\u0085\u2028\u2029", r)
}

// doubleQuoted writes s in double quotes.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case printable(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
