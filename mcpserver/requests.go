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

// The server checks the names in requests before mcp-go does: the errors here contain the fix.

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitempty"`
}

func invalid(format string, args ...any) *rpcError {
	return &rpcError{Code: mcp.INVALID_PARAMS, Message: fmt.Sprintf(format, args...)}
}

// request has the parts of a message that the server reads before mcp-go does. It is empty if the message is not valid;
// mcp-go reports the error.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method mcp.MCPMethod   `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"` // of the request that the client cancels
		Meta      json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage          `json:"result"` // of a client's answer, as Error
	Error  *mcp.JSONRPCErrorDetails `json:"error"`
}

func requestOf(message []byte) (req request) {
	if json.Unmarshal(message, &req) != nil {
		return request{}
	}
	return req
}

// prepare returns the message for mcp-go, or a reply with an error if the request names an unknown tool or resource. For
// resources/read it makes the URI of a document canonical.
func (s *Server) prepare(ctx context.Context, sess *Session, req request, message []byte) (prepared []byte, reply any) {
	if req.ID == nil {
		return message, nil
	}
	var wrong *rpcError
	switch {
	case string(req.ID) == "null" && req.Method != "":
		wrong = &rpcError{Code: mcp.INVALID_REQUEST, Message: "The id of a request must not be null. Use a number or a string, or no id for a notification."}
	case req.Method == mcp.MethodToolsCall:
		wrong = s.checkTool(sess, req.Params.Name)
	case req.Method == mcp.MethodResourcesRead && document.IsURI(req.Params.URI):
		p, begin, err := sess.client.Resolver.AtURI(ctx, req.Params.URI)
		if err == nil {
			return withURI(message, document.URIAt(p, begin)), nil
		}
		wrong = sess.noResource(err, req.Params.URI, req.Params.Meta)
	}
	if wrong != nil {
		return nil, map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": req.ID, "error": wrong}
	}
	return message, nil
}

// withURI replaces the URI in the parameters of a valid request.
func withURI(message []byte, uri string) []byte {
	var whole, params map[string]json.RawMessage
	_ = json.Unmarshal(message, &whole)
	_ = json.Unmarshal(whole["params"], &params)
	params["uri"], _ = json.Marshal(uri)
	whole["params"], _ = json.Marshal(params)
	prepared, _ := json.Marshal(whole)
	return prepared
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
