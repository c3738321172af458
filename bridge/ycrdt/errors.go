package ycrdt

import (
	"errors"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/exchange"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

var (
	// ErrMalformed is wrapped by every error about malformed bytes. Nothing has changed when it is returned.
	ErrMalformed = wire.ErrMalformed

	// ErrUpdateV2 is returned for an update in Yjs's second format, which only applications that opt in produce.
	// Providers and the sync protocol use V1.
	ErrUpdateV2 = wire.ErrUpdateV2

	// ErrPendingLimit is returned for an update that depends on missing updates when the document already holds the
	// maximum of such data. Nothing has changed.
	ErrPendingLimit = exchange.ErrPendingLimit

	// ErrTooLarge is returned when content would no longer fit the 4 GiB that a document can address. Nothing has changed.
	ErrTooLarge = exchange.ErrTooLarge

	// ErrValue is wrapped by errors about Go values without a Yjs form.
	ErrValue = errors.New("value cannot be stored")
)
