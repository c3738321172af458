// Package access reads and edits a workspace by paths, for commands that work without a mount: a
// workspace of this process, or that of a running owner through its socket.
package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/mcpserver"
)

// Paths on an owner's socket. Each takes owner.SourceParam too.
const (
	textPath = "/text" // query: path
	listPath = "/list" // query: path, recursive
	callPath = "/call" // POST a CallRequest
)

// Access reads and edits a workspace for the commands cat, ls, grep and edit.
type Access interface {
	// Text returns the content at path as readers see it, byte for byte.
	Text(ctx context.Context, path string) ([]byte, error)
	// List returns the entries of the folder path, or everything below it.
	List(ctx context.Context, path string, recursive bool) ([]Listed, error)
	// Call runs MCP tools, one after the other, in one session.
	Call(ctx context.Context, r CallRequest) ([]CallResult, error)
}

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

// Local is access to a workspace in this process.
type Local struct {
	Workspace *bridge.Workspace
	MCP       *mcpserver.Server
}

func (a Local) Text(ctx context.Context, path string) ([]byte, error) {
	p, err := a.Workspace.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsNote() {
		v, err := a.Workspace.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		return []byte(v.Text()), nil
	}
	f, err := a.Workspace.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
}

func (a Local) List(ctx context.Context, path string, recursive bool) ([]Listed, error) {
	p := model.Path("")
	var err error
	if strings.Trim(path, "/") != "" && path != "." {
		p, err = a.Workspace.Resolve(strings.TrimRight(path, "/"))
	}
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	if recursive {
		err := a.Workspace.Walk(ctx, p, func(e bridge.Info) error {
			list = append(list, newListed(e.Path, e.Kind))
			return nil
		})
		return list, err
	}
	entries, err := a.Workspace.ReadDir(ctx, p)
	if errors.Is(err, model.ErrNotDir) {
		info, err := a.Workspace.Stat(ctx, p)
		return append(list, newListed(p, info.Kind)), err
	}
	for _, e := range entries {
		list = append(list, newListed(e.Path, e.Kind))
	}
	return list, err
}

func newListed(p model.Path, kind model.Kind) Listed {
	kinds := map[model.Kind]string{model.KindDir: "folder", model.KindNote: "note", model.KindFile: "file", model.KindLink: "link"}
	return Listed{string(p), kinds[kind]}
}

func (a Local) Call(ctx context.Context, r CallRequest) ([]CallResult, error) {
	s := a.MCP.NewSession(mcpserver.Client{Name: "relayfs", Author: r.Author, Unasked: true})
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

// Remote is access to a running owner's workspace.
type Remote struct{ Client *owner.Client }

func (a Remote) Text(ctx context.Context, path string) ([]byte, error) {
	return jsonapi.Get[[]byte](ctx, a.Client, textPath, url.Values{"path": {path}})
}

func (a Remote) List(ctx context.Context, path string, recursive bool) ([]Listed, error) {
	query := url.Values{"path": {path}}
	if recursive {
		query.Set("recursive", "1")
	}
	return jsonapi.Get[[]Listed](ctx, a.Client, listPath, query)
}

func (a Remote) Call(ctx context.Context, r CallRequest) ([]CallResult, error) {
	return jsonapi.Post[[]CallResult](ctx, a.Client, callPath, r)
}

// Handle serves a to the Remotes of other processes.
func Handle(mux *http.ServeMux, a Access) {
	jsonapi.HandleGet(mux, textPath, func(r *http.Request) (any, error) { return a.Text(r.Context(), r.FormValue("path")) })
	jsonapi.HandleGet(mux, listPath, func(r *http.Request) (any, error) {
		return a.List(r.Context(), r.FormValue("path"), r.FormValue("recursive") != "")
	})
	jsonapi.HandlePost(mux, callPath, a.Call)
}
