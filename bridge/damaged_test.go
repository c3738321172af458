package bridge_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A note whose stored updates are damaged either opens, or returns ErrDamagedRecord and keeps its file. Other notes are
// not affected.
func TestDamagedRecords(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one two three\n")
		src.Person(t).Save("Other.md", "other\n")
		first := process(t, src, store)
		write(t, first, plan, bridge.Write{Text: "one TWO three\n", By: bob})
		write(t, first, plan, bridge.Write{Text: "one TWO 3\n", By: bob})
		id, err := store.DocID("Plan.md")
		if err != nil {
			t.Fatal(err)
		}
		h, err := store.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		rec := h.Records[r.IntN(len(h.Records))]
		rec.Update, rec.Seq = randomtest.Damage(r, rec.Update), 0
		if _, err := store.Append(id, "Plan.md", rec); err != nil {
			t.Fatal(err)
		}
		before, allocated := src.Person(t).Content("Plan.md"), need.Allocated()
		ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "Notes", Source: src, Store: store}}})
		if err == nil {
			err = ws.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = ws.Open(t.Context(), plan)
		if errors.Is(err, model.ErrDamagedRecord) {
			if _, err := ws.Write(t.Context(), plan, bridge.Write{Text: "new\n", By: bob}); !errors.Is(err, model.ErrDamagedRecord) {
				t.Errorf("written: %v, want %v", err, model.ErrDamagedRecord)
			}
			if got := src.Person(t).Content("Plan.md"); got != before {
				t.Errorf("the file has %q, before %q", got, before)
			}
		} else if err != nil {
			t.Errorf("opened: %v", err)
		}
		write(t, ws, other, bridge.Write{Text: "other words\n", By: bob})
		if list, err := ws.Suggestions(t.Context(), other); err != nil || len(list) == 0 {
			t.Errorf("suggestions: %v, %v", list, err)
		}
		if _, err := ws.Suggestions(t.Context(), ""); err != nil {
			t.Errorf("all suggestions: %v", err)
		}
		if got := src.Person(t).Content("Other.md"); !strings.Contains(got, "{++") {
			t.Errorf("the other file has %q", got)
		}
		if n := need.Allocated() - allocated; n > need.MaxBytes {
			t.Errorf("it allocates %d MB", n>>20)
		}
	})
}
