package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// A user and an agent change the front matter at the same time. If one of the texts has none, a merge of the texts would
// put the user's properties into the body, as a part of the agent's suggestion; a merge of two values of one property
// would be a value that neither has written. So the write is refused until the agent has read the note again.
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
		{"both change one property", "---\ndone: true\n---\ntext\n", "---\ndone: false\n---\ntext\n", "---\ndone: maybe\n---\ntext\n", ""},
		{"both change words of one property", "---\nt: one two three\n---\n", "---\nt: 1 two three\n---\n", "---\nt: one two 3\n---\n", ""},
		{"both change it alike", "---\na: 1\n---\ntext\n", "---\na: 2\n---\ntext\n", "---\na: 2\n---\ntext X\n", "---\na: 2\n---\ntext{++ X++}\n"},
		{"the agent deletes a property", "---\na: 1\nb: 2\n---\ntext\n", "---\na: 1\nb: 5\n---\ntext\n", "---\na: 1\n---\ntext\n", ""},
		{"both add one property", "---\na: 1\n---\ntext\n", "---\na: 1\nk: 5\n---\ntext\n", "---\na: 1\nk: 6\n---\ntext\n", ""},
		{"both extend a list", "---\ntags: [a]\n---\ntext\n", "---\ntags: [a, b]\n---\ntext\n", "---\ntags: [a, c]\n---\ntext\n", "---\ntags: [a, c, b]\n---\ntext\n"},
		{"both extend a block list", "---\ntags:\n  - a\n---\ntext\n", "---\ntags:\n  - a\n  - b\n---\ntext\n", "---\ntags:\n  - c\n  - a\n---\ntext\n", "---\ntags:\n  - c\n  - a\n  - b\n---\ntext\n"},
		{"both change an item", "---\ntags: [a]\n---\ntext\n", "---\ntags: [b]\n---\ntext\n", "---\ntags: [c]\n---\ntext\n", ""},
		{"both change comments", "---\na: 1 # x\nb: 2\n---\n", "---\na: 1 # y\nb: 2\n---\n", "---\na: 1 # x\nb: 2 # z\n---\n", "---\na: 1 # y\nb: 2 # z\n---\n"},
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
