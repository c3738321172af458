package need

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Parts are pieces of text that tests repeat to create hostile input: they open without closing, nest, or cause
// searches without a match. Each "N" becomes a different number.
var Parts = []string{
	"[", "[[", "![", "[](", "]", "(", "{", "}", "`", "` `` ", "```\n", "~~~\n", "<!--", "-->", "<div>\n", "</", "$$",
	"{++", "++}", "{--", "--}", "{~~", "~>", "~~}", "{>>", "<<}", "{==", "==}", "{++{--", "{~~a~>", "{>>@@", "{++++}", "{>>x<<}", "{==a==}{>>",
	">", "> ", "- ", "+ ", "1. ", "> - ", "- > 1. ", "\t- ", "#", "# ", "|", "\n", "\n\n", "\r\n", "\r", " ", "\t", "    ", "\\", "\"", "'", ":", ": ", ",", "? ",
	"&a ", "*a ", "!x ", "%", "@@", "a", "aé", "\u0301", "👩\u200d", "🇩", "\u0085", "\x00", "---\n", "===\n", "- a\n", "a: ", "a: [", "[a: ", "{a: ",
	"#N ", "#N/", "#[[", "#<!--", "#`", "kN: v\n", "kN: [", "[[N]]", "[N](N.md)", "![[N]]\n", "N ", "N\n", "*a* _b_ ", "|a|b|\n",
}

func Repeat(part string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.ReplaceAll(part, "N", "n"+strconv.Itoa(i)))
	}
	return b.String()
}

// Stairs returns about n bytes of lines, each indented by one step more than the previous one.
func Stairs(step, line string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(step, i) + line + "\n")
	}
	return b.String()
}

const (
	negligible = 25 * time.Millisecond
	times      = 4 // ratio of the two input sizes
	tolerance  = 7 // maximum ratio of their times: 16 would be quadratic
	attempts   = 10
)

// Linear fails the test if the time of fn grows much faster than its input. fn must work on this goroutine. input
// creates inputs of the size n and of four times that size. Linear takes the minimum of several measurements of this
// thread's processor time.
func Linear(t testing.TB, name string, n int, input func(n int) string, fn func(text string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would count as work of the call
	small, large := input(n), input(times*n)
	least := [2]time.Duration{1<<63 - 1, 1<<63 - 1}
	for range attempts {
		runtime.GC()
		for i, text := range [2]string{small, large} {
			start := threadTime()
			fn(text)
			least[i] = min(least[i], threadTime()-start)
		}
		if least[1] <= negligible || least[1] <= tolerance*least[0] {
			return
		}
	}
	t.Errorf("%s: %d bytes take %v, %d bytes take %v", name, len(small), least[0], len(large), least[1])
}

// LinearInParts calls [Linear] with texts that repeat one of [Parts] between a start and an end: for a random quarter of
// the parts, or in make soak for all of them.
func LinearInParts(t testing.TB, n int, before, after string, fn func(text string)) {
	t.Helper()
	some := rand.Perm(len(Parts))
	if os.Getenv("RELAYFS_SOAK") == "" {
		some = some[:len(Parts)/4]
	}
	for _, i := range some {
		part := Parts[i]
		name := strconv.Quote(before) + " and many " + strconv.Quote(part)
		Linear(t, name, n, func(n int) string { return before + Repeat(part, n) + after }, fn)
	}
}
