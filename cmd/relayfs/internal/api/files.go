package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/mcpserver"
)

type Entry struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // folder, note, file or link
}

func (l Entry) String() string {
	if l.Kind == "folder" {
		return l.Path + "/"
	}
	return l.Path
}

// CallRequest is the JSON of a call of an MCP tool.
type CallRequest struct {
	Author string         `json:"author"`
	Read   string         `json:"read,omitempty"` // path of a note that the session counts as read, if the note exists
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args"`
}

type CallResult struct {
	Text    []string `json:"text"`
	IsError bool     `json:"isError"`
	Next    string   `json:"next,omitempty"` // cursor for the remaining results
}

func (h *handler) text(w http.ResponseWriter, r *http.Request) {
	content, err := h.content(r.Context(), r.FormValue("path"))
	if err != nil {
		WriteError(w, err)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := io.Copy(w, content); err != nil {
		panic(http.ErrAbortHandler) // the client must not take the part for the whole
	}
}

func (h *handler) content(ctx context.Context, path string) (io.ReadCloser, error) {
	p, err := h.Workspace.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsNote() {
		v, err := h.Workspace.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(strings.NewReader(v.Text())), nil
	}
	f, err := h.Workspace.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, 0, math.MaxInt64), f}, nil // the file may be larger than the memory
}

func (h *handler) names(ctx context.Context, path string, recursive bool) ([]Entry, error) {
	p := model.Path("")
	var err error
	if strings.Trim(path, "/") != "" && path != "." {
		p, err = h.Workspace.Resolve(strings.TrimRight(path, "/"))
	}
	if err != nil {
		return nil, err
	}
	list := []Entry{}
	if recursive {
		err := h.Workspace.Walk(ctx, p, func(e bridge.Info) error {
			list = append(list, newEntry(e.Path, e.Kind))
			return nil
		})
		return list, err
	}
	entries, err := h.Workspace.ReadDir(ctx, p)
	if errors.Is(err, model.ErrNotDir) {
		info, err := h.Workspace.Stat(ctx, p)
		return append(list, newEntry(p, info.Kind)), err
	}
	for _, e := range entries {
		list = append(list, newEntry(e.Path, e.Kind))
	}
	return list, err
}

func newEntry(p model.Path, kind model.NodeKind) Entry {
	return Entry{string(p), kind.String()}
}

// commandNames has the command line's names for arguments and tools.
var commandNames = strings.NewReplacer("old_string", "--old", "new_string", "--new", "replace_all", "--all", `The argument "glob"`, "--glob",
	"use the write tool to replace all of it", "give the whole new text on stdin", "Set multiline to true", "Give -U",
	"Call glob to find its path", "'relayfs ls -R' lists the paths", "Call glob to find the folder", "'relayfs ls -R' lists the paths",
	"Call glob with it as the path to list its contents", "'relayfs ls' lists its contents")

func (h *handler) call(ctx context.Context, r CallRequest) (CallResult, error) {
	defer h.Workspace.AwaitMount(ctx)
	s := h.MCP.NewSession(mcpserver.Client{Name: "relayfs", Author: r.Author, SkipApproval: true, Names: commandNames})
	if r.Read != "" {
		if err := s.ReadAll(ctx, r.Read); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return CallResult{}, err
		}
	}
	args, err := json.Marshal(r.Args)
	if err != nil {
		return CallResult{}, err
	}
	res, ok := s.Call(ctx, r.Tool, args)
	if !ok {
		if h.Workspace.Options().ReadOnly {
			return CallResult{}, &model.Error{Op: r.Tool, Path: model.Path(r.Read), Err: model.ErrReadOnly}
		}
		return CallResult{}, cli.Usagef("unknown tool %q", r.Tool)
	}
	return CallResult{res.Text, res.IsError, res.Next}, res.Err
}
