package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// ApplyUpdate integrates an update of format V1: what [Doc.EncodeStateAsUpdate], [Doc.OnUpdate], [MergeUpdates] or
// [DiffUpdate] returned here, or their namesakes in Yjs. Applying an update twice, or updates in any order, is fine: what
// refers to updates that are missing is kept until they arrive.
//
// When an error is returned, which wraps [ErrMalformed] or is [ErrUpdateV2],
// [ErrPendingLimit] or [ErrTooLarge], nothing has changed.
//
// The document keeps no reference to update. origin is handed on to update listeners.
func (d *Doc) ApplyUpdate(update []byte, origin any) error {
	if done, err := d.applyFirst(update, origin); done {
		return err
	}
	u, err := wire.Scan(update)
	if err != nil {
		return err
	}
	return d.applyScanned(u, origin)
}

func (d *Doc) applyScanned(u *wire.Update, origin any) error {
	d.mu.Lock()
	defer d.events.deliver()
	defer d.mu.Unlock()
	if err := d.updates.Accepts(u); err != nil {
		return err
	}
	d.txn.begin(origin, false)
	d.updates.Apply(u)
	d.finish()
	return nil
}

// applyFirst applies an update with structs of one client to a pristine document. done is false if the update is not of that
// kind, or the document not pristine.
func (d *Doc) applyFirst(update []byte, origin any) (done bool, err error) {
	d.mu.Lock()
	defer d.events.deliver()
	defer d.mu.Unlock()
	section, ok := d.updates.First(update)
	if !ok {
		return false, nil
	}
	d.txn.begin(origin, false)
	if err := d.updates.ApplyFirst(update, section); err != nil {
		d.txn.end()
		return true, err
	}
	d.finish()
	return true, nil
}

// EncodeStateAsUpdate returns, as an update of format V1, everything that a peer with the given encoded state vector lacks:
// the structs it has not seen and all deletions, including what waits here for missing updates. A nil vector asks for the
// whole document; so does, because that is always a right answer, one that does not decode (see [DecodeStateVector] to
// tell).
func (d *Doc) EncodeStateAsUpdate(stateVector []byte) []byte {
	var have StateVector
	if len(stateVector) > 0 {
		have, _ = DecodeStateVector(stateVector)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.updates.Encode(have)
}
