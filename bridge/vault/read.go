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
	// quiet is the time for which a file that was just changed must stay the same. It is longer than the coarsest step
	// of the kernel's file times (10 ms), within which two saves can have the same time.
	quiet = 30 * time.Millisecond
	// vanishGrace is the time for which a name may be missing before the file counts as removed, because some editors
	// move the old file away some milliseconds before they write the new one.
	vanishGrace = 250 * time.Millisecond
)

// Read returns the bytes of a file and their stamp. While a save seems to be in progress, it polls for at most
// vaultdir.MaxQuietWait. So readers get no empty or half-written file of a save that takes less time.
func (v *Vault) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	start := time.Now()
	var seen vaultdir.StatSample
	for {
		data, stamp, err := v.folder.Read(rel)
		now := time.Now()
		seen.Update(stamp, err, now)
		if now.Sub(start) >= vaultdir.MaxQuietWait || v.settled(rel, &seen, now) {
			if errors.Is(err, vaultdir.ErrTorn) {
				err = nil // the file is written all the time, and its stamp will never match
			}
			return data, stamp, wrap("read", rel, err)
		}
		select {
		case <-ctx.Done():
			return nil, model.Stamp{}, wrap("read", rel, ctx.Err())
		case <-time.After(vaultdir.LookEvery):
		}
	}
}

// settled reports whether the observed state is a completed save.
func (v *Vault) settled(rel string, seen *vaultdir.StatSample, now time.Time) bool {
	last, own, old := v.tree.stamp(rel)
	age := now.Sub(time.Unix(0, seen.Stamp.CTime))
	unchanged := now.Sub(seen.Since)
	switch {
	case errors.Is(seen.Err, vaultdir.ErrTorn):
		return false
	case errors.Is(seen.Err, fs.ErrNotExist):
		return !old || unchanged >= vanishGrace
	case seen.Err != nil, own && last == seen.Stamp:
		return true
	case seen.Stamp.Size == 0 && last.Size > 0:
		return age >= vaultdir.MaxQuietWait
	}
	return age >= vaultdir.QuietAge || unchanged >= quiet
}
