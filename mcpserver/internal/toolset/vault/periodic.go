package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type periodicNoteArgs struct {
	Period string `arg:"period" enum:"daily|weekly|monthly|quarterly|yearly" def:"\"daily\"" doc:"Period of the note"`
	Date   string `arg:"date" max:"40" doc:"2026-01-31, today, yesterday or tomorrow; today if left out"`
	Vault  string `arg:"vault" doc:"Top-level folder; needed if there are several"`
	Create *bool  `arg:"create" def:"true" doc:"Create the note if it is missing"`
}

func periodicNote(ctx context.Context, c *tool.Client, a periodicNoteArgs) (result.Result, error) {
	folder, err := vaultOf(c, a.Vault)
	if err != nil {
		return result.Result{}, err
	}
	now := time.Now()
	day, err := dayOf(a.Date, now)
	if err != nil {
		return result.Result{}, err
	}
	of, err := periodicOf(c.Workspace, folder, cmp.Or(a.Period, "daily"))
	if err != nil {
		return result.Result{}, err
	}
	lang, err := languageOf(ctx, c, folder, now)
	if err != nil {
		return result.Result{}, err
	}
	p, err := c.Resolver.NewPath(folder+"/"+of.path(lang, day), true)
	if err != nil {
		return result.Result{}, err
	}
	if there, err := c.Resolver.LookUp(string(p)); err == nil {
		return result.Text(fmt.Sprintf("%s exists.", result.Escape(there))), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return result.Result{}, err
	}
	if a.Create != nil && !*a.Create {
		return result.Text(fmt.Sprintf("%s does not exist yet.", result.Escape(p))), nil
	}
	text := ""
	if of.Template != "" {
		if text, err = fill(ctx, c, of.Template, p, lang, day, now); err != nil {
			return result.Result{}, err
		}
	}
	return create(ctx, c, p, text)
}

func dayOf(date string, now time.Time) (time.Time, error) {
	switch date {
	case "", "today":
		return now, nil
	case "yesterday":
		return now.AddDate(0, 0, -1), nil
	case "tomorrow":
		return now.AddDate(0, 0, 1), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, date, now.Location())
	if err != nil {
		return day, result.InvalidArgument("The argument \"date\" is %q, and must be a date like 2026-01-31, or today, yesterday or tomorrow.", date)
	}
	return day, nil
}

func vaultOf(c *tool.Client, name string) (string, error) {
	folders := c.Resolver.Folders()
	if name == "" && len(folders) == 1 {
		return folders[0], nil
	}
	for _, f := range folders {
		if strings.EqualFold(f, strings.Trim(name, "/")) {
			return f, nil
		}
	}
	return "", result.InvalidArgument("The argument \"vault\" must be one of %s.", strings.Join(folders, ", "))
}

func fill(ctx context.Context, c *tool.Client, name string, p model.Path, lang *language, day, now time.Time) (string, error) {
	folder, _ := p.Split()
	t, err := templatesOf(c.Workspace, folder)
	if err != nil {
		return "", err
	}
	var v *model.Version
	for _, at := range []string{path.Join(folder, name), path.Join(folder, t.Folder, name), name} {
		if _, v, err = c.Resolver.Note(ctx, at); err == nil {
			return t.fill(lang, v.Text(), strings.TrimSuffix(p.Base(), model.NoteExt), day, now), nil
		}
	}
	return "", err
}

var unfilled = regexp.MustCompile(`\{\{[^{}\n]{1,80}\}\}|<%[^%\n]{1,80}%>`)

// create creates the note. Its result also lists up to five placeholders that were not filled in.
func create(ctx context.Context, c *tool.Client, p model.Path, text string) (result.Result, error) {
	res, err := c.Changes.Create(ctx, p, text, "template")
	if err != nil {
		return result.Result{}, err
	}
	out := fmt.Sprintf("Created %s.", result.Escape(p))
	if notice := res.Notice(); notice != "" {
		out += " " + notice
	}
	if left := unfilled.FindAllString(text, 5); left != nil {
		out += fmt.Sprintf(" These placeholders belong to plugins and were not filled in: %s.", strings.Join(left, ", "))
	}
	shown, cut := result.Truncate(res.Version.Text(), result.Max/2)
	if cut {
		shown += "\n[cut here; read the note to see the rest]"
	}
	return result.Text(out, shown), nil
}

type createFromTemplateArgs struct {
	Template string `arg:"template" is:"path" doc:"Name or path of the template; if it is omitted, the templates are listed"`
	Path     string `arg:"path" is:"path" doc:"Path of the new note"`
	Vault    string `arg:"vault" doc:"Top-level folder whose templates are listed; needed if there are several"`
}

func createFromTemplate(ctx context.Context, c *tool.Client, a createFromTemplateArgs) (result.Result, error) {
	if a.Template == "" {
		return listTemplates(ctx, c, a.Vault)
	}
	if a.Path == "" {
		return result.Result{}, result.InvalidArgument("The argument \"path\" is missing: give the path of the new note.")
	}
	p, err := c.Resolver.NewPath(a.Path, true)
	if err != nil {
		return result.Result{}, err
	}
	now := time.Now()
	folder, _ := p.Split()
	lang, err := languageOf(ctx, c, folder, now)
	if err != nil {
		return result.Result{}, err
	}
	text, err := fill(ctx, c, a.Template, p, lang, now, now)
	if err != nil {
		return result.Result{}, err
	}
	return create(ctx, c, p, text)
}

func listTemplates(ctx context.Context, c *tool.Client, vault string) (result.Result, error) {
	folder, err := vaultOf(c, vault)
	if err != nil {
		return result.Result{}, err
	}
	t, err := templatesOf(c.Workspace, folder)
	if err != nil {
		return result.Result{}, err
	}
	if t.Folder == "" {
		return result.Text("The vault's settings name no folder of templates. Give the path of a note as the template."), nil
	}
	under, err := c.Resolver.Resolve(ctx, path.Join(folder, t.Folder))
	if err != nil {
		return result.Result{}, err
	}
	var lines []string
	err = c.Workspace.Walk(ctx, under, func(e bridge.Info) error {
		if e.Kind == model.KindNote {
			lines = append(lines, result.Escape(e.Path))
		}
		return nil
	})
	if err != nil {
		return result.Result{}, err
	}
	if len(lines) == 0 {
		return result.Text("There are no templates in " + result.Escape(under) + "."), nil
	}
	return result.Text(result.JoinTruncated(lines, result.Max/2, "\n(%d more)")), nil
}
