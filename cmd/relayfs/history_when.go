package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// namedDays are the days that people name.
var namedDays = map[string]int{"today": 0, "yesterday": -1}

// timeLayouts are those of times and days, in local time where they name no zone.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly}

var clockLayouts = []string{"15:04:05", "15:04"}

// parseWhen reads what names a state of a note: the number of an entry, a time, or how long ago.
func parseWhen(s string, now time.Time) (history.When, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 64); err == nil && n > 0 {
		return history.When{Entry: n}, nil
	}
	if age, err := parseAge(s); err == nil && s != "0" {
		return history.Time(now.Add(-age)), nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return history.Time(t), nil
		}
	}
	day, clock, _ := strings.Cut(s, " ")
	if _, named := namedDays[day]; !named {
		day, clock = "today", s
	}
	y, m, d := now.AddDate(0, 0, namedDays[day]).Date()
	if clock == "" && s != "" {
		return history.Time(time.Date(y, m, d, 0, 0, 0, 0, now.Location())), nil
	}
	for _, layout := range clockLayouts {
		if t, err := time.Parse(layout, clock); err == nil {
			return history.Time(time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location())), nil
		}
	}
	return history.When{}, cli.Usagef("%q is no time; say the number of an entry of 'relayfs history', 2h, 3d, 14:00, 'yesterday 14:00', 2026-01-31 or 2026-01-31T14:00:00Z", s)
}

// parseAge reads a length of time, in which d is a day and w a week: 90d, 2w, 36h, 1h30m.
func parseAge(s string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseUint(number, 10, 16)
			return time.Duration(n) * length, err
		}
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

// parseRetention reads how long histories are kept; 0 is for ever.
func parseRetention(s string) (time.Duration, error) {
	d, err := parseAge(s)
	if err != nil || d != 0 && d < 24*time.Hour {
		return 0, cli.Usagef("history %q is no time of a day at least, such as 90d, and not 0, which is for ever", s)
	}
	return d, nil
}

// splitTime separates a note from the time in NOTE@TIME.
func splitTime(arg string, now time.Time) (note string, when history.When, err error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return "", when, cli.Usagef("%q has no time: NOTE@TIME, such as %s@2h", arg, arg)
	}
	when, err = parseWhen(arg[i+1:], now)
	return arg[:i], when, err
}
