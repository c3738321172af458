package randomtest

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
)

// odd returns a JSON value with some parts replaced by others.
func odd(r *rand.Rand, v any) any {
	if r.IntN(12) == 0 {
		return Pick[any](r, nil, true, 0, -1, 1<<53, 1.5e300, "", "x", "two\r\nlines", "\x1b[2J", strings.Repeat("\x00long", 50_000), "../../..", "file:///etc/passwd", "http://[::1", []any{}, map[string]any{}, []any{[]any{nil}}, "https://127.0.0.1:1/?x=")
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, part := range v {
			if r.IntN(20) > 0 {
				out[key] = odd(r, part)
			}
		}
		return out
	case []any:
		var out []any
		for _, part := range v {
			for range Pick(r, 0, 1, 1, 1, 1, 1, 1, 2) {
				out = append(out, odd(r, part))
			}
		}
		return out
	}
	return v
}

// Answer returns a handler that answers with the JSON of v, or with what a hostile, broken or wrong server may send
// instead: other values, damaged or endless text, other statuses, and redirects.
func Answer(r *rand.Rand, v any) http.HandlerFunc {
	text, _ := json.Marshal(odd(r, v))
	code := http.StatusOK
	location, length := "", ""
	switch r.IntN(16) {
	case 0:
		text = Damage(r, text)
	case 1:
		text = []byte(strings.Repeat(Pick(r, " ", "[", `{"a":`, "\x00"), 5<<20))
	case 2:
		text = append(text, " and more"...)
	case 3:
		code = Pick(r, 201, 204, 301, 307, 400, 401, 403, 404, 418, 429, 500, 503, 599)
		location = Pick(r, "", "/token", "http://127.0.0.1:1/", "http://127.0.0.1:1/a", "\x00")
	case 4:
		length = Pick(r, "0", "1", "99999999", "x")
	case 5:
		text = nil
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		w.WriteHeader(code)
		_, _ = w.Write(text)
	}
}
