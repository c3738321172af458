package main

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
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/mcpserver"
)

// access reads and edits a workspace for the commands cat, ls, grep and edit: a
// running owner's, or one which this process opened.
type access interface {
	// text returns what is at path as readers see it, byte for byte.
	text(ctx context.Context, path string) ([]byte, error)
	// list returns what lies in the folder path, or everything below it.
	list(ctx context.Context, path string, recursive bool) ([]listed, error)
	// call runs MCP tools, one after the other, in one session.
	call(ctx context.Context, r callRequest) ([]callResult, error)
}

// listed is the JSON of one name.
type listed struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // folder, note or file
}

// callRequest asks for tools to be run in a session of author's.
type callRequest struct {
	Author string     `json:"author"`
	Read   string     `json:"read,omitempty"` // what the caller has read as a whole, by text
	Calls  []toolCall `json:"calls"`
}

type toolCall struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// callResult is what one tool said.
type callResult struct {
	Text    []string `json:"text"`
	IsError bool     `json:"isError"`
	Next    string   `json:"next,omitempty"` // the cursor at which it goes on
}

// localAccess is access to a workspace in this process.
type localAccess struct {
	ws  *bridge.Workspace
	mcp *mcpserver.Server
}

func (a localAccess) text(ctx context.Context, path string) ([]byte, error) {
	p, err := a.ws.Resolve(path)
	if err != nil {
		return nil, err
	}
	if p.IsNote() {
		v, err := a.ws.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		return []byte(v.Text()), nil
	}
	f, err := a.ws.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
}

func (a localAccess) list(ctx context.Context, path string, recursive bool) ([]listed, error) {
	p, err := a.folder(path)
	if err != nil {
		return nil, err
	}
	list := []listed{}
	if recursive {
		err := a.ws.Walk(ctx, p, func(e bridge.DirEntry, at bridge.Path) error {
			list = append(list, newListed(at, e.Kind))
			return nil
		})
		return list, err
	}
	entries, err := a.ws.ReadDir(ctx, p)
	if errors.Is(err, bridge.ErrNotDir) {
		info, err := a.ws.Stat(ctx, p)
		return append(list, newListed(p, info.Kind)), err
	}
	for _, e := range entries {
		list = append(list, newListed(p.Join(e.Name), e.Kind))
	}
	return list, err
}

// folder resolves path, "" being the folder that holds all Folders.
func (a localAccess) folder(path string) (bridge.Path, error) {
	if strings.Trim(path, "/") == "" || path == "." {
		return "", nil
	}
	return a.ws.Resolve(strings.TrimRight(path, "/"))
}

func newListed(p bridge.Path, kind bridge.Kind) listed {
	kinds := map[bridge.Kind]string{bridge.KindDir: "folder", bridge.KindNote: "note", bridge.KindFile: "file", bridge.KindLink: "link"}
	return listed{string(p), kinds[kind]}
}

func (a localAccess) call(ctx context.Context, r callRequest) ([]callResult, error) {
	srv := a.mcp.Unasked()
	if r.Author != "" {
		srv = srv.As(r.Author)
	}
	s := srv.NewSession("relayfs")
	if r.Read != "" {
		if err := s.ReadAll(ctx, r.Read); err != nil {
			return nil, err
		}
	}
	results := make([]callResult, 0, len(r.Calls))
	for _, c := range r.Calls {
		args, err := json.Marshal(c.Args)
		if err != nil {
			return nil, err
		}
		res, known := srv.Call(ctx, s, c.Tool, args)
		switch {
		case !known:
			return nil, fmt.Errorf("the tool %q is not offered here", c.Tool)
		case res.Err != nil:
			return nil, res.Err
		}
		results = append(results, callResult{res.Text, res.IsError, res.Next})
		if res.IsError {
			break
		}
	}
	return results, nil
}

// remoteAccess is access to a running owner's workspace.
type remoteAccess struct{ c *owner.Client }

func (a remoteAccess) text(ctx context.Context, path string) (data []byte, err error) {
	err = a.c.Get(ctx, textPath, url.Values{"path": {path}}, &data)
	return data, err
}

func (a remoteAccess) list(ctx context.Context, path string, recursive bool) (list []listed, err error) {
	query := url.Values{"path": {path}}
	if recursive {
		query.Set("recursive", "1")
	}
	err = a.c.Get(ctx, listPath, query, &list)
	return list, err
}

func (a remoteAccess) call(ctx context.Context, r callRequest) (results []callResult, err error) {
	err = a.c.Post(ctx, callPath, r, &results)
	return results, err
}

// handleAccess is the other end of remoteAccess.
func handleAccess(mux *http.ServeMux, a access) {
	mux.HandleFunc("GET "+textPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return a.text(r.Context(), r.FormValue("path"))
	}))
	mux.HandleFunc("GET "+listPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return a.list(r.Context(), r.FormValue("path"), r.FormValue("recursive") != "")
	}))
	mux.HandleFunc("POST "+callPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		var req callRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			return nil, err
		}
		return a.call(r.Context(), req)
	}))
}
