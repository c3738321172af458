package ycrdt_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// An update conflicts in the keys that it sets although its writer did not have the value in the document, or that two
// writers set in it concurrently.
func TestConflicts(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		type set struct {
			client ycrdt.ClientID
			clock  uint64
			key    string
			had    ycrdt.StateVector // state of the writer before
		}
		lacked := func(writer, value set) bool { return value.clock >= writer.had[value.client] }
		var docs []*ycrdt.Doc
		for _, id := range r.Perm(4) {
			docs = append(docs, ycrdt.NewDoc(ycrdt.Options{ClientID: ycrdt.ClientID(id + 1)}))
		}
		var sets []set
		for range 40 {
			i := r.IntN(len(docs))
			doc, from := docs[i], docs[(i+1+r.IntN(len(docs)-1))%len(docs)]
			me, m := doc.ClientID(), doc.Map("m")
			switch key := randomtest.Pick(r, "a", "b"); r.IntN(5) {
			case 0, 1:
				had := doc.StateVector()
				sets = append(sets, set{me, had[me], key, had})
				doc.Transact(func(tx *ycrdt.Txn) { m.Set(tx, key, "value") })
				t.Logf("%d sets %q", me, key)
				if got := conflicts(m); len(got) > 0 {
					t.Fatalf("the document's own change conflicts in %q", got)
				}
			case 2:
				doc.Transact(func(tx *ycrdt.Txn) { m.Delete(tx, key) })
				t.Logf("%d deletes %q", me, key)
			default:
				before, winner := doc.StateVector(), map[string]ycrdt.ClientID{}
				setters, _ := m.KeysSince(0)
				for _, s := range setters {
					winner[s.Key] = s.Client
				}
				if err := doc.ApplyUpdate(from.EncodeStateAsUpdate(doc.EncodeStateVector())); err != nil {
					t.Fatal(err)
				}
				after, current, may, must := doc.StateVector(), map[string]set{}, map[string]bool{}, map[string]bool{}
				for _, value := range sets {
					if value.client == winner[value.key] && value.clock < before[value.client] {
						current[value.key] = value
					}
				}
				for _, added := range sets {
					if added.clock < before[added.client] || added.clock >= after[added.client] {
						continue
					}
					for _, other := range sets {
						if other.key == added.key && other.client != added.client && other.clock < after[other.client] && lacked(added, other) && lacked(other, added) {
							may[added.key] = true
							now := current[other.key]
							must[added.key] = must[added.key] || other.clock >= before[other.client] || other.client == now.client && other.clock == now.clock
						}
					}
				}
				got := conflicts(m)
				t.Logf("%d receives from %d: conflicts in %q", me, from.ClientID(), got)
				for _, key := range []string{"a", "b"} {
					has := slices.Contains(got, key)
					_, there := m.Get(key)
					if there && must[key] && !has || has && !may[key] {
						t.Fatalf("conflict in %q: %v, want %v", key, has, may[key])
					}
				}
			}
		}
	})
}

func conflicts(m *ycrdt.Map) (keys []string) {
	setters, _ := m.KeysSince(0)
	for _, s := range setters {
		if s.Conflict {
			keys = append(keys, s.Key)
		}
	}
	return keys
}
