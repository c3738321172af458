package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// A configuration with odd content is refused in a few lines that name the file; no command runs without its settings.
func TestConfigurationsOfAnyKind(t *testing.T) {
	randomtest.Check(t, 50, func(t testing.TB, r *rand.Rand) {
		value := func() string {
			return randomtest.Pick(r, `""`, `"x"`, `"~/Notes"`, `"/tmp/Notes"`, `"Name=/tmp/Notes"`, `"relay:Team"`, `"ws://127.0.0.1:1#x"`, `"ys://user:pass@[::1"`, `"\u0000"`, `"\u001b[2J"`, "true", "1", "-1", "1e400", "0x", "inf", "1979-05-27",
				"[]", `["a", "b"]`, `["/tmp/a", "/tmp/a"]`, "[1]", "[[]]", `[["a"]]`, "{a = 1}", strings.Repeat("[", 20_000), strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000), `"`+strings.Repeat("x", 100_000)+`"`, `"`, "'''\nx", "")
		}
		var text strings.Builder
		for range r.IntN(6) {
			text.WriteString(randomtest.Pick(r, "sources", "sources", "mountpoint", "state", "mode", "hide", "lock", "history", "http", "token-file", "log-level", "log-format", "sync", "dialect", "agents", "structure",
				"metrics", "embeddings", "none", "", "a.b", `"\u0000"`, "[table]", "[[table]]", "#", "\xff", strings.Repeat("a.", 5000)+"a"))
			text.WriteString(randomtest.Pick(r, " = ", "=", " = ", " ") + value() + randomtest.Pick(r, "\n", "\n", "\r\n", "\r", ""))
		}
		data := []byte(text.String())
		if r.IntN(4) == 0 {
			data = randomtest.Damage(r, data)
		}
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		args := randomtest.Pick(r, []string{"mount", ""}, []string{"completion", "bash"}, []string{"version"}) // none opens a vault
		code := run(t.Context(), append([]string{"--config", file}, args...), strings.NewReader(""), &out, &errs)
		if text := errs.String(); len(text) > 20_000 || strings.ContainsAny(text, "\x00\x1b") || strings.Contains(text, "panic") || code != 0 && !strings.Contains(text, "relayfs: error: ") {
			t.Errorf("%q with %.500q: %d bytes: %.500q", args, data, len(text), text)
		}
	})
}
