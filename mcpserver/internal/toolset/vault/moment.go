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

// shorter converts a preset format to its short form. The token of the short form is in lower case: "l" is the short
// form of "L".
var shorter = strings.NewReplacer("MMMM", "MMM", "MM", "M", "DD", "D", "dddd", "ddd")

// format formats t as moment.js does in Obsidian.
func (lang *language) format(t time.Time, format string) string {
	presets := map[string]string{
		"LT": lang.clock, "LTS": strings.Replace(lang.clock, "mm", "mm:ss", 1), "L": lang.date, "LL": lang.long, "LLL": lang.full, "LLLL": lang.complete,
	}
	return momentToken.ReplaceAllStringFunc(format, func(s string) string {
		if preset, ok := presets[strings.ToUpper(s)]; ok {
			if s[0] == 'l' {
				preset = shorter.Replace(preset)
			}
			return lang.format(t, preset)
		}
		switch s[0] {
		case '[':
			return s[1 : len(s)-1]
		case '\\':
			return s[1:]
		case 'S':
			return fmt.Sprintf("%09d", t.Nanosecond())[:len(s)]
		}
		return lang.token(t, s)
	})
}

var momentLayouts = map[string]string{
	"MM": "01", "M": "1", "DDDD": "002", "DD": "02", "D": "2", "YYYY": "2006", "YY": "06", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "ZZ": "-0700", "Z": "-07:00",
}

func (lang *language) token(t time.Time, s string) string {
	if layout, ok := momentLayouts[s]; ok {
		return t.Format(layout)
	}
	if base, ok := strings.CutSuffix(s, "o"); ok {
		n, _ := strconv.Atoi(lang.token(t, base)) // the token is a number
		return lang.ordinal(n)
	}
	isoYear, isoWeek := t.ISOWeek()
	year, week, weekday := isoYear, isoWeek, (int(t.Weekday())+6)%7
	if !lang.isoWeeks {
		year, week = sundayWeek(t)
		weekday = int(t.Weekday())
	}
	numbers := map[string]struct{ n, digits int }{
		"DDD": {t.YearDay(), 1}, "d": {int(t.Weekday()), 1}, "e": {weekday, 1}, "E": {(int(t.Weekday())+6)%7 + 1, 1},
		"Q": {(int(t.Month()) + 2) / 3, 1}, "Y": {t.Year(), 1}, "W": {isoWeek, 1}, "WW": {isoWeek, 2}, "GGGG": {isoYear, 4}, "GG": {isoYear % 100, 2},
		"w": {week, 1}, "ww": {week, 2}, "gggg": {year, 4}, "gg": {year % 100, 2}, "H": {t.Hour(), 1}, "k": {(t.Hour()+23)%24 + 1, 1}, "kk": {(t.Hour()+23)%24 + 1, 2},
		"X": {int(t.Unix()), 1}, "x": {int(t.UnixMilli()), 1},
	}
	if number, ok := numbers[s]; ok {
		return fmt.Sprintf("%0*d", number.digits, number.n)
	}
	switch s {
	case "MMMM":
		return name(lang.months, int(t.Month())-1)
	case "MMM":
		return name(lang.monthsShort, int(t.Month())-1)
	case "dddd":
		return name(lang.weekdays, int(t.Weekday()))
	case "ddd":
		return name(lang.weekdaysShort, int(t.Weekday()))
	case "dd":
		return name(lang.weekdaysMin, int(t.Weekday()))
	case "A":
		return name(lang.noons, t.Hour()/12)
	case "a":
		return strings.ToLower(name(lang.noons, t.Hour()/12))
	case "YYYYYY":
		return fmt.Sprintf("%+07d", t.Year())
	}
	return s
}

// sundayWeek returns the year and number of the week of t. Weeks begin on Sunday. The year of a week is the year of its
// Saturday.
func sundayWeek(t time.Time) (year, week int) {
	saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
	return saturday.Year(), (saturday.YearDay()-1)/7 + 1
}

func ordinal(n int) string {
	end := "th"
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		end = "st"
	case n%10 == 2:
		end = "nd"
	case n%10 == 3:
		end = "rd"
	}
	return strconv.Itoa(n) + end
}
