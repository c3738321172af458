// Package bridgetest serves a bridge.Workspace of vaults on simulated disks, for tests of the packages above it, with a
// user who edits the same notes. The store is a real one in a temporary folder.
//
//	f := bridgetest.New(t, map[string]string{"Notes/Plan.md": "The quick fox.\n"})
//	v, err := f.Open(ctx, "Notes/Plan.md")
//	f.Person("Notes/Plan.md", "The quick fox jumps.\n")
//	res, err := f.Write(ctx, "Notes/Plan.md", bridge.Write{Base: v, Text: "The red fox.\n"})
//	fmt.Println(f.SourceText("Notes/Plan.md"))
//
// A test that must force a refusal, a conflict or a pause embeds a Source and overrides a method. Methods are safe for
// concurrent use, but must not be called from a workspace's event callback: the methods that act as a user wait until
// the callback returns.
package bridgetest
