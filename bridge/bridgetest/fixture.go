package bridgetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

type Fixture struct {
	*bridge.Workspace
	t       testing.TB
	sources map[string]*Source
}

// New returns a workspace that runs until the test ends. files maps paths like "Folder/sub/Name.md" to texts. Each root
// gets its own Source and Store. opts change the workspace's options and may add roots.
func New(t testing.TB, files map[string]string, opts ...func(*bridge.Options)) *Fixture {
	t.Helper()
	f := &Fixture{t: t, sources: make(map[string]*Source)}
	var o bridge.Options
	for p, text := range files {
		name, rel := model.Path(p).Split()
		if f.sources[name] == nil {
			f.sources[name] = NewSource(t)
			o.Roots = append(o.Roots, bridge.RootSource{Name: name, Source: f.sources[name], Store: NewStore(t)})
		}
		if rel != "" {
			f.sources[name].Person(t).Save(rel, text)
		}
	}
	for _, change := range opts {
		change(&o)
	}
	w, err := bridge.New(o)
	if err == nil {
		err = w.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Workspace = w
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("workspace: %v", err)
		}
	})
	return f
}

// Proposed returns the pending proposals, each as "kind path" or "rename path new-path".
func (f *Fixture) Proposed() []string {
	f.t.Helper()
	list, err := f.Proposals(f.t.Context(), "")
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, p := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Kind, p.Path, p.NewPath)))
	}
	return out
}

func (f *Fixture) Source(folder string) *Source {
	f.t.Helper()
	s := f.sources[folder]
	if s == nil {
		f.t.Fatalf("fixture has no folder %q", folder)
	}
	return s
}

func (f *Fixture) at(path string) (s *Source, rel string) {
	f.t.Helper()
	name, rel := model.Path(path).Split()
	return f.Source(name), rel
}

func (f *Fixture) settle(s *Source) {
	f.t.Helper()
	if err := s.Settle(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// Person saves text to a new or existing file, as a user's editor does, and returns when the workspace has published
// the change.
func (f *Fixture) Person(path, text string) {
	f.t.Helper()
	s, rel := f.at(path)
	s.Person(f.t).Save(rel, text)
	f.settle(s)
}

// Delete removes a file or a folder, as a user does, and returns when the workspace has published the change.
func (f *Fixture) Delete(path string) {
	f.t.Helper()
	s, rel := f.at(path)
	s.Person(f.t).Remove(rel)
	f.settle(s)
}

// Rename moves a file or a folder within its root, as a user does, and returns when the workspace has published the
// change. To rename as a program, call f.Workspace.Rename.
func (f *Fixture) Rename(oldPath, newPath string) {
	f.t.Helper()
	s, oldRel := f.at(oldPath)
	other, newRel := f.at(newPath)
	if s != other {
		f.t.Fatalf("rename of %q to %q: not in one folder", oldPath, newPath)
	}
	s.Person(f.t).Rename(oldRel, newRel)
	f.settle(s)
}

// SetOffline detaches or attaches the source of a root, and returns when the workspace has published the change.
func (f *Fixture) SetOffline(folder string, offline bool) {
	f.t.Helper()
	s := f.Source(folder)
	s.Person(f.t).SetOffline(offline)
	f.settle(s)
}

func (f *Fixture) SourceText(path string) string {
	f.t.Helper()
	s, rel := f.at(path)
	return s.Person(f.t).Content(rel)
}
