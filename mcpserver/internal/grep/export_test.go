package grep

// Size is the memory of the signature's bits, in bytes.
func (s *Signature) Size() int { return 8 * len(s.bits) }
