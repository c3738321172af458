package bridgetest

import (
	"context"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// Source is a vault on a simulated disk. It reports changes of users at once.
type Source struct {
	*vault.Vault
	disk *disktest.Disk

	mu      sync.Mutex // guards the fields below
	changed uint64     // number of changes by users
	seen    uint64     // number of the changes that Run has reported
	wake    chan struct{}
}

const (
	vaultDir = "/vault"
	awayDir  = "/away" // path of the vault while the source is offline
)

// diskAge is how far the disk's clock is behind, so that no file was changed just now and readers need not wait.
const diskAge = 2 * time.Second

func NewSource(t testing.TB) *Source {
	t.Helper()
	clock := func() time.Time { return time.Now().Add(-diskAge) }
	s := &Source{disk: disktest.New(clock, disktest.Volume{Path: "/", OrdersNames: true})}
	if _, err := s.disk.MakeRoot(path.Join(vaultDir, ".obsidian")); err != nil { // a vault without a file is not offline
		t.Fatal(err)
	}
	return s.Restarted(t)
}

// Restarted returns the source as another process serves it.
func (s *Source) Restarted(t testing.TB) *Source {
	t.Helper()
	v, err := vault.New(vaultDir, vault.Options{Disk: s.disk, Swap: "/swap", MaxWatches: -1})
	if err != nil {
		t.Fatal(err)
	}
	if time.Now().Year() == bubbleYear { // elsewhere Close would really wait, for the vault's timers
		t.Cleanup(func() { v.Close() })
	}
	return &Source{Vault: v, disk: s.disk, wake: make(chan struct{})}
}

// bubbleYear is the year in which the time of a synctest bubble begins. All goroutines of a bubble must end.
const bubbleYear = 2000

// update runs fn, wakes the goroutines that wait, and returns the channel that the next update closes.
func (s *Source) update(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	close(s.wake)
	s.wake = make(chan struct{})
}

func (s *Source) state() (changed, seen uint64, wake <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.seen, s.wake
}

func (s *Source) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	changed, _, _ := s.state()
	err := s.Vault.Scan(ctx, found)
	s.update(func() { s.seen = changed })
	return err
}

func (s *Source) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	look := s.Follow(changed)
	for {
		n, seen, wake := s.state()
		if n > seen {
			look()
			s.update(func() { s.seen = n })
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

// Settle waits until Run has reported all changes of users and its callback has returned.
func (s *Source) Settle(ctx context.Context) error {
	n, _, _ := s.state()
	for {
		_, seen, wake := s.state()
		if seen >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		}
	}
}
