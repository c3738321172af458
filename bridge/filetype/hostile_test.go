package filetype_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/tests/need"
)

func TestCheckIsLinear(t *testing.T) {
	const card = `{"id": "N", "type": "text", "x": 0, "y": 0, "width": 1, "height": 1, "text": "a"}, `
	for _, part := range []string{"[", "{", `{"a":`, "[0,", `["a",`, `"`, "0,", "\n", `\`, "a", `{"nodes":[`, `"N":0,`, card} {
		for _, before := range []string{"", `{"a": [`, `{"nodes": [`, `{"nodes": [{`} {
			text := func(n int) string { return before + need.Repeat(part, n) }
			need.Linear(t, before+" and many "+part, 30_000, text, func(text string) { _ = filetype.Canvas.Check(text) })
		}
	}
	need.LinearInParts(t, 15_000, "a: ", "", func(text string) { _ = filetype.Base.Check(text) })
}
