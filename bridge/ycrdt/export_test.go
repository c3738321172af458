package ycrdt

// Check verifies all invariants of the document.
func Check(d *Doc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.Check()
}
