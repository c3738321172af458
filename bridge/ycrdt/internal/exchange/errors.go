package exchange

import "errors"

var (
	// ErrPendingLimit is returned for an update that could not be integrated because earlier updates are missing, when the
	// document already keeps as much of such data as it may. Nothing has changed.
	ErrPendingLimit = errors.New("too much data waits for missing updates")

	// ErrTooLarge is returned when content would no longer fit the 4 GiB that a document can address. Nothing has changed.
	ErrTooLarge = errors.New("document too large")
)
