package diffwrap_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
)

func TestReadingIsLinear(t *testing.T) {
	need.LinearInParts(t, 60_000, "", "", func(text string) {
		diffwrap.Suggestions(text)
		(diffwrap.Known{}).Annotations(text)
		diffwrap.Accepted(text)
		diffwrap.Original(text)
	})
	need.LinearInParts(t, 30_000, "", "", func(text string) {
		(diffwrap.Known{}).Decide(text, true, nil, diffwrap.Suggestion{End: len(text)})
		(diffwrap.Known{}).Decide(text, false, nil, diffwrap.Suggestion{End: len(text)})
		all := diffwrap.Suggestions(text)
		(diffwrap.Known{}).Accept(text, all...)
		(diffwrap.Known{}).Decide(text, false, nil, all...)
	})
}

func TestReadingHalvesOfHighlightsIsLinear(t *testing.T) {
	for _, tail := range []string{"{--a==}b--}", "{--a==}b", "==}"} {
		need.Linear(t, "many openers before "+tail, 60_000, func(n int) string { return need.Repeat("{==a", n/2) + need.Repeat("{", n/2) + tail }, func(text string) {
			diffwrap.Everything.Texts(text)
			diffwrap.KnownAt(diffwrap.MayBeMarks(text)).Texts(text)
		})
	}
}

func TestWritingIsLinear(t *testing.T) {
	put := func(raw, view string) { _, _ = diffwrap.Put(raw, view) }
	need.LinearInParts(t, 20_000, "", "", func(text string) { put("", text) })
	need.LinearInParts(t, 15_000, "", "", func(text string) { put(text, "x"+diffwrap.Accepted(text)) })
	need.LinearInParts(t, 15_000, "---\na: ", "\n---\n", func(text string) { put("", text) })
	for _, part := range []string{"a: ", "1. ", "#N ", "[", "`", "{++a", "N\n", "> ", "aé", "- a\n"} {
		need.Linear(t, "another text than many "+part, 40_000, func(n int) string { return need.Repeat(part, n) }, func(text string) {
			put(text, strings.Repeat("b c\n", len(text)/4))
		})
	}
	for _, part := range []string{"[a]: b\n", "| a | b |\n", "# a\n\n", "a\n===\n", "> a\n- b\n"} {
		need.Linear(t, "every other one changed of many "+part, 30_000, func(n int) string { return need.Repeat(part, n) }, func(text string) {
			put(text, strings.ReplaceAll(text, part+part, part+"q "+part))
		})
	}
}
