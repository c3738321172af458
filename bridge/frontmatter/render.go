package frontmatter

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// indentStep is Obsidian's indentation of a nested block.
const indentStep = 2

// entries returns the lines of block entries at column, each preceded by a line break.
func (e *editor) entries(p Properties, column int) string {
	var b strings.Builder
	for _, x := range p {
		b.WriteString(e.nl + strings.Repeat(" ", column) + scalarText(x.Key, 0, false) + ":" + e.after(x.Value, column))
	}
	return b.String()
}

// after returns a value as written after the colon of a key at column.
func (e *editor) after(v any, column int) string {
	if isBlock(v) {
		return e.block(v, column)
	}
	if text := scalarText(v, 0, false); text != "" {
		return " " + text
	}
	return ""
}

// block returns a list or a mapping on separate lines, each preceded by a line break.
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

// item returns a value as written after a dash at column.
func (e *editor) item(v any, column int) string {
	if p, ok := v.(Properties); ok && isBlock(v) {
		return " " + strings.TrimPrefix(e.entries(p, column+indentStep), e.nl+strings.Repeat(" ", column+indentStep))
	}
	return e.after(v, column)
}

// inline returns a value that replaces old on the line of its key, if possible in the style of old.
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

func literalSafe(s string) bool {
	return strings.Contains(s, "\n") && strings.TrimSpace(s) != "" && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n") &&
		!strings.HasSuffix(s, "\n\n") && !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !printable(r) })
}

// literal returns s as a literal block scalar, starting with its indicator.
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
			parts = append(parts, e.flowText(p.Key)+": "+e.flowText(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case nil:
		return "null"
	}
	return scalarText(v, 0, true)
}

// scalarText returns the YAML of a scalar or an empty collection. A string gets the quotes of style. If style has none,
// the string is plain if plainSafe allows that.
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
	// ambiguous matches plain scalars that YAML 1.1 or 1.2 may read as something other than a string.
	ambiguous = regexp.MustCompile(`(?i)^(~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(inf|nan)|[-+.]?[0-9][0-9a-fx_.,:eo+\-]*( .*)?)$`)
	isoDate   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$`)
)

func plainSafe(s string, flow bool) bool {
	switch {
	case isoDate.MatchString(s):
		return true // Obsidian writes dates without quotes
	case s == "", s != strings.TrimSpace(s), ambiguous.MatchString(s):
		return false
	case strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`"), strings.HasSuffix(s, ":"):
		return false
	case strings.Contains(s, ": "), strings.Contains(s, " #"), flow && strings.ContainsAny(s, ",[]{}:"):
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !printable(r) })
}

// printable reports whether r may be unescaped in a scalar. Invisible characters and YAML 1.1's line breaks may not.
func printable(r rune) bool {
	return r != utf8.RuneError && (unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r)) && r != '\ufeff' && !strings.ContainsRune("\u0085\u2028\u2029", r)
}

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
