package links_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/tests/need"
)

func TestExtractScales(t *testing.T) {
	extract := func(text string) { links.Extract(text) }
	for _, before := range []string{"[[x]](y", "---\na: \"[[x]]", "[[x]]\n\n```\n", "[a]: b\n[c", "[[x]]\n\n[\\"} {
		need.LinearInParts(t, 60_000, before, "\n---\n", extract)
	}
}

func TestRetargetCanvasScales(t *testing.T) {
	for _, part := range []string{"[", `{"a":`, `{"type":"file","file":"A/N.md"},`, `"A",`} {
		text := func(n int) string {
			body := need.Repeat(part, n)
			closing := strings.NewReplacer("[", "]", "{", "}")
			switch part {
			case "[":
				body = body[:min(n, 9000)] + strings.Repeat(closing.Replace(part), min(n, 9000))
			case `{"a":`:
				body = strings.Repeat(part, 4000) + "0" + strings.Repeat("}", 4000)
			default:
				body = strings.TrimSuffix(body, ",")
			}
			return `{"nodes":[` + body + `]}`
		}
		need.Linear(t, part, 60_000, text, func(text string) { links.RetargetCanvas([]byte(text), "A", "B", nil) })
	}
}
