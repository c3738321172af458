package ycrdt

import (
	"errors"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/exchange"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

var (
	// ErrMalformed is wrapped by every error about malformed bytes. The document is then unchanged.
	ErrMalformed = wire.ErrMalformed

	// ErrUpdateV2 is returned for an update in Yjs's second format, which only applications that opt in produce.
	// Providers and the sync protocol use V1.
	ErrUpdateV2 = wire.ErrUpdateV2

	// ErrPendingLimit is returned for an update that depends on missing updates if the document already holds back the
	// maximum amount of such data. The document is then unchanged.
	ErrPendingLimit = exchange.ErrPendingLimit

	// ErrTooLarge is returned if content would exceed the 4 GiB that a document can address, or if its structs would
	// take more than 1 GiB of memory. The document is then unchanged.
	ErrTooLarge = exchange.ErrTooLarge

	// ErrValue is wrapped by errors about Go values without a Yjs form.
	ErrValue = errors.New("value cannot be stored")
)
