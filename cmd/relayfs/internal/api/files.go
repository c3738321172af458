package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver"
)

// Listed is the JSON of one name.
type Listed struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // folder, note or file
}

// String returns the path as it is listed: that of a folder ends so.
func (l Listed) String() string {
	if l.Kind == "folder" {
		return l.Path + "/"
	}
	return l.Path
}

// CallRequest asks for tools to be run in one session.
type CallRequest struct {
	Author string     `json:"author"`
	Read   string     `json:"read,omitempty"` // the path of a note that the caller has read as a whole
	Calls  []ToolCall `json:"calls"`
}

// ToolCall is one call of an MCP tool.
type ToolCall struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// CallResult is the answer of one tool.
type CallResult struct {
	Text    []string `json:"text"`
	IsError bool     `json:"isError"`
	Next    string   `json:"next,omitempty"` // the cursor at which it continues
}

// text answers with the content at a path as readers see it, byte for byte.
func (h *handler) text(w http.ResponseWriter, r *http.Request) {
	content, err := h.content(r.Context(), r.FormValue("path"))
	if err != nil {
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(content) // to a client that may be gone
}

func (h *handler) content(ctx context.Context, path string) ([]byte, error) {
	p, err := h.Workspace.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsNote() {
		v, err := h.Workspace.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		return []byte(v.Text()), nil
	}
	f, err := h.Workspace.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
}

// names returns the entries of the folder path, or everything below it.
func (h *handler) names(ctx context.Context, path string, recursive bool) ([]Listed, error) {
	p := model.Path("")
	var err error
	if strings.Trim(path, "/") != "" && path != "." {
		p, err = h.Workspace.Resolve(strings.TrimRight(path, "/"))
	}
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	if recursive {
		err := h.Workspace.Walk(ctx, p, func(e bridge.Info) error {
			list = append(list, newListed(e.Path, e.Kind))
			return nil
		})
		return list, err
	}
	entries, err := h.Workspace.ReadDir(ctx, p)
	if errors.Is(err, model.ErrNotDir) {
		info, err := h.Workspace.Stat(ctx, p)
		return append(list, newListed(p, info.Kind)), err
	}
	for _, e := range entries {
		list = append(list, newListed(e.Path, e.Kind))
	}
	return list, err
}

func newListed(p model.Path, kind model.NodeKind) Listed {
	kinds := map[model.NodeKind]string{model.KindDir: "folder", model.KindNote: "note", model.KindFile: "file", model.KindLink: "link"}
	return Listed{string(p), kinds[kind]}
}

// call runs MCP tools, one after the other, in one session.
func (h *handler) call(ctx context.Context, r CallRequest) ([]CallResult, error) {
	s := h.MCP.NewSession(mcpserver.Client{Name: "relayfs", Author: r.Author, Unasked: true})
	if r.Read != "" {
		if err := s.ReadAll(ctx, r.Read); err != nil {
			return nil, err
		}
	}
	results := make([]CallResult, 0, len(r.Calls))
	for _, c := range r.Calls {
		args, err := json.Marshal(c.Args)
		if err != nil {
			return nil, err
		}
		res, known := s.Call(ctx, c.Tool, args)
		switch {
		case !known:
			return nil, fmt.Errorf("the tool %q is not offered here", c.Tool)
		case res.Err != nil:
			return nil, res.Err
		}
		results = append(results, CallResult{res.Text, res.IsError, res.Next})
		if res.IsError {
			break
		}
	}
	return results, nil
}
