package bases

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// Base is a .base file, or a question that is asked like one.
type Base struct {
	filter   filter
	formulas map[string]*Expr
	Views    []View // at least one
}

// View is one view of a base.
type View struct {
	Name    string
	Err     error // why it cannot be evaluated; the others can
	filter  filter
	columns []*Expr
	sort    []sortKey
	limit   int // 0 for none
}

// filter reports whether a file is wanted.
type filter func(*File) bool

type sortKey struct {
	by   *Expr
	down bool
}

func everything(*File) bool { return true }

// Ask returns a base of one view: the files of which every condition holds, the properties to show of them, and those
// to sort by, downwards if '-' stands before one.
func Ask(where, columns, sort []string) (*Base, error) {
	r := reader{}
	view := View{filter: everything}
	var parts []filter
	for _, text := range where {
		e, err := r.expr(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, e.True)
	}
	var err error
	if view.columns, err = r.columns(columns); err != nil {
		return nil, err
	}
	for _, name := range sort {
		plain, down := strings.CutPrefix(name, "-")
		by, err := r.column(plain)
		if err != nil {
			return nil, err
		}
		view.sort = append(view.sort, sortKey{by, down})
	}
	return &Base{filter: every(parts), Views: []View{view}}, nil
}

// ParseBase reads a .base file. Errors, also those of views, name the expression, or the part of the file.
func ParseBase(text string) (*Base, error) {
	p, err := frontmatter.ParseYAML(strings.TrimPrefix(text, "\ufeff"))
	var wrong *frontmatter.SyntaxError
	if errors.As(err, &wrong) { // of front matter the first line is the second one of a note
		return nil, fmt.Errorf("line %d, column %d: %s", wrong.Line-1, wrong.Column, wrong.Msg)
	}
	if err != nil {
		return nil, err
	}
	r := reader{formulas: make(map[string]*Expr)}
	if err := r.readFormulas(valueOf(p, "formulas")); err != nil {
		return nil, err
	}
	b := &Base{formulas: r.formulas}
	if b.filter, err = r.filter(valueOf(p, "filters"), 0); err != nil {
		return nil, err
	}
	views, ok := valueOf(p, "views").([]any)
	if v := valueOf(p, "views"); v != nil && !ok {
		return nil, fmt.Errorf("views is not a list")
	}
	for i, v := range views {
		view, err := r.view(v)
		if err != nil {
			view.Err = fmt.Errorf("view %d: %w", i+1, err)
		}
		b.Views = append(b.Views, view)
	}
	if len(views) == 0 {
		b.Views = []View{{filter: everything, columns: []*Expr{fileName}}}
	}
	return b, nil
}

// fileName is what a view shows that names no properties.
var fileName = &Expr{text: "file.name", value: fileFields["name"]}

func valueOf(p frontmatter.Properties, key string) any {
	v, _ := p.Get(key)
	return v
}

// reader reads the expressions of a base.
type reader struct {
	formulas map[string]*Expr // nil where there are none
}

// expr is Parse for an expression that may name formulas.
func (r reader) expr(v any) (*Expr, error) {
	e, err := Parse(frontmatter.Text(v))
	if err != nil {
		return nil, err
	}
	return e, r.check(e)
}

func (r reader) check(e *Expr) error {
	for _, name := range e.uses {
		if _, ok := r.formulas[name]; !ok {
			return &Error{Expr: e.text, Msg: fmt.Sprintf("there is no formula %q", name)}
		}
	}
	return nil
}

func (r reader) readFormulas(v any) error {
	list, ok := v.(frontmatter.Properties)
	if v != nil && !ok {
		return fmt.Errorf("formulas is not a mapping of names to expressions")
	}
	for _, e := range list {
		parsed, err := Parse(frontmatter.Text(e.Value))
		if err != nil {
			return fmt.Errorf("formula %s: %w", e.Key, err)
		}
		r.formulas[e.Key] = parsed
	}
	done := make(map[string]bool)
	for _, e := range list {
		if err := r.follow(e.Key, nil, done); err != nil {
			return fmt.Errorf("formula %s: %w", e.Key, err)
		}
	}
	return nil
}

// follow returns an error if a formula needs one that is missing, or its own value. done has those that do not.
func (r reader) follow(name string, above []string, done map[string]bool) error {
	e := r.formulas[name]
	switch {
	case done[name]:
		return nil
	case slices.Contains(above, name):
		return &Error{Expr: e.text, Msg: "it needs its own value"}
	case len(above) > maxDepth:
		return &Error{Expr: e.text, Msg: fmt.Sprintf("it needs more than %d formulas, one after the other", maxDepth)}
	}
	if err := r.check(e); err != nil {
		return err
	}
	for _, used := range e.uses {
		if err := r.follow(used, append(above[:len(above):len(above)], name), done); err != nil {
			return err
		}
	}
	done[name] = true
	return nil
}

// filter reads a condition, or a mapping of and, or, not to lists of them.
func (r reader) filter(v any, depth int) (filter, error) {
	switch v := v.(type) {
	case nil:
		return everything, nil
	case []any:
		return nil, fmt.Errorf("filters has a list; put it below and, or, or not")
	case frontmatter.Properties:
		if len(v) != 1 || !slices.Contains([]string{"and", "or", "not"}, v[0].Key) {
			return nil, fmt.Errorf("filters has %s; give one of and, or, not", frontmatter.Text(v))
		}
		if depth > maxDepth {
			return nil, fmt.Errorf("filters are nested more than %d deep", maxDepth)
		}
		list, ok := v[0].Value.([]any)
		if !ok && v[0].Value != nil {
			list = []any{v[0].Value}
		}
		var parts []filter
		for _, item := range list {
			part, err := r.filter(item, depth+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		switch v[0].Key {
		case "and":
			return every(parts), nil
		case "or":
			return func(f *File) bool { return len(parts) == 0 || anyOf(parts, f) }, nil
		}
		return func(f *File) bool { return !anyOf(parts, f) }, nil
	}
	e, err := r.expr(v)
	if err != nil {
		return nil, err
	}
	return e.True, nil
}

func anyOf(parts []filter, f *File) bool {
	return slices.ContainsFunc(parts, func(p filter) bool { return p(f) })
}

func every(parts []filter) filter {
	return func(f *File) bool { return !slices.ContainsFunc(parts, func(p filter) bool { return !p(f) }) }
}

func (r reader) view(v any) (view View, err error) {
	p, ok := v.(frontmatter.Properties)
	if !ok {
		return view, fmt.Errorf("it is not a mapping")
	}
	view.Name = frontmatter.Text(valueOf(p, "name"))
	if view.filter, err = r.filter(valueOf(p, "filters"), 0); err != nil {
		return view, err
	}
	keys, _ := valueOf(p, "sort").([]any)
	if group := valueOf(p, "groupBy"); group != nil {
		keys = slices.Insert(slices.Clone(keys), 0, group)
	}
	for _, key := range keys {
		of, _ := key.(frontmatter.Properties)
		by, err := r.column(frontmatter.Text(valueOf(of, "property")))
		if err != nil {
			return view, fmt.Errorf("sort: %w", err)
		}
		view.sort = append(view.sort, sortKey{by, strings.EqualFold(frontmatter.Text(valueOf(of, "direction")), "DESC")})
	}
	var names []string
	order, _ := valueOf(p, "order").([]any)
	for _, name := range order {
		names = append(names, frontmatter.Text(name))
	}
	if view.columns, err = r.columns(names); err != nil {
		return view, err
	}
	if n, ok := valueOf(p, "limit").(int64); ok && n > 0 {
		view.limit = int(min(n, 1<<30))
	}
	return view, nil
}

func (r reader) columns(names []string) (columns []*Expr, err error) {
	if len(names) == 0 {
		return []*Expr{fileName}, nil
	}
	for _, name := range names {
		e, err := r.column(name)
		if err != nil {
			return nil, err
		}
		columns = append(columns, e)
	}
	return columns, nil
}

// column returns the expression for a property as order, sort and groupBy name it, where its name may hold anything.
func (r reader) column(name string) (*Expr, error) {
	switch kind, key, _ := strings.Cut(name, "."); {
	case name == "":
		return nil, fmt.Errorf("a property to show or to sort by has no name")
	case kind == "file":
		return r.expr(name)
	case kind == "note" && key != "":
		return &Expr{text: name, value: property(key)}, nil
	case kind == "formula" && key != "":
		e := &Expr{text: name, value: formula(key), uses: []string{key}}
		return e, r.check(e)
	}
	return &Expr{text: name, value: property(name)}, nil
}

// Row is a file and the values that a view shows of it.
type Row struct {
	File   *File
	Values frontmatter.Properties
}

// Rows returns the rows of a view in its order. Those that the order does not tell apart stay as they are in files.
func (b *Base) Rows(v View, files []*File) []Row {
	keys := make(map[*File][]any)
	var chosen []*File
	for _, f := range files {
		f.formulas, f.results = b.formulas, make(map[string]any)
		if !b.filter(f) || !v.filter(f) {
			continue
		}
		for _, key := range v.sort {
			keys[f] = append(keys[f], key.by.value(f))
		}
		chosen = append(chosen, f)
	}
	slices.SortStableFunc(chosen, func(x, y *File) int {
		for i, key := range v.sort {
			if c := order(keys[x][i], keys[y][i], key.down); c != 0 {
				return c
			}
		}
		return 0
	})
	if v.limit > 0 {
		chosen = chosen[:min(len(chosen), v.limit)]
	}
	rows := make([]Row, len(chosen))
	for i, f := range chosen {
		rows[i].File = f
		for _, e := range v.columns {
			rows[i].Values = rows[i].Values.With(e.text, plain(e.value(f)))
		}
	}
	return rows
}
