package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// The server checks requests before mcp-go does. mcp-go's errors contain Go types and one code for all errors; the
// errors here contain the fix.

var paramKinds = map[mcp.MCPMethod]map[string]string{
	mcp.MethodInitialize:             {"protocolVersion": "a string", "capabilities": "an object", "clientInfo": "an object"},
	mcp.MethodToolsCall:              {"name": "a string", "_meta": "an object"},
	mcp.MethodToolsList:              {"cursor": "a string"},
	mcp.MethodResourcesList:          {"cursor": "a string"},
	mcp.MethodResourcesTemplatesList: {"cursor": "a string"},
	mcp.MethodResourcesRead:          {"uri": "a string"},
	mcp.MethodResourcesSubscribe:     {"uri": "a string"},
	mcp.MethodResourcesUnsubscribe:   {"uri": "a string"},
	mcp.MethodPromptsList:            {"cursor": "a string"},
	mcp.MethodPromptsGet:             {"name": "a string", "arguments": "an object of strings"},
	mcp.MethodCompletionComplete:     {"ref": "an object of strings", "argument": "an object of strings"},
}

func kindOf(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v) // fails only if raw is missing or has a number that is too large
	members, _ := v.(map[string]any)
	for _, member := range members {
		if _, ok := member.(string); !ok {
			return tool.JSONKind(v)
		}
	}
	if members != nil {
		return "an object of strings"
	}
	return tool.JSONKind(v)
}

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func invalid(format string, args ...any) *rpcError {
	return &rpcError{Code: mcp.INVALID_PARAMS, Message: fmt.Sprintf(format, args...)}
}

// prepare returns the message for mcp-go. For resources/read it makes the URI of a document canonical. If check returns
// an error, prepare returns a reply instead.
func (s *Server) prepare(ctx context.Context, sess *Session, message []byte) (prepared []byte, reply any) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method mcp.MCPMethod   `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(message, &req) != nil {
		return message, nil // mcp-go reports the error
	}
	want, ok := paramKinds[req.Method]
	if !ok || req.ID == nil || req.Params == nil {
		return message, nil
	}
	uri, err := s.check(ctx, sess, req.Method, want, req.Params)
	if err != nil {
		return nil, map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": req.ID, "error": err}
	}
	if uri == "" {
		return message, nil
	}
	var whole, params map[string]json.RawMessage
	if json.Unmarshal(message, &whole) != nil || json.Unmarshal(req.Params, &params) != nil {
		return message, nil
	}
	params["uri"], _ = json.Marshal(uri) // encoding a string cannot fail
	whole["params"], _ = json.Marshal(params)
	if prepared, err := json.Marshal(whole); err == nil {
		return prepared, nil
	}
	return message, nil
}

// check returns an error if the parameters are invalid, or name an unknown tool or resource. If uri is not "", the
// caller must replace the URI in the parameters by uri.
func (s *Server) check(ctx context.Context, sess *Session, method mcp.MCPMethod, want map[string]string, raw json.RawMessage) (uri string, wrong *rpcError) {
	var params map[string]json.RawMessage
	if json.Unmarshal(raw, &params) != nil {
		return "", invalid("The parameters of %s must be an object, not %s.", method, kindOf(raw))
	}
	var all any
	if json.Unmarshal(raw, &all) != nil { // the value is valid JSON, so only a number can be invalid
		return "", invalid("The parameters of %s have a number that is too large.", method)
	}
	for name, kind := range want {
		if got := kindOf(params[name]); got != "" && got != kind && !(kind == "an object" && got == "an object of strings") {
			return "", invalid("The parameter %q of %s must be %s, not %s.", name, method, kind, got)
		}
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(params[name], &s) // the kind of the parameter was checked, or the parameter is missing
		return s
	}
	switch method {
	case mcp.MethodToolsCall:
		return "", s.checkTool(sess, text("name"))
	case mcp.MethodResourcesRead:
		if !document.IsURI(text("uri")) {
			return "", nil
		}
		uri, err := sess.canonical(ctx, text("uri"))
		if err != nil {
			return "", sess.noResource(err, text("uri"), params["_meta"])
		}
		return uri, nil
	}
	return "", nil
}

func (s *Server) checkTool(sess *Session, name string) *rpcError {
	if sess.enabled.has(name) || !s.enabled.has(name) && s.mcp.GetTool(name) != nil {
		return nil
	}
	var offered []string
	for _, t := range sess.enabled.tools {
		offered = append(offered, t.Name)
	}
	short, _ := result.Truncate(name, 100)
	return invalid("There is no tool %q. The tools are %s.", short, strings.Join(offered, ", "))
}

func (s *Session) canonical(ctx context.Context, uri string) (string, error) {
	readings, err := document.ParseURI(uri)
	if err != nil {
		return "", err
	}
	for _, r := range readings {
		if p, err := s.client.Resolver.LookUp(r.Name); err == nil {
			return document.URIAt(p, r.Begin), nil
		}
	}
	_, err = s.client.Resolver.Resolve(ctx, readings[0].Name)
	return "", err
}

func (s *Session) noResource(err error, uri string, meta json.RawMessage) *rpcError {
	var missing *document.MissingError
	if !errors.As(err, &missing) && !errors.Is(err, fs.ErrNotExist) {
		return invalid("%s", tool.ErrorText(err, s.client.Phrases))
	}
	e := &rpcError{Code: mcp.RESOURCE_NOT_FOUND, Message: tool.ErrorText(err, s.client.Phrases), Data: map[string]any{"uri": uri}}
	var of map[string]any
	if json.Unmarshal(meta, &of) == nil {
		if version, _ := of["io.modelcontextprotocol/protocolVersion"].(string); mcp.IsModernProtocol(version) {
			e.Code = mcp.INVALID_PARAMS
		}
	}
	return e
}
