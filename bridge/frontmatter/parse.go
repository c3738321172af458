package frontmatter

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unique"

	"go.yaml.in/yaml/v4"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// SyntaxError is a parse failure. Line is the line of the note, from 1; Column counts characters, from 1.
type SyntaxError struct {
	Line, Column int
	Msg          string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("front matter, line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

func at(n *yaml.Node, format string, args ...any) error {
	return &SyntaxError{n.Line + 1, n.Column, fmt.Sprintf(format, args...)}
}

// The limits of a parse are necessary because aliases can multiply a small text.
const (
	maxNodes = 200_000 // maximum number of nodes, plus the characters that aliases and lists used as names repeat
	maxDepth = 200
)

// Parse returns the properties of a note. They are nil if there is no front matter, and not nil if it is empty. Errors
// are *SyntaxError.
func Parse(text string) (Properties, error) {
	yaml, _, has := Split(text)
	if !has {
		return nil, nil
	}
	return ParseYAML(yaml)
}

func ParseYAML(src string) (Properties, error) {
	root, err := rootOf(src)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return Properties{}, nil
	}
	r := reader{left: maxNodes}
	return r.mapping(root, 0)
}

// rootOf parses src, whose first line is the note's second line. It returns nil if src has no content.
func rootOf(src string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		return nil, syntaxError(err)
	}
	if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, at(root, "is not a mapping of names to values")
	}
	return root, nil
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Tag == "!!null"
}

func syntaxError(err error) error {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		msg := e.Message
		if e.ContextMark.Line < e.Mark.Line && e.ContextMsg != "" {
			msg += fmt.Sprintf(", %s that starts in line %d", e.ContextMsg, e.ContextMark.Line+1)
		}
		return &SyntaxError{e.Mark.Line + 1, max(e.Mark.Column, 1), msg}
	}
	return &SyntaxError{1, 1, err.Error()}
}

type reader struct {
	left    int // remaining budget, see maxNodes
	aliases int // number of aliases around the current node
}

// spend takes n from the budget and reports whether the budget sufficed.
func (r *reader) spend(n int) bool {
	r.left -= n
	return r.left >= 0
}

func (r *reader) mapping(n *yaml.Node, depth int) (Properties, error) {
	p := make(Properties, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := r.value(n.Content[i], depth+1)
		if err != nil {
			return nil, err
		}
		name := unique.Make(Text(key)).Value() // notes share the bytes of their keys, so a search of all notes is faster
		if !isScalar(key) && !r.spend(len(name)) {
			return nil, tooMuch(n)
		}
		if seen[name] {
			return nil, at(n.Content[i], "has the property %.200q twice", name)
		}
		seen[name] = true
		v, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		p = append(p, Property{Key: name, Value: v})
	}
	return p, nil
}

func (r *reader) value(n *yaml.Node, depth int) (any, error) {
	cost := 1
	if r.aliases > 0 {
		cost += len(n.Value)
	}
	if !r.spend(cost) || depth > maxDepth {
		return nil, tooMuch(n)
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.aliases++
		defer func() { r.aliases-- }()
		return r.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			v, err := r.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	return scalar(n), nil
}

func tooMuch(n *yaml.Node) error {
	return at(n, "is nested more than %d levels deep, or its aliases repeat too much", maxDepth)
}

const quotedStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func scalar(n *yaml.Node) any {
	if n.Style&quotedStyles != 0 || n.Style&yaml.TaggedStyle != 0 && n.Tag == "!!str" {
		return n.Value
	}
	return plain(n.Value)
}

// The core schema of YAML 1.2 (section 10.3.2).
var (
	decimal     = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octal       = regexp.MustCompile(`^0o[0-7]+$`)
	hexadecimal = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	float       = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

func plain(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	}
	switch {
	case decimal.MatchString(s):
		return ycrdt.ParseNumber(strings.TrimPrefix(s, "+"))
	case octal.MatchString(s), hexadecimal.MatchString(s):
		if n, err := strconv.ParseInt(s, 0, 64); err == nil {
			return n
		}
		return s
	case float.MatchString(s):
		f, _ := strconv.ParseFloat(s, 64)
		return f
	}
	return s
}
