package wire

import "errors"

var (
	// ErrMalformed is wrapped by every error about bytes that are not what they
	// should be. Nothing has changed when it is returned.
	ErrMalformed = errors.New("malformed data")

	// ErrUpdateV2 is returned for an update in Yjs's second format, which only
	// applications that choose it produce. Providers and the sync protocol use V1.
	ErrUpdateV2 = errors.New("update is in Yjs format V2, want V1")
)
