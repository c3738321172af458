package vault

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// language has the words that moment.js uses to write times. Lists are separated by blanks. Lists of weekdays begin
// with Sunday.
type language struct {
	months, monthsShort                  string
	weekdays, weekdaysShort, weekdaysMin string
	noons                                string // AM and PM
	ordinal                              func(n int) string
	isoWeeks                             bool   // weeks begin on Monday, and week 1 has at least four days; else on Sunday, and week 1 has January 1
	clock, date, long, full, complete    string // the formats LT, L, LL, LLL and LLLL
}

func suffix(end string) func(int) string {
	return func(n int) string { return strconv.Itoa(n) + end }
}

func french(n int) string {
	if n == 1 {
		return "1er"
	}
	return strconv.Itoa(n)
}

func dutch(n int) string {
	if n == 1 || n == 8 || n >= 20 {
		return strconv.Itoa(n) + "ste"
	}
	return strconv.Itoa(n) + "de"
}

func swedish(n int) string {
	if last := n % 10; (last == 1 || last == 2) && n%100/10 != 1 {
		return strconv.Itoa(n) + ":a"
	}
	return strconv.Itoa(n) + ":e"
}

var english = language{
	"January February March April May June July August September October November December", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
	"Sunday Monday Tuesday Wednesday Thursday Friday Saturday", "Sun Mon Tue Wed Thu Fri Sat", "Su Mo Tu We Th Fr Sa", "AM PM", ordinal, false,
	"h:mm A", "MM/DD/YYYY", "MMMM D, YYYY", "MMMM D, YYYY h:mm A", "dddd, MMMM D, YYYY h:mm A",
}

// languages begins with the default language of Obsidian. British English is the first language with ISO weeks, so that
// a vault that shows only how it counts weeks gets English words.
var languages = []*language{
	&english,
	{
		english.months, english.monthsShort, english.weekdays, english.weekdaysShort, english.weekdaysMin, english.noons, ordinal, true,
		"HH:mm", "DD/MM/YYYY", "D MMMM YYYY", "D MMMM YYYY HH:mm", "dddd, D MMMM YYYY HH:mm",
	},
	{
		"Januar Februar März April Mai Juni Juli August September Oktober November Dezember", "Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.",
		"Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag", "So. Mo. Di. Mi. Do. Fr. Sa.", "So Mo Di Mi Do Fr Sa", "AM PM", suffix("."), true,
		"HH:mm", "DD.MM.YYYY", "D. MMMM YYYY", "D. MMMM YYYY HH:mm", "dddd, D. MMMM YYYY HH:mm",
	},
	{
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre", "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
		"dimanche lundi mardi mercredi jeudi vendredi samedi", "dim. lun. mar. mer. jeu. ven. sam.", "di lu ma me je ve sa", "AM PM", french, true,
		"HH:mm", "DD/MM/YYYY", "D MMMM YYYY", "D MMMM YYYY HH:mm", "dddd D MMMM YYYY HH:mm",
	},
	{
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", "ene. feb. mar. abr. may. jun. jul. ago. sep. oct. nov. dic.",
		"domingo lunes martes miércoles jueves viernes sábado", "dom. lun. mar. mié. jue. vie. sáb.", "do lu ma mi ju vi sá", "AM PM", suffix("º"), true,
		"H:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "D [de] MMMM [de] YYYY H:mm", "dddd, D [de] MMMM [de] YYYY H:mm",
	},
	{
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre", "gen feb mar apr mag giu lug ago set ott nov dic",
		"domenica lunedì martedì mercoledì giovedì venerdì sabato", "dom lun mar mer gio ven sab", "do lu ma me gi ve sa", "AM PM", suffix("º"), true,
		"HH:mm", "DD/MM/YYYY", "D MMMM YYYY", "D MMMM YYYY HH:mm", "dddd D MMMM YYYY HH:mm",
	},
	{
		"januari februari maart april mei juni juli augustus september oktober november december", "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec.",
		"zondag maandag dinsdag woensdag donderdag vrijdag zaterdag", "zo. ma. di. wo. do. vr. za.", "zo ma di wo do vr za", "AM PM", dutch, true,
		"HH:mm", "DD-MM-YYYY", "D MMMM YYYY", "D MMMM YYYY HH:mm", "dddd D MMMM YYYY HH:mm",
	},
	{
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro", "jan fev mar abr mai jun jul ago set out nov dez",
		"domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado", "dom seg ter qua qui sex sáb", "do 2ª 3ª 4ª 5ª 6ª sá", "AM PM", suffix("º"), false,
		"HH:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "D [de] MMMM [de] YYYY [às] HH:mm", "dddd, D [de] MMMM [de] YYYY [às] HH:mm",
	},
	{
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro", "jan fev mar abr mai jun jul ago set out nov dez",
		"Domingo Segunda-feira Terça-feira Quarta-feira Quinta-feira Sexta-feira Sábado", "Dom Seg Ter Qua Qui Sex Sáb", "Do 2ª 3ª 4ª 5ª 6ª Sá", "AM PM", suffix("º"), true,
		"HH:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "D [de] MMMM [de] YYYY HH:mm", "dddd, D [de] MMMM [de] YYYY HH:mm",
	},
	{
		"januari februari mars april maj juni juli augusti september oktober november december", "jan feb mar apr maj jun jul aug sep okt nov dec",
		"söndag måndag tisdag onsdag torsdag fredag lördag", "sön mån tis ons tors fre lör", "sö må ti on to fr lö", "AM PM", swedish, true,
		"HH:mm", "YYYY-MM-DD", "D MMMM YYYY", "D MMMM YYYY [kl.] HH:mm", "dddd D MMMM YYYY [kl.] HH:mm",
	},
	{
		"januar februar marts april maj juni juli august september oktober november december", "jan feb mar apr maj jun jul aug sep okt nov dec",
		"søndag mandag tirsdag onsdag torsdag fredag lørdag", "søn man tir ons tor fre lør", "sø ma ti on to fr lø", "AM PM", suffix("."), true,
		"HH:mm", "DD.MM.YYYY", "D. MMMM YYYY", "D. MMMM YYYY HH:mm", "dddd [d.] D. MMMM YYYY [kl.] HH:mm",
	},
	{
		"januar februar mars april mai juni juli august september oktober november desember", "jan. feb. mars apr. mai juni juli aug. sep. okt. nov. des.",
		"søndag mandag tirsdag onsdag torsdag fredag lørdag", "sø. ma. ti. on. to. fr. lø.", "sø ma ti on to fr lø", "AM PM", suffix("."), true,
		"HH:mm", "DD.MM.YYYY", "D. MMMM YYYY", "D. MMMM YYYY [kl.] HH:mm", "dddd D. MMMM YYYY [kl.] HH:mm",
	},
	{
		"1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月", "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
		"日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日", "日 月 火 水 木 金 土", "日 月 火 水 木 金 土", "午前 午後", suffix("日"), false,
		"HH:mm", "YYYY/MM/DD", "YYYY年M月D日", "YYYY年M月D日 HH:mm", "YYYY年M月D日 dddd HH:mm",
	},
	{
		"一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月", "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
		"星期日 星期一 星期二 星期三 星期四 星期五 星期六", "周日 周一 周二 周三 周四 周五 周六", "日 一 二 三 四 五 六", "上午 下午", suffix("日"), true,
		"HH:mm", "YYYY/MM/DD", "YYYY年M月D日", "YYYY年M月D日 HH:mm", "YYYY年M月D日dddd HH:mm",
	},
}

// localToken matches the tokens whose output depends on the language: words, ordinals, presets, and weeks.
var localToken = regexp.MustCompile(`^(MMM|dd|[AaLlewg]|\w+o$)`)

func dependsOnLanguage(format string) bool {
	return slices.ContainsFunc(momentToken.FindAllString(format, -1), localToken.MatchString)
}

// languageOf returns the probable language of Obsidian in a vault. Obsidian stores the setting outside of the vault, so
// languageOf deduces the language from the names of the periodic notes of about a year. Names of weekly notes show how
// the vault counts weeks only if there is a week 53. The default is English.
func languageOf(ctx context.Context, c *tool.Client, folder string, now time.Time) (*language, error) {
	var settings []periodicSettings
	for period := range periodFormats {
		s, err := periodicOf(c.Workspace, folder, period)
		if err == nil && (period == "daily" || s.Enabled) && dependsOnLanguage(s.Format) {
			settings = append(settings, s)
		}
	}
	if len(settings) == 0 {
		return &english, nil
	}
	there := make(map[string]bool)
	err := c.Workspace.Walk(ctx, model.Path(folder), func(e bridge.Info) error {
		_, rel := e.Path.Split()
		there[rel] = e.Kind == model.KindNote
		return nil
	})
	if err != nil {
		return nil, err
	}
	best, most := &english, 0
	for _, lang := range languages {
		found := make(map[string]bool)
		for _, s := range settings {
			for days := -370; days < 32; days++ {
				if p := s.path(lang, now.AddDate(0, 0, days)); there[p] {
					found[p] = true
				}
			}
		}
		if len(found) > most {
			best, most = lang, len(found)
		}
	}
	return best, nil
}

func name(list string, n int) string { return strings.Fields(list)[n] }
