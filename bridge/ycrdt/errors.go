package ycrdt

import (
	"errors"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/exchange"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

var (
	// ErrMalformed is wrapped by every error about bytes that are not what they
	// should be. Nothing has changed when it is returned.
	ErrMalformed = wire.ErrMalformed

	// ErrUpdateV2 is returned for an update in Yjs's second format, which only
	// applications that choose it produce. Providers and the sync protocol use V1.
	ErrUpdateV2 = wire.ErrUpdateV2

	// ErrPendingLimit is returned for an update that could not be integrated because earlier updates are missing, when the
	// document already keeps as much of such data as it may. Nothing has changed.
	ErrPendingLimit = exchange.ErrPendingLimit

	// ErrTooLarge is returned when content would no longer fit the 4 GiB that a document can address. Nothing has changed.
	ErrTooLarge = exchange.ErrTooLarge

	// ErrValue is wrapped by errors about a Go value that has no Yjs form.
	ErrValue = errors.New("value cannot be stored")
)
