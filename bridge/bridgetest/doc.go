// Package bridgetest serves a bridge.Workspace from memory, for tests of what
// is built on it, with a person who edits the same notes.
//
//	f := bridgetest.New(t, map[string]string{"Notes/Plan.md": "The quick fox.\n"})
//	v, err := f.Open(ctx, "Notes/Plan.md")
//	f.Person("Notes/Plan.md", "The quick fox jumps.\n")
//	res, err := f.Write(ctx, "Notes/Plan.md", bridge.Write{Bases: []*model.Version{v}, Text: "The red fox.\n"})
//	fmt.Println(f.SourceText("Notes/Plan.md"))
//
// Source and Store are what the fixture is made of; they pass the same suites as
// the vault and the store of a real process (sourcetest, storetest). Methods may
// be called from several goroutines, but not from a workspace's event callback:
// those of a person wait until the workspace has published what they did.
package bridgetest
