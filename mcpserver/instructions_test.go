package mcpserver

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// Instructions name tools that the session has, and no others.
func TestInstructionsNameTheToolsThatAreThere(t *testing.T) {
	word := regexp.MustCompile(`[a-z]+(_[a-z]+)+|\bgrep\b|\bglob\b`)
	for _, sets := range [][]string{nil, {"claude"}, {"notes"}, {"content"}, {"claude", "notes", "content"}} {
		for _, readOnly := range []bool{false, true} {
			picked, err := pick(sets, readOnly)
			if err != nil {
				t.Fatal(err)
			}
			tools := picked.tools
			text := instructions(bridge.Options{}, toolset{tools: tools})
			for _, name := range word.FindAllString(text, -1) {
				ok := slices.ContainsFunc(tools, func(t tool.Tool) bool {
					return t.Name == name || slices.ContainsFunc(t.Params, func(p tool.Param) bool { return p.Name == name })
				})
				if !ok {
					t.Errorf("%v, read-only %v: %s is named and not there", sets, readOnly, name)
				}
			}
			if strings.Contains(text, "read-only") != readOnly {
				t.Errorf("%v, read-only %v:\n%s", sets, readOnly, text)
			}
		}
	}
}
