package mcpserver

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/progress"
)

// progressEvery is how often a long call says how far it is.
const progressEvery = 500 * time.Millisecond

// withProgress has calls of progress.Report reach the client, if the request asks for
// that.
func (s *Server) withProgress(ctx context.Context, req mcp.CallToolRequest) context.Context {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx
	}
	last := time.Now()
	return progress.With(ctx, func(done, total int) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		err := s.mcp.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": total,
		})
		if err != nil {
			s.log.Debug("progress not sent", model.LogErr, err)
		}
	})
}
