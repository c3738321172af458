package ysync_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

func states(a *ysync.Awareness) string {
	var out []string
	for id, s := range a.States() {
		out = append(out, fmt.Sprintf("%d:%s", id, s))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestAwarenessVectors(t *testing.T) {
	a := ysync.NewAwareness(1)
	if err := a.SetLocal(map[string]any{"user": map[string]any{"name": "é"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(a.Encode(1)), "010101167b2275736572223a7b226e616d65223a22c3a9227d7d"; got != want {
		t.Errorf("state is %s, want %s", got, want)
	}
	a.SetLocal(nil)
	if got, want := hex.EncodeToString(a.Encode(1)), "010102046e756c6c"; got != want {
		t.Errorf("removed state is %s, want %s", got, want)
	}
}

func TestAwarenessExchange(t *testing.T) {
	a, b := ysync.NewAwareness(1), ysync.NewAwareness(2)
	var events []ysync.AwarenessEvent
	b.OnUpdate(func(e ysync.AwarenessEvent) { events = append(events, e) })
	cancel := a.OnUpdate(func(e ysync.AwarenessEvent) {
		if err := b.Apply(a.Encode(e.Clients()...), "a"); err != nil {
			t.Error(err)
		}
	})
	a.SetLocal("here")
	a.SetLocal("here")
	a.SetLocal("there")
	if got := states(b); got != `1:"there"` {
		t.Errorf("states are %s", got)
	}
	a.SetLocal(nil)
	if got := states(b); got != "" {
		t.Errorf("states are %s", got)
	}
	want := []string{"{[1] [] [] a}", "{[] [] [1] a}", "{[] [] [1] a}", "{[] [1] [] a}"}
	if got := fmt.Sprint(events); got != "["+strings.Join(want, " ")+"]" {
		t.Errorf("events are %v, want %v", got, want)
	}
	cancel()
	a.SetLocal("unheard")
	if got := states(b); got != "" {
		t.Errorf("states after cancel are %s", got)
	}
}

func TestAwarenessTakesOnlyNews(t *testing.T) {
	a := ysync.NewAwareness(1)
	update := func(client, clock byte, state string) []byte {
		return append([]byte{1, client, clock, byte(len(state))}, state...)
	}
	for _, step := range []struct {
		update []byte
		want   string
	}{
		{update(2, 0, "{}"), ""}, // every provider's first, which receivers ignore
		{update(2, 2, `"b"`), `2:"b"`},
		{update(2, 1, `"a"`), `2:"b"`},
		{update(2, 2, `"c"`), `2:"b"`},
		{update(2, 2, "null"), ""},
		{update(2, 2, `"b"`), ""},
		{update(2, 3, `"d"`), `2:"d"`},
	} {
		if err := a.Apply(step.update, nil); err != nil {
			t.Fatal(err)
		}
		if got := states(a); got != step.want {
			t.Errorf("after %q: states are %s, want %s", step.update, got, step.want)
		}
	}
}

// TestAwarenessContradicts has another client say that this side has left.
func TestAwarenessContradicts(t *testing.T) {
	a := ysync.NewAwareness(1)
	a.SetLocal("alive")
	var told []ycrdt.ClientID
	a.OnUpdate(func(e ysync.AwarenessEvent) { told = append(told, e.Updated...) })
	if err := a.Apply([]byte{1, 1, 7, 4, 'n', 'u', 'l', 'l'}, "other"); err != nil {
		t.Fatal(err)
	}
	if got := string(a.Local()); got != `"alive"` {
		t.Errorf("local state is %s", got)
	}
	if got := hex.EncodeToString(a.Encode(told...)); got != "01010807"+hex.EncodeToString([]byte(`"alive"`)) {
		t.Errorf("contradiction is %s", got)
	}
}

func TestAwarenessTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := ysync.NewAwareness(1)
		a.SetLocal("me")
		a.Apply(append([]byte{1, 2, 1, 1}, '5'), nil)
		type event struct {
			after time.Duration
			what  string
		}
		var events []event
		start := time.Now()
		a.OnUpdate(func(e ysync.AwarenessEvent) {
			events = append(events, event{time.Since(start), fmt.Sprint(e)})
		})
		done := make(chan error)
		go func() { done <- a.Run(ctx) }()
		time.Sleep(34 * time.Second)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		want := []event{
			{15 * time.Second, "{[] [] [1] <nil>}"},
			{30 * time.Second, "{[] [] [1] <nil>}"},
			{30 * time.Second, "{[] [2] [] timeout}"},
		}
		if !slices.Equal(events, want) {
			t.Errorf("events are %v, want %v", events, want)
		}
		if got := states(a); got != `1:"me"` {
			t.Errorf("states are %s", got)
		}
	})
}

func TestAwarenessRemove(t *testing.T) {
	a := ysync.NewAwareness(1)
	a.SetLocal(1)
	a.Apply([]byte{2, 2, 1, 1, '2', 3, 1, 1, '3'}, nil)
	a.Remove("closed", a.Others()...)
	if got := states(a); got != "1:1" {
		t.Errorf("states are %s", got)
	}
	if got := hex.EncodeToString(a.EncodeAll()); got != "0101010131" {
		t.Errorf("all states are %s", got)
	}
}

func TestAwarenessErrors(t *testing.T) {
	a := ysync.NewAwareness(1)
	for name, update := range map[string]string{
		"empty":                      "",
		"more clients than bytes":    "ffffff7f",
		"truncated":                  "010101",
		"no JSON":                    "010101017b",
		"no UTF-8":                   "01010103" + "22ff22",
		"second of two is no JSON":   "0202010131" + "0301017b",
		"client above 2^53-1":        "01ffffffffffffff7f010131",
		"state longer than the rest": "010101ffffffff0f31",
	} {
		if err := a.Apply(unhex(t, update), nil); !errors.Is(err, ysync.ErrMalformed) {
			t.Errorf("%s: Apply = %v, want ErrMalformed", name, err)
		}
	}
	long := append([]byte{1, 2, 1, 0x80, 0x80, 0x08, '"'}, strings.Repeat("x", 1<<17-2)...)
	if err := a.Apply(append(long, '"'), nil); !errors.Is(err, ysync.ErrAwarenessLimit) {
		t.Errorf("long state: Apply = %v, want ErrAwarenessLimit", err)
	}
	if got := states(a); got != "" {
		t.Errorf("states are %s", got)
	}
	if err := a.SetLocal(make(chan int)); err == nil {
		t.Error("a channel became a state")
	}
}

// TestAwarenessIsBounded floods an Awareness with clients.
func TestAwarenessIsBounded(t *testing.T) {
	a := ysync.NewAwareness(1)
	var err error
	for id := 2; err == nil && id < 100_000; id++ {
		err = a.Apply([]byte{1, byte(id) | 0x80, byte(id>>7) | 0x80, byte(id >> 14), 1, 1, '1'}, nil)
	}
	if !errors.Is(err, ysync.ErrAwarenessLimit) {
		t.Errorf("Apply = %v, want ErrAwarenessLimit", err)
	}
	a.Remove(nil, a.Others()...)
	if err := a.Apply([]byte{1, 0xff, 0xff, 0x7f, 1, 1, '1'}, nil); err != nil {
		t.Errorf("after all have left: %v", err)
	}
}

func FuzzAwareness(f *testing.F) {
	f.Add([]byte{1, 2, 1, 2, '{', '}'})
	f.Add([]byte{2, 1, 9, 4, 'n', 'u', 'l', 'l', 2, 1, 1, '5'})
	f.Fuzz(func(t *testing.T, update []byte) {
		var a *ysync.Awareness
		var before string
		var err error
		need.Call(t, update, func() {
			a = ysync.NewAwareness(1)
			a.SetLocal(map[string]any{"user": "me"})
			before = states(a)
			err = a.Apply(update, nil)
		})
		if err != nil {
			if got := states(a); got != before {
				t.Errorf("%x was refused, and changed %s to %s", update, before, got)
			}
			return
		}
		b := ysync.NewAwareness(3)
		if err := b.Apply(a.EncodeAll(), nil); err != nil {
			t.Errorf("encoded again: %v", err)
		}
	})
}
