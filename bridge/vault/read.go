package vault

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

const (
	// quiet is how long a file that was just changed must stay the same under our eyes. It
	// is longer than the coarsest step of the kernel's file times (10 ms), within which
	// two different saves can carry the same time.
	quiet = 30 * time.Millisecond
	// vanishGrace is how long a name may be missing before the file is taken to be
	// gone: editors that move the old file away before they write the new one
	// leave it out for a few milliseconds.
	vanishGrace = 250 * time.Millisecond
)

// Read returns the bytes of a file and their stamp. It waits, at most
// vaultdir.MaxQuietWait, while a save seems to be going on, so that a reader never gets
// the empty or half-written file between two steps of an editor's save. It
// looks again and again, because the stamp that Replace must be given is not in
// any event.
func (v *Vault) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	start := time.Now()
	var seen vaultdir.StatSample
	for {
		data, stamp, err := v.folder.Read(rel)
		now := time.Now()
		seen.Look(stamp, err, now)
		if now.Sub(start) >= vaultdir.MaxQuietWait || v.settled(rel, &seen, now) {
			if errors.Is(err, vaultdir.ErrTorn) {
				err = nil // written all the time: the stamp will never match
			}
			return data, stamp, wrap("read", rel, err)
		}
		if err := sleep(ctx, vaultdir.LookEvery); err != nil {
			return nil, model.Stamp{}, wrap("read", rel, err)
		}
	}
}

// settled says whether what was seen can be taken as somebody's finished work.
func (v *Vault) settled(rel string, seen *vaultdir.StatSample, now time.Time) bool {
	last, own, had := v.tree.stamp(rel)
	age := now.Sub(time.Unix(0, seen.Stamp.CTime))
	unchanged := now.Sub(seen.Since)
	switch {
	case errors.Is(seen.Err, vaultdir.ErrTorn):
		return false
	case errors.Is(seen.Err, fs.ErrNotExist):
		return !had || unchanged >= vanishGrace
	case seen.Err != nil, own && last == seen.Stamp:
		return true
	case seen.Stamp.Size == 0 && last.Size > 0:
		return age >= vaultdir.MaxQuietWait
	}
	return age >= vaultdir.QuietAge || unchanged >= quiet
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
