package mcpserver

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge"
)

// progressEvery is how often a long call says how far it is.
const progressEvery = 500 * time.Millisecond

// progressKey is the key of a call's progress function in its context.
type progressKey struct{}

// withProgress has calls of progress reach the client, if the request asks for
// that.
func (s *Server) withProgress(ctx context.Context, req mcp.CallToolRequest) context.Context {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx
	}
	last := time.Now()
	return context.WithValue(ctx, progressKey{}, func(done, total int) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		err := s.mcp.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": total,
		})
		if err != nil {
			s.log.Debug("progress not sent", bridge.LogErr, err)
		}
	})
}

// progress says that done of total notes have been searched. One goroutine of a
// call may do so.
func progress(ctx context.Context, done, total int) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		report(done, total)
	}
}
