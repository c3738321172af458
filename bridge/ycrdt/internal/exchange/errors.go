package exchange

import "errors"

var (
	ErrPendingLimit = errors.New("too much data waits for missing updates")

	ErrTooLarge = errors.New("document too large")
)
