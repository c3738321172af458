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
		if got := english.format(at, format); got != want {
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	}
}

// The other languages of Obsidian are as moment.js 2.31 has them.
func TestLanguages(t *testing.T) {
	at := time.Date(2026, 3, 1, 21, 7, 0, 0, time.UTC)
	const format = "dddd Do MMMM YYYY, ddd dd MMM, gggg-[W]ww e A, L"
	for i, want := range []string{
		"Sunday 1st March 2026, Sun Su Mar, 2026-W10 0 PM, 03/01/2026",
		"Sunday 1st March 2026, Sun Su Mar, 2026-W09 6 PM, 01/03/2026",
		"Sonntag 1. März 2026, So. So März, 2026-W09 6 PM, 01.03.2026",
		"dimanche 1er mars 2026, dim. di mars, 2026-W09 6 PM, 01/03/2026",
		"domingo 1º marzo 2026, dom. do mar., 2026-W09 6 PM, 01/03/2026",
		"domenica 1º marzo 2026, dom do mar, 2026-W09 6 PM, 01/03/2026",
		"zondag 1ste maart 2026, zo. zo mrt., 2026-W09 6 PM, 01-03-2026",
		"domingo 1º março 2026, dom do mar, 2026-W10 0 PM, 01/03/2026",
		"Domingo 1º março 2026, Dom Do mar, 2026-W09 6 PM, 01/03/2026",
		"söndag 1:a mars 2026, sön sö mar, 2026-W09 6 PM, 2026-03-01",
		"søndag 1. marts 2026, søn sø mar, 2026-W09 6 PM, 01.03.2026",
		"søndag 1. mars 2026, sø. sø mars, 2026-W09 6 PM, 01.03.2026",
		"日曜日 1日 3月 2026, 日 日 3月, 2026-W10 0 午後, 2026/03/01",
		"星期日 1日 三月 2026, 周日 日 3月, 2026-W09 6 下午, 2026/03/01",
	} {
		if got := languages[i].format(at, format); got != want {
			t.Errorf("language %d: got %q, want %q", i, got, want)
		}
	}
	for n, want := range map[int]string{2: "2 2de 2:a", 8: "8 8ste 8:e", 11: "11 11de 11:e", 21: "21 21ste 21:a"} {
		if got := french(n) + " " + dutch(n) + " " + swedish(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	if got, want := languages[2].format(at, "LT | LTS | LL | llll"), "21:07 | 21:07:00 | 1. März 2026 | So., 1. März 2026 21:07"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Text in brackets comes out as it is, whatever the time.
func TestFormatTimeBrackets(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		text := string(randomtest.Some(r, 0, 12, []rune("YMDdHhms AQ\\\néT漢")...))
		at := time.Unix(r.Int64N(1e11)-1e10, 0).UTC()
		if got, want := english.format(at, "["+text+"]YYYY"), text+at.Format("2006"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
