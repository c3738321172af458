package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// BenchmarkSave is what a save of a note of 4 KB costs below the mount: first,
// the one that makes its document, and again, the ones after it.
func BenchmarkSave(b *testing.B) {
	text := strings.Repeat("The tide turns at six, and the boats with it.\n", 90)
	b.Run("first", func(b *testing.B) {
		v, p := open(b, vault.Options{})
		for i := range b.N {
			p.Save(fmt.Sprintf("N%d.md", i), text)
		}
		w := startWorkspace(b, v)
		b.ResetTimer()
		for i := range b.N {
			writeNote(b, w, model.Path(fmt.Sprintf("V/N%d.md", i)), text+"more\n")
		}
	})
	b.Run("again", func(b *testing.B) {
		v, p := open(b, vault.Options{})
		p.Save("N.md", text)
		w := startWorkspace(b, v)
		for i := 0; b.Loop(); i++ {
			writeNote(b, w, "V/N.md", fmt.Sprintf("%smore %d\n", text, i))
		}
	})
}

func writeNote(b *testing.B, w *bridge.Workspace, p model.Path, text string) {
	b.Helper()
	if _, err := w.Write(b.Context(), p, bridge.Write{Text: text, By: model.Author{Name: "agent", Session: "s"}}); err != nil {
		b.Fatal(err)
	}
}
