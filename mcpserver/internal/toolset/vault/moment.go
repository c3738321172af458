package vault

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// momentToken matches bracketed text, an escaped character, or the longest token.
var momentToken = regexp.MustCompile(`\[[^\[\]]*\]|\\.|MMMM|MMM|MM|Mo|M|DDDD|DDDo|DDD|DD|Do|D|dddd|ddd|dd|do|d|E|e|ww|wo|w|WW|Wo|W|YYYYYY|YYYY|YY|Y|gggg|gg|GGGG|GG|Qo|Q|A|a|HH|H|hh|h|kk|k|mm|m|ss|s|S{1,9}|ZZ|Z|X|x|LTS|LT|LLLL|LLL|LL|L|llll|lll|ll|l`)

var momentPresets = map[string]string{
	"LT": "h:mm A", "LTS": "h:mm:ss A", "L": "MM/DD/YYYY", "LL": "MMMM D, YYYY", "LLL": "MMMM D, YYYY h:mm A", "LLLL": "dddd, MMMM D, YYYY h:mm A",
	"l": "M/D/YYYY", "ll": "MMM D, YYYY", "lll": "MMM D, YYYY h:mm A", "llll": "ddd, MMM D, YYYY h:mm A",
}

// formatTime formats t as moment.js does in Obsidian. Names are English, and weeks without an ISO token begin on
// Sunday.
func formatTime(t time.Time, format string) string {
	return momentToken.ReplaceAllStringFunc(format, func(s string) string {
		if preset, ok := momentPresets[s]; ok {
			return formatTime(t, preset)
		}
		switch s[0] {
		case '[':
			return s[1 : len(s)-1]
		case '\\':
			return s[1:]
		case 'S':
			return fmt.Sprintf("%09d", t.Nanosecond())[:len(s)]
		}
		return formatToken(t, s)
	})
}

var momentLayouts = map[string]string{
	"MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DDDD": "002", "DD": "02", "D": "2", "dddd": "Monday", "ddd": "Mon", "YYYY": "2006", "YY": "06",
	"A": "PM", "a": "pm", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "ZZ": "-0700", "Z": "-07:00",
}

func formatToken(t time.Time, s string) string {
	if layout, ok := momentLayouts[s]; ok {
		return t.Format(layout)
	}
	if base, ok := strings.CutSuffix(s, "o"); ok {
		n, _ := strconv.Atoi(formatToken(t, base)) // these are numbers
		return strconv.Itoa(n) + ordinal(n)
	}
	isoYear, isoWeek := t.ISOWeek()
	year, week := sundayWeek(t)
	numbers := map[string]struct{ n, digits int }{
		"DDD": {t.YearDay(), 1}, "d": {int(t.Weekday()), 1}, "e": {int(t.Weekday()), 1}, "E": {(int(t.Weekday())+6)%7 + 1, 1},
		"Q": {(int(t.Month()) + 2) / 3, 1}, "Y": {t.Year(), 1}, "W": {isoWeek, 1}, "WW": {isoWeek, 2}, "GGGG": {isoYear, 4}, "GG": {isoYear % 100, 2},
		"w": {week, 1}, "ww": {week, 2}, "gggg": {year, 4}, "gg": {year % 100, 2}, "H": {t.Hour(), 1}, "k": {(t.Hour()+23)%24 + 1, 1}, "kk": {(t.Hour()+23)%24 + 1, 2},
		"X": {int(t.Unix()), 1}, "x": {int(t.UnixMilli()), 1},
	}
	if number, ok := numbers[s]; ok {
		return fmt.Sprintf("%0*d", number.digits, number.n)
	}
	switch s {
	case "dd":
		return t.Format("Mon")[:2]
	case "YYYYYY":
		return fmt.Sprintf("%+07d", t.Year())
	}
	return s
}

// sundayWeek numbers weeks that begin on Sunday; the year is that of the Saturday.
func sundayWeek(t time.Time) (year, week int) {
	saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
	return saturday.Year(), (saturday.YearDay()-1)/7 + 1
}

func ordinal(n int) string {
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}
