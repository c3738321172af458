package vault

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestFormatTime(t *testing.T) {
	at := time.Date(2026, 1, 4, 0, 7, 9, 50_000_000, time.FixedZone("", 5*3600+1800))
	for format, want := range map[string]string{
		"YYYY-MM-DD":                        "2026-01-04",
		"YYYY/MM-MMMM/YYYY-MM-DD-dddd":      "2026/01-January/2026-01-04-Sunday",
		"gggg-[W]ww":                        "2026-W02",
		"GGGG-[W]WW":                        "2026-W01",
		"YYYY-[Q]Q":                         "2026-Q1",
		"[Daily note of] dddd, MMMM Do, YY": "Daily note of Sunday, January 4th, 26",
		"H:m:s.SSS hh A a k E e d dd":       "0:7:9.050 12 AM am 24 7 0 0 Su",
		"DDD DDDD Wo Z ZZ":                  "4 004 1st +05:30 +0530",
		"LT | LL":                           "12:07 AM | January 4, 2026",
		`\Y Mo`:                             "Y 1st",
		"":                                  "",
	} {
		if got := formatTime(at, format); got != want {
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	}
}

// Text in brackets comes out as it is, whatever the time.
func TestFormatTimeBrackets(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		text := string(randomtest.Some(r, 0, 12, []rune("YMDdHhms AQ\\\néT漢")...))
		at := time.Unix(r.Int64N(1e11)-1e10, 0).UTC()
		if got, want := formatTime(at, "["+text+"]YYYY"), text+at.Format("2006"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
