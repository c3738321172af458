package mcpserver

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/cursor"
	"github.com/relayfs/relayfs/mcpserver/internal/progress"
)

type listNotesArgs struct {
	Folder      string `arg:"folder" is:"path" doc:"Folder to list. Leave it out for all"`
	FrontMatter bool   `arg:"include_frontmatter" def:"false" doc:"Tell each note's front matter, too"`
	Recursive   *bool  `arg:"recursive" def:"true" doc:"List what is in folders of the folder, too"`
	Cursor      string `arg:"cursor" doc:"next_cursor of the answer before, to go on after it"`
}

type listNotesResult struct {
	Folder string       `json:"folder"`
	Notes  []listedNote `json:"notes"`
	Count  int          `json:"count" doc:"How many notes there are, those of other answers included"`
	cursor.Page
}

type listedNote struct {
	Path        string                  `json:"path"`
	Name        string                  `json:"name"`
	WordCount   int                     `json:"word_count"`
	Modified    string                  `json:"modified"`
	FrontMatter *frontmatter.Properties `json:"frontmatter,omitempty"`
	Notice      string                  `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
}

func listNotes(ctx context.Context, s *Session, a listNotesArgs) (listNotesResult, error) {
	under, err := s.noteFolder(ctx, a.Folder)
	if err != nil {
		return listNotesResult{}, err
	}
	notes, err := s.server.ws.Notes(reporting(ctx), under)
	if err != nil {
		return listNotesResult{}, err
	}
	if a.Recursive != nil && !*a.Recursive {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n *bridge.NoteInfo) bool { return n.Path.Dir() != under })
	}
	of := a
	of.Cursor = ""
	l := cursor.Of("list_notes", of)
	rest, err := cursor.AfterPath(l, a.Cursor, notes, pathOf)
	if err != nil {
		return listNotesResult{}, err
	}
	listed := make([]listedNote, min(len(rest), answer.Max/20))
	for i := range listed {
		listed[i] = describeNote(rest[i], a.FrontMatter)
	}
	build := func(n int) listNotesResult {
		res := listNotesResult{Folder: string(under), Notes: listed[:n], Count: len(notes)}
		if n < len(rest) {
			res.NextCursor = l.Cursor(rest[n-1].Path)
		}
		return res
	}
	return build(answer.MostThatFit(len(listed), func(n int) any { return build(n) })), nil
}

func pathOf(n *bridge.NoteInfo) bridge.Path { return n.Path }

func describeNote(n *bridge.NoteInfo, properties bool) listedNote {
	l := listedNote{
		Path: string(n.Path), Name: strings.TrimSuffix(n.Path.Base(), bridge.NoteExt), WordCount: n.Words, Modified: timestamp(n.ModTime),
	}
	if properties {
		fit, notice := propertiesThatFit(n, maxProperties)
		l.FrontMatter, l.Notice = &fit, notice
	}
	return l
}

// noteFolder resolves an argument "folder"; "" is the whole workspace.
func (s *Session) noteFolder(ctx context.Context, name string) (bridge.Path, error) {
	name = strings.TrimSuffix(name, "/")
	if name == "" || name == "." {
		return "", nil
	}
	p, err := s.resolve(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = s.noFolder("folder", name)
	}
	if err != nil || p == "" {
		return p, err
	}
	info, err := s.server.ws.Stat(ctx, p)
	if err == nil && info.Kind != bridge.KindDir {
		err = answer.WrongArgument("The argument \"folder\" must be a folder, and %q is a document.", string(p))
	}
	return p, err
}

// reporting has the building of an index report its progress to the client.
func reporting(ctx context.Context) context.Context {
	return bridge.WithProgress(ctx, func(done, total int) { progress.Report(ctx, done, total) })
}

type kilnInfoArgs struct {
	Detailed bool   `arg:"detailed" def:"false" doc:"Tell the statistics of each top-level folder, too"`
	Cursor   string `arg:"cursor" doc:"next_cursor of the answer before, to go on after it"`
}

type kilnInfoResult struct {
	Roots []kilnRoot `json:"roots" doc:"The top-level folders"`
	Stats kilnStats  `json:"stats" doc:"Of all folders"`
	cursor.Page
}

type kilnRoot struct {
	URI   string     `json:"uri"`
	Name  string     `json:"name"`
	Stats *kilnStats `json:"stats,omitempty"`
}

type kilnStats struct {
	TotalNotes     int   `json:"total_notes"`
	TotalSizeBytes int64 `json:"total_size_bytes"`
	TotalWords     int   `json:"total_words"`
	IndexedNotes   int   `json:"indexed_notes"`
	PendingIndex   int   `json:"pending_index" doc:"Notes that could not be read yet, or not since they changed"`
}

func getKilnInfo(ctx context.Context, s *Session, a kilnInfoArgs) (kilnInfoResult, error) {
	res := kilnInfoResult{Roots: []kilnRoot{}}
	for _, name := range s.folders() {
		st, err := s.folderStats(ctx, bridge.Path(name))
		if err != nil {
			return res, err
		}
		root := kilnRoot{URI: noteURI(bridge.Path(name)), Name: name}
		if a.Detailed {
			root.Stats = &st
		}
		res.Roots = append(res.Roots, root)
		res.Stats.add(st)
	}
	l := cursor.Of("get_kiln_info", a.Detailed)
	var last string
	given, err := l.After(a.Cursor, &last)
	if err != nil {
		return res, err
	}
	rest := res.Roots
	if given {
		rest = rest[1+slices.IndexFunc(rest, func(r kilnRoot) bool { return r.Name == last }):]
	}
	build := func(n int) kilnInfoResult {
		part := kilnInfoResult{Roots: rest[:n], Stats: res.Stats}
		if n < len(rest) {
			part.NextCursor = l.Cursor(rest[n-1].Name)
		}
		return part
	}
	return build(answer.MostThatFit(len(rest), func(n int) any { return build(n) })), nil
}

// folderStats counts what is in one Folder: by the tree what there is, by the
// index what is known of it.
func (s *Session) folderStats(ctx context.Context, folder bridge.Path) (kilnStats, error) {
	var st kilnStats
	notes, err := s.server.ws.Notes(reporting(ctx), folder)
	if err != nil {
		return st, err
	}
	for _, n := range notes {
		st.TotalSizeBytes += n.Size
		st.TotalWords += n.Words
	}
	err = s.server.ws.Walk(ctx, folder, func(e bridge.DirEntry, _ bridge.Path) error {
		if e.Kind == bridge.KindNote {
			st.TotalNotes++
		}
		return nil
	})
	st.IndexedNotes = len(notes)
	st.PendingIndex = max(0, st.TotalNotes-len(notes))
	return st, err
}

func (st *kilnStats) add(o kilnStats) {
	st.TotalNotes += o.TotalNotes
	st.TotalSizeBytes += o.TotalSizeBytes
	st.TotalWords += o.TotalWords
	st.IndexedNotes += o.IndexedNotes
	st.PendingIndex += o.PendingIndex
}
