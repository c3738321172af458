package ycrdt

import "errors"

var (
	// ErrMalformed is wrapped by every error about bytes that are not what they
	// should be. Nothing has changed when it is returned.
	ErrMalformed = errors.New("malformed data")

	// ErrUpdateV2 is returned for an update in Yjs's second format, which only
	// applications that choose it produce. Providers and the sync protocol use V1.
	ErrUpdateV2 = errors.New("update is in Yjs format V2, want V1")

	// ErrPendingLimit is returned for an update that could not be integrated
	// because earlier updates are missing, when the document already keeps as
	// much of such data as it may. Nothing has changed.
	ErrPendingLimit = errors.New("too much data waits for missing updates")

	// ErrTooLarge is returned when content would no longer fit the 4 GiB that a
	// document can address. Nothing has changed.
	ErrTooLarge = errors.New("document too large")

	// ErrValue is wrapped by errors about a Go value that has no Yjs form.
	ErrValue = errors.New("value cannot be stored")
)
