package remote_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// A person and an agent set one property at the same moment: what the text says in the end is what the mirror of the properties
// says, whoever wins.
func TestPropertySetTwice(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]ycrdt.ClientID{"person wins": 1<<53 - 1, "agent wins": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "relay-server")
			p := s.typist(t)
			p.create("n.md", "---\nstatus: draft 😀\ndue: soon\n---\nBody.\n")
			docName, doc := p.note("n.md")
			mirror := doc.Map("frontmatter")
			doc.Transact(func(tx *ycrdt.Txn) {
				noError(t, mirror.Set(tx, "status", `"draft 😀"`))
				noError(t, mirror.Set(tx, "due", `"soon"`))
			})
			p.sync(docName)
			other := ycrdt.NewDoc(ycrdt.Options{ClientID: client})
			noError(t, other.ApplyUpdate(doc.EncodeStateAsUpdate(nil)))
			p.docs[docName] = other
			mirror = other.Map("frontmatter")
			contents := other.Text(model.ContentsName)
			resync := need.Scaled(5 * time.Second) // a quiet moment is a twentieth of it
			c := mustOpen(t, s, direct, func(o *remote.Options, _ *bridge.Options) { o.Resync = resync })
			c.awaitText("Team/n.md", contents.String())
			c.write("Team/n.md", func(text string) string { return strings.Replace(text, "draft 😀", "done", 1) })
			before, _, _ := strings.Cut(contents.String(), "draft")
			other.Transact(func(tx *ycrdt.Txn) {
				contents.Delete(tx, len(before), len("draft 😀")-2)
				contents.Insert(tx, len(before), "mine")
				noError(t, mirror.Set(tx, "status", `"mine"`))
			})
			p.sync(docName)
			c.awaitSent()
			p.sync(docName)
			want := map[string]string{"person wins": "mine", "agent wins": "done"}[name]
			c.awaitText("Team/n.md", "---\nstatus: "+want+"\ndue: soon\n---\nBody.\n")
			c.awaitSent()
			p.sync(docName)
			if got, _ := mirror.Get("status"); got != `"`+want+`"` {
				t.Errorf("the mirror has %v", got)
			}
			// It is set again: the plugin writes what comes there over its own text.
			keys, _ := mirror.KeysSince(0)
			if i := slices.IndexFunc(keys, func(s ycrdt.Setter) bool { return s.Key == "status" }); keys[i].Client == client {
				t.Error("the mirror was not written again")
			}
			// What somebody sets later by the text alone stays: an older client has no mirror.
			time.Sleep(resync / 10)
			other.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, len("---\nstatus: "), "un") })
			p.sync(docName)
			c.awaitText("Team/n.md", "---\nstatus: un"+want+"\ndue: soon\n---\nBody.\n")
			time.Sleep(resync / 10)
			c.awaitText("Team/n.md", "---\nstatus: un"+want+"\ndue: soon\n---\nBody.\n")
		})
	}
}
