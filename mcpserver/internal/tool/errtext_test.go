package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// A model is told what is wrong with a name.
func TestBadName(t *testing.T) {
	err := &model.Error{Op: "create", Path: "Team/a:b.md", Err: model.CheckWindowsName("a:b.md")}
	got := tool.FromError(err, tool.Phrases{})
	const want = `The path "Team/a:b.md" is not allowed: it holds the character ':', which Windows does not allow; choose another name.`
	if !got.IsError || len(got.Text) != 1 || got.Text[0] != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// A model is told that its search ran out of time, and that a call was cancelled.
func TestSearchThatEnds(t *testing.T) {
	for want, err := range map[string]error{"The search was stopped after 20 seconds: ": search.ErrSlow, "The call was cancelled.": context.Canceled} {
		if got := tool.FromError(err, tool.Phrases{}); !got.IsError || len(got.Text) != 1 || !strings.HasPrefix(got.Text[0], want) {
			t.Errorf("%v: got %+v, want %q", err, got, want)
		}
	}
}
