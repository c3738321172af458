package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// ApplyUpdate integrates an update of format V1, made by [Doc.EncodeStateAsUpdate], [Doc.OnUpdate], [MergeUpdates],
// [DiffUpdate] or the functions of the same names in Yjs. Updates may be applied twice and in any order: the document
// holds back the parts that refer to missing updates until these arrive.
//
// After an error the document is unchanged. The error wraps [ErrMalformed], or is [ErrUpdateV2], [ErrPendingLimit] or
// [ErrTooLarge].
//
// The document keeps no reference to update. It passes origin to the update listeners.
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

// applyFirst applies an update with the structs of one client to an empty document that never had content. In all other
// cases done is false.
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

// EncodeStateAsUpdate returns an update of format V1 with everything that a peer with the given encoded state vector
// lacks: the structs that the peer has not seen, and all deletions. It includes the data that is held back because
// updates are missing. If the vector is nil, it returns the whole document. It also does so if the vector does not
// decode, because the whole document is always a correct answer (use [DecodeStateVector] to detect that case).
func (d *Doc) EncodeStateAsUpdate(stateVector []byte) []byte {
	var have StateVector
	if len(stateVector) > 0 {
		have, _ = DecodeStateVector(stateVector)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.updates.Encode(have)
}
