package notes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/bases"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/cursor"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/question"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// defaultRows is how many rows query returns.
const defaultRows = 100

type queryArgs struct {
	Where  string   `arg:"where" doc:"Condition as in Obsidian's Bases, for example status != \"done\" && due < today() + \"7d\" && file.hasTag(\"work\")"`
	Base   string   `arg:"base" is:"path" doc:"Path of a .base file, whose view decides instead of where, fields and sort"`
	View   string   `arg:"view" doc:"Name of the view of the base; the first if left out"`
	Folder string   `arg:"folder" is:"path" doc:"Folder whose notes are asked. Leave it out for all, or all of the vault of the base"`
	Fields []string `arg:"fields" doc:"What to tell of each note: status, file.mtime, ..."`
	Sort   []string `arg:"sort" doc:"What to sort by; - before one sorts downwards: [\"due\", \"-file.mtime\"]"`
	Limit  int      `arg:"limit" is:"bound" min:"1" def:"100" doc:"Return at most so many rows at a time"`
	cursor.Listing
}

type queryResult struct {
	Rows  []queryRow `json:"rows"`
	Count int        `json:"count" doc:"How many rows there are, those of other answers included"`
	View  string     `json:"view,omitempty" doc:"Name of the view of the base"`
	cursor.Page
}

type queryRow struct {
	Path   string                 `json:"path"`
	Values frontmatter.Properties `json:"values" doc:"By the names in fields, or in the order of the view"`
	Notice string                 `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
}

// listed is the cursor key of a row: its path, and its place if the row is gone.
type listed struct {
	Path  model.Path `json:"p"`
	Place int        `json:"n"`
}

func query(ctx context.Context, c *tool.Client, a queryArgs) (queryResult, error) {
	if a.Base == "" && a.Where == "" && a.View == "" && len(a.Sort)+len(a.Fields) == 0 {
		return queryResult{}, answer.WrongArgument("There is no question: give the argument \"where\", or \"base\" for a .base file.")
	}
	rows, view, err := a.rows(ctx, c)
	if err != nil {
		return queryResult{}, err
	}
	var last listed
	given, err := a.After(&last)
	if err != nil {
		return queryResult{}, err
	}
	from := 0
	if given {
		if from = 1 + slices.IndexFunc(rows, func(r question.Row) bool { return r.Path == last.Path }); from == 0 {
			from = min(max(last.Place, 0), len(rows))
		}
	}
	key := func(i int) any { return listed{rows[from+i].Path, from + i} }
	show := func(r question.Row) queryRow {
		fit, notice := thatFit(r.Values, maxProperties)
		return queryRow{string(r.Path), fit, notice}
	}
	return cursor.List(a.Listing, rows[from:], cmp.Or(a.Limit, defaultRows), key, show, func(shown []queryRow, page cursor.Page) queryResult {
		return queryResult{Rows: shown, Count: len(rows), View: view, Page: page}
	}), nil
}

// rows returns all rows, and the name of the view.
func (a queryArgs) rows(ctx context.Context, c *tool.Client) ([]question.Row, string, error) {
	under, err := c.Names.Folder(ctx, "folder", a.Folder, "")
	if err != nil {
		return nil, "", err
	}
	if a.Base == "" {
		if a.View != "" {
			return nil, "", answer.WrongArgument("The argument \"view\" is one of a base: give \"base\", too.")
		}
		var conditions []string
		if a.Where != "" {
			conditions = []string{a.Where}
		}
		b, err := bases.Ask(conditions, a.Fields, a.Sort)
		if err != nil {
			return nil, "", question.Wrong(err)
		}
		rows, err := question.Ask(ctx, c.Workspace, b, b.Views[0], under, false)
		return rows, "", err
	}
	if a.Where != "" || len(a.Fields)+len(a.Sort) > 0 {
		return nil, "", answer.WrongArgument("Give base, or where with fields and sort, and not both: the view of a base says what it shows and how it is sorted.")
	}
	p, err := c.Names.Resolve(ctx, a.Base)
	if err != nil {
		return nil, "", err
	}
	if entity.Of(string(p)) != entity.Base {
		return nil, "", answer.WrongArgument("The argument \"base\" is %q, whose name does not end in .base.", string(p))
	}
	text, err := c.ReadText(ctx, p)
	if err != nil {
		return nil, "", err
	}
	b, err := bases.ParseBase(text)
	if err != nil {
		return nil, "", cannotEvaluate(p, err)
	}
	view, err := viewOf(b, a.View)
	if err != nil {
		return nil, "", err
	}
	if view.Err != nil {
		return nil, "", cannotEvaluate(p, view.Err)
	}
	if folder, _ := p.Split(); under == "" {
		under = model.Path(folder)
	}
	rows, err := question.Ask(ctx, c.Workspace, b, view, under, true)
	return rows, view.Name, err
}

func cannotEvaluate(p model.Path, err error) error {
	return answer.WrongArgument("%s cannot be evaluated: %v. Ask with where, for another view, or mend the base.", answer.Shown(p), err)
}

func viewOf(b *bases.Base, name string) (bases.View, error) {
	if name == "" {
		return b.Views[0], nil
	}
	var have []string
	for _, v := range b.Views {
		if strings.EqualFold(v.Name, name) {
			return v, nil
		}
		have = append(have, fmt.Sprintf("%q", answer.OneLine(v.Name)))
	}
	list, _ := answer.JoinBounded(have, 2000)
	return bases.View{}, answer.WrongArgument("The base has no view %q. Its views are %s.", answer.OneLine(name), strings.ReplaceAll(list, "\n", ", "))
}
