package ycrdt

// ApplyUpdate integrates an update of format V1, made by [Doc.EncodeStateAsUpdate], [Doc.OnUpdate] or [MergeUpdates],
// or by Yjs. Updates may be applied twice and in any order: the document
// holds back the parts that refer to missing updates until these arrive.
//
// After an error the document is unchanged. The error wraps [ErrMalformed], or is [ErrUpdateV2], [ErrPendingLimit] or
// [ErrTooLarge].
//
// The document keeps no reference to update.
func (d *Doc) ApplyUpdate(update []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.txn.begin(false)
	if err := d.updates.Apply(update); err != nil {
		d.txn.end()
		return err
	}
	d.finish()
	return nil
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
