package model_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/relayfs/relayfs/bridge/model"
)

func TestSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := model.NewSignal()
		woken := 0
		s.Set()
		s.Set()
		go func() {
			for range s.Each(ctx) {
				woken++
			}
			woken = -woken
		}()
		synctest.Wait()
		s.Set()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if woken != -2 {
			t.Errorf("woken %d times, want twice, and then the end", woken)
		}
		s.Set()
		for range s.Each(t.Context()) {
			break
		}
	})
}
