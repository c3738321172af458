package ports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// limit is one of those that --limit sets.
type limit struct {
	unit int64 // of its number, in bytes; 1 for a count
	set  func(*yserve.Limits, int64)
}

const mebibyte = 1 << 20

// limits are those of --listen. The last one is of --http, too.
var limits = map[string]limit{
	"connections": {1, func(l *yserve.Limits, n int64) { l.Connections = int(n) }},
	"strangers":   {1, func(l *yserve.Limits, n int64) { l.Strangers = int(n) }},
	"documents":   {1, func(l *yserve.Limits, n int64) { l.Documents = int(n) }},
	"queue":       {1, func(l *yserve.Limits, n int64) { l.Queue = int(n) }},
	"backlog":     {mebibyte, func(l *yserve.Limits, n int64) { l.Backlog = int(n) }},
	"frame":       {mebibyte, func(l *yserve.Limits, n int64) { l.Frame = n }},
	"file":        {mebibyte, func(l *yserve.Limits, n int64) { l.File = n }},
	inflightLimit: {mebibyte, func(*yserve.Limits, int64) {}},
}

const inflightLimit = "inflight"

// maxLimit bounds the number of a limit, so that its bytes can be counted.
const maxLimit = 1 << 20

// LimitNames are what --limit can set.
func LimitNames() []string { return slices.Sorted(maps.Keys(limits)) }

// parseLimits reads NAME=N for each limit that is not to be the default. budget is the size of the budget in bytes.
func parseLimits(words []string) (l yserve.Limits, budget int, err error) {
	budget = inflight.Default
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		known, ok := limits[name]
		if !ok {
			return l, 0, clierr.Usagef("--limit %q: there are %s", word, strings.Join(LimitNames(), ", "))
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > maxLimit {
			return l, 0, clierr.Usage(fmt.Errorf("--limit %q is not %s=N with a number from 1 to %d", word, name, maxLimit))
		}
		known.set(&l, n*known.unit)
		if name == inflightLimit {
			budget = int(n * known.unit)
		}
	}
	return l, budget, nil
}
