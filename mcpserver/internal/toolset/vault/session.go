package vault

import (
	"context"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type sessionNoteArgs struct {
	Name    *string `arg:"name" doc:"Name in a few words, for example tidying the recipes"`
	Purpose *string `arg:"purpose" doc:"Goal of the session, in a sentence"`
}

func setSessionNote(_ context.Context, c *tool.Client, a sessionNoteArgs) (result.Result, error) {
	if a.Name == nil && a.Purpose == nil {
		return result.Result{}, result.InvalidArgument("Give a name, a purpose, or both.")
	}
	author := c.Session.Author()
	n := c.Workspace.SessionNote(author.Session)
	for _, part := range []struct {
		argument string
		given    *string
		set      *string
		most     int
	}{{"name", a.Name, &n.Name, model.MaxSessionName}, {"purpose", a.Purpose, &n.Purpose, model.MaxSessionPurpose}} {
		if part.given == nil {
			continue
		}
		if *part.set = strings.TrimSpace(*part.given); !model.IsLine(*part.set, part.most) {
			return result.Result{}, result.InvalidArgument("The %s must be one line of at most %d characters, without control characters.", part.argument, part.most)
		}
	}
	if err := c.Workspace.SetSessionNote(author, n); err != nil {
		return result.Result{}, err
	}
	return result.Text("Users see this next to the changes of this session."), nil
}
