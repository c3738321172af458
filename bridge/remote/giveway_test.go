package remote_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A person's program and an agent give one name to two new notes at the same moment. The name leads to the person's in the end, whoever
// wins in Yjs, and the agent's note has another one; two notes that say the same become one.
func TestSameNameAtOnce(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]ycrdt.ClientID{"person wins": 1<<53 - 1, "agent wins": 1} {
		for _, text := range []string{"by the agent\n", "by a person\n"} {
			t.Run(name+" "+text, func(t *testing.T) {
				t.Parallel()
				s := startServer(t, "relay-server")
				p := s.typist(t)
				p.create("first.md", "first\n")
				c := mustOpen(t, s, direct)
				c.awaitText("Team/first.md", "first\n")
				folder := ycrdt.NewDoc(ycrdt.Options{ClientID: client})
				noError(t, folder.ApplyUpdate(p.docs[s.folder].EncodeStateAsUpdate(nil)))
				p.docs[s.folder] = folder
				c.create("Team/n.md", text)
				id := folderdoc.NewID()
				_, err := folderdoc.Open(folder).Create(folderdoc.Entry{Path: "n.md", ID: id, Type: folderdoc.TypeMarkdown})
				noError(t, err)
				doc := ycrdt.NewDoc(ycrdt.Options{})
				contents := doc.Text(model.ContentsName)
				doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, 0, "by a person\n") })
				p.docs[transport.DocumentName(s.folder, id)] = doc
				p.sync(transport.DocumentName(s.folder, id))
				c.awaitSent()
				p.sync(s.folder)
				c.awaitText("Team/n.md", "by a person\n")
				if text == "by the agent\n" {
					c.awaitText("Team/n 2.md", text)
				}
				c.awaitSent()
				c.await("the entry", func() bool {
					p.sync(s.folder)
					e, ok := folderdoc.Open(folder).Get("n.md")
					other, both := folderdoc.Open(folder).Get("n 2.md")
					return ok && e.ID == id && both == (text == "by the agent\n") && other.ID != id
				})
			})
		}
	}
}
