package main

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("home", 2*60*60)
	now := time.Date(2026, 3, 1, 12, 30, 0, 0, zone)
	at := func(y, m, d, hour, minute, sec int) history.Point {
		return history.Point{Time: time.Date(y, time.Month(m), d, hour, minute, sec, 0, zone)}
	}
	end := func(p history.Point) history.Point { return history.Point{Time: p.Time.Add(time.Second - 1)} }
	for text, want := range map[string]history.Point{
		"17":                             {Entry: 17},
		"2h":                             at(2026, 3, 1, 10, 30, 0),
		"1h30m":                          at(2026, 3, 1, 11, 0, 0),
		"3d":                             at(2026, 2, 26, 12, 30, 0),
		"2w":                             at(2026, 2, 15, 12, 30, 0),
		"0s":                             at(2026, 3, 1, 12, 30, 0),
		"today":                          end(at(2026, 3, 1, 0, 0, 0)),
		"yesterday":                      end(at(2026, 2, 28, 0, 0, 0)),
		"yesterday 14:00":                end(at(2026, 2, 28, 14, 0, 0)),
		" 14:00:05 ":                     end(at(2026, 3, 1, 14, 0, 5)),
		"2026-01-31":                     end(at(2026, 1, 31, 0, 0, 0)),
		"2026-01-31 14:00":               end(at(2026, 1, 31, 14, 0, 0)),
		"2026-01-31T14:00":               end(at(2026, 1, 31, 14, 0, 0)),
		"2026-01-31T12:00:00Z":           end(at(2026, 1, 31, 14, 0, 0)),
		"2026-01-31T12:00:00.000000001Z": {Time: time.Date(2026, 1, 31, 12, 0, 0, 1, time.UTC)},
	} {
		got, err := parseWhen(text, now)
		if err != nil || got.Entry != want.Entry || !got.Time.Equal(want.Time) {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-2h", "soon", "25:00", "yesterday noon", "2026-02-30", "d", "-1d"} {
		if got, err := parseWhen(text, now); err == nil {
			t.Errorf("%q is %+v, want an error", text, got)
		}
	}
}

// A resolved thread has comments, not suggestions.
func TestDecisionText(t *testing.T) {
	items := []model.DecidedItem{{Author: "ann"}}
	for verdict, want := range map[model.Verdict]string{
		model.Accepted: "eve: accepted 1 suggestion by ann (b)",
		model.Resolved: "eve: resolved 1 comment by ann (b)",
	} {
		if got := decisionText("eve", &history.Decision{Verdict: verdict, Batch: "b", Items: items}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	note, when, err := splitTime("Notes/a@b.md@3", time.Now())
	if note != "Notes/a@b.md" || when.Entry != 3 || err != nil {
		t.Errorf("%q, %+v, %v", note, when, err)
	}
	if _, _, err := splitTime("Notes/a.md", time.Now()); err == nil {
		t.Error("no time is no error")
	}
}

func TestParseRetention(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "0": 0, "36h": 36 * time.Hour} {
		if got, err := parseRetention(text); got != want || err != nil {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "90", "1h", "-90d", "forever"} {
		if got, err := parseRetention(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}
