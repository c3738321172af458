package bridge_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// An agent reads words of a user that relayfs could not store. If it later deletes one of them, that word is deleted,
// whatever failed in between.
func TestStaleWriteOfWhatWasNotStored(t *testing.T) {
	for name, between := range map[string]func(s *staleNote, fails *atomic.Bool, read *model.Version){
		"nothing": func(*staleNote, *atomic.Bool, *model.Version) {},
		"a write that fails": func(s *staleNote, fails *atomic.Bool, read *model.Version) {
			fails.Store(true)
			if _, err := s.f.Write(s.t.Context(), "V/N.md", bridge.Write{Base: read, Text: read.Text() + "a002\n", By: model.Author{Name: "alice"}}); err == nil {
				s.t.Fatal("the store did not fail")
			}
		},
		"another save that is not stored": func(s *staleNote, fails *atomic.Bool, read *model.Version) {
			fails.Store(true)
			s.saves("p009\n" + read.Raw())
		},
		"an eviction": func(s *staleNote, _ *atomic.Bool, _ *model.Version) {
			if _, err := s.f.Open(s.t.Context(), "V/Other.md"); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fails atomic.Bool
			f := bridgetest.New(t, map[string]string{"V/N.md": "one two\n", "V/Other.md": ""}, func(o *bridge.Options) {
				o.CacheBytes, o.Roots[0].Store = 1, failingStore{o.Roots[0].Store, &fails}
			})
			s := &staleNote{t, f, f.Source("V")}
			s.write("alice", s.open(), "one a001 two\n")
			fails.Store(true)
			s.saves(s.open().Raw() + "p001 p002 p003\n")
			if fails.Load() {
				t.Fatal("the store did not fail")
			}
			read := s.open()
			between(s, &fails, read)
			s.saves(strings.NewReplacer("p001", "p004", "p003", "p003 p005").Replace(s.open().Raw()))
			s.write("alice", read, "one a001 two\np001 p003\n")
			s.has("p003", "p004", "p005", "a001")
			if text := s.open().Text(); strings.Contains(text, "p002") {
				t.Errorf("p002 is still in %q", text)
			}
		})
	}
}
