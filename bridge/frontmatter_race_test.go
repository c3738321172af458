package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// A user and an agent change the front matter at the same time, and one of the texts has none. Merged as text, the
// user's properties would be in the body, as a part of the agent's suggestion. So the write is refused until the agent
// has read the note again.
func TestFrontMatterOfBoth(t *testing.T) {
	for _, tt := range []struct{ name, base, user, agent, want string }{
		{"both add it", "text\n", "---\na: 2\n---\ntext\n", "---\nb: 3\n---\ntext X\n", ""},
		{"both add the same", "text\n", "---\na: 2\n---\ntext\n", "---\na: 2\n---\ntext X\n", ""},
		{"the agent removes it", "---\na: 1\n---\ntext\n", "---\na: 1\nc: 5\n---\ntext\n", "text X\n", ""},
		{"the user removes it", "---\na: 1\n---\ntext\n", "text\n", "---\na: 1\nb: 2\n---\ntext X\n", ""},
		{"only the user adds it", "text\n", "---\na: 2\n---\ntext\n", "text X\n", "---\na: 2\n---\ntext{++ X++}\n"},
		{"only the user removes it", "---\na: 1\n---\ntext\n", "text\n", "---\na: 1\n---\ntext X\n", "text{++ X++}\n"},
		{"only the agent adds it", "text\n", "text P\n", "---\nb: 3\n---\ntext\n", "---\nb: 3\n---\ntext P\n"},
		{"both change it", "---\na: 1\nb: 1\n---\ntext\n", "---\na: 2\nb: 1\n---\ntext\n", "---\na: 1\nb: 3\n---\ntext\n", "---\na: 2\nb: 3\n---\ntext\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: tt.base})
			base := open(t, f.Workspace, plan)
			f.Person(plan, tt.user)
			_, err := f.Workspace.Write(t.Context(), plan, bridge.Write{Base: base, Text: tt.agent, By: ann})
			if refused := errors.Is(err, model.ErrRefused); err != nil && !refused || refused != (tt.want == "") {
				t.Fatalf("got %v, want refused: %t", err, tt.want == "")
			}
			if err != nil {
				if !strings.Contains(err.Error(), "read the note again") {
					t.Errorf("the error %q does not say what to do", err)
				}
				tt.want = tt.user
			}
			if got := f.SourceText(plan); got != tt.want {
				t.Errorf("the source has %q, want %q", got, tt.want)
			}
		})
	}
}
