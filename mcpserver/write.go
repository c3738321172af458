package mcpserver

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
)

type writeArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document to create or replace. An existing one must have been read in this session"`
	Content  string `arg:"content" need:"true" doc:"The whole new text of the document, as plain Markdown"`
}

func write(ctx context.Context, s *Session, a writeArgs) answer.Result {
	p, err := s.lookUp(a.FilePath)
	if errors.Is(err, fs.ErrNotExist) {
		return s.writeNew(ctx, a)
	}
	if err != nil {
		return failure(err)
	}
	known, err := s.mustKnow(ctx, p, "read", "editing")
	if err != nil {
		return failure(err)
	}
	if !utf8.ValidString(known.text) {
		return failure(&bridge.Error{Op: "write", Path: p, Err: bridge.ErrInvalidUTF8})
	}
	content := match.InStyleOf(known.text, a.Content)
	if err := match.CheckMarkup("content", s.server.ws.Options().View, known.text, content, 0); err != nil {
		return failure(err)
	}
	res, err := s.replace(ctx, p, known, content, "read", "replace the content of "+string(p))
	if err != nil {
		return failure(err)
	}
	out := "Wrote " + answer.Shown(p) + s.outcome(res)
	if res.Merged {
		out += " Others had changed the document since you read it; their changes were kept. Read it again before you write it again."
	}
	return answer.Text(out)
}

// writeNew makes a new document.
func (s *Session) writeNew(ctx context.Context, a writeArgs) answer.Result {
	p, err := s.newPath(a.FilePath)
	if err == nil && !p.IsNote() {
		err = &bridge.Error{Op: "create", Path: p, Err: bridge.ErrNotNote}
	}
	if err == nil {
		err = match.CheckMarkup("content", s.server.ws.Options().View, "", a.Content, 0)
	}
	if err != nil {
		return failure(err)
	}
	res, err := s.create(ctx, p, a.Content)
	if err != nil {
		return failure(err)
	}
	return answer.Text("Created " + answer.Shown(p) + s.outcome(res))
}

// newPath is the canonical form of the path of a document to be made: ".md" is
// added if it has no extension.
func (s *Session) newPath(name string) (bridge.Path, error) { return s.placeFor(name, true) }

// placeFor is newPath for what may be none of a note's.
func (s *Session) placeFor(name string, note bool) (bridge.Path, error) {
	if mp := s.server.ws.Mountpoint(); mp != "" {
		name = strings.TrimPrefix(name, mp+"/")
	}
	p, err := bridge.CleanPath(name)
	if err != nil {
		return "", err
	}
	folder, rel := p.Split()
	if rel == "" {
		return "", answer.WrongArgument("%q names no document. Paths look like Folder/sub/Name.md; the folders are %s.", name, strings.Join(s.folders(), ", "))
	}
	root, err := s.server.ws.Resolve(folder)
	if err != nil {
		return "", answer.WrongArgument("There is no folder %q. The folders are %s.", folder, strings.Join(s.folders(), ", "))
	}
	p = s.existing(root, rel)
	if note && !strings.Contains(p.Base(), ".") {
		p += bridge.NoteExt
	}
	if err := bridge.CheckName(p.Base()); err != nil {
		return "", &bridge.Error{Op: "create", Path: p, Err: err}
	}
	return p, checkNew(p)
}

// existing is the path rel in the Folder root, where folders that are there in
// another spelling keep theirs: on many disks the two are one.
func (s *Session) existing(root bridge.Path, rel string) bridge.Path {
	p := root
	elems := strings.Split(rel, "/")
	for _, elem := range elems[:len(elems)-1] {
		p = p.Join(elem)
		if there, err := s.server.ws.Resolve(string(p)); err == nil && !there.IsNote() {
			p = there
		}
	}
	return p.Join(elems[len(elems)-1])
}

// folders are the names of the workspace's Folders.
func (s *Session) folders() []string {
	var names []string
	for _, f := range s.server.ws.Options().Folders {
		names = append(names, f.Name)
	}
	return names
}
