// Package question asks the notes of a workspace what a condition or a base asks. It opens no note. It has no
// locks.
package question

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bases"
	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// Where returns those of notes that the argument where holds of; all if it is "".
func Where(ctx context.Context, ws *bridge.Workspace, where string, notes []*noteindex.NoteInfo) ([]*noteindex.NoteInfo, error) {
	if where == "" {
		return notes, nil
	}
	e, err := bases.Parse(where)
	if err != nil {
		return nil, Wrong(err)
	}
	linked, err := ws.LinkIndex(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(notes), func(n *noteindex.NoteInfo) bool { return !e.True(fileOf(n, linked, now)) }), nil
}

// Wrong returns the refusal of the argument where.
func Wrong(err error) error {
	return answer.WrongArgument("The argument %q is wrong: %v. Expressions are those of Obsidian's Bases, for example status != \"done\" && due < today() + \"7d\" && file.hasTag(\"work\").", "where", err)
}

// Holds returns what says of which notes at and below under the argument where holds.
func Holds(ctx context.Context, ws *bridge.Workspace, under model.Path, where string) (func(model.Path) bool, error) {
	notes, err := ws.Notes(ctx, under)
	if err == nil {
		notes, err = Where(ctx, ws, where, notes)
	}
	holds := make(map[model.Path]bool, len(notes))
	for _, n := range notes {
		holds[n.Path] = true
	}
	return func(p model.Path) bool { return holds[p] }, err
}

// fileOf returns a note as expressions have it, with paths in its top-level folder, which is the vault.
func fileOf(n *noteindex.NoteInfo, linked *links.Index, now time.Time) *bases.File {
	folder, rel := n.Path.Split()
	within := func(paths []string) []string {
		for i, p := range paths {
			if of, rel := model.Path(p).Split(); of == folder {
				paths[i] = rel
			}
		}
		return paths
	}
	return &bases.File{
		Path: rel, Size: n.Size, Modified: n.ModTime.In(now.Location()), Tags: n.Tags, Properties: n.Properties, Now: now,
		Links:     func() []string { resolved, _ := linked.Forward(string(n.Path)); return within(resolved) },
		Backlinks: func() []string { return within(linked.Backlinks(string(n.Path))) },
	}
}

// Row is what a base shows of a file.
type Row struct {
	Path model.Path
	bases.Row
}

// Ask returns the rows of a view of a base, from the notes at and below under, and the other files if all is true.
func Ask(ctx context.Context, ws *bridge.Workspace, b *bases.Base, view bases.View, under model.Path, all bool) ([]Row, error) {
	notes, err := ws.Notes(ctx, under)
	if err != nil {
		return nil, err
	}
	linked, err := ws.LinkIndex(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	files := make([]*bases.File, len(notes))
	paths := make(map[*bases.File]model.Path)
	for i, n := range notes {
		files[i] = fileOf(n, linked, now)
		paths[files[i]] = n.Path
	}
	if all {
		err = ws.Walk(ctx, under, func(e bridge.Info) error {
			if e.Kind != model.KindFile {
				return nil
			}
			info, err := ws.Stat(ctx, e.Path)
			if err != nil {
				return nil // it is gone
			}
			f := fileOf(&noteindex.NoteInfo{Path: e.Path, Size: info.Size, ModTime: info.ModTime}, linked, now)
			files, paths[f] = append(files, f), e.Path
			return nil
		})
		slices.SortFunc(files, func(a, b *bases.File) int { return cmp.Compare(paths[a], paths[b]) })
	}
	rows := b.Rows(view, files)
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = Row{paths[r.File], r}
	}
	return out, err
}
