package wire

import "errors"

var (
	ErrMalformed = errors.New("malformed data")

	ErrUpdateV2 = errors.New("update is in Yjs format V2, want V1")
)
