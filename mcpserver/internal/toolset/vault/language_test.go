package vault

import (
	"io/fs"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// weeklySource is a vault in which the plugin Periodic Notes manages weekly notes with the default format.
type weeklySource struct{ *bridgetest.Source }

func (weeklySource) ReadConfig(name string) ([]byte, error) {
	if name == "plugins/periodic-notes/data.json" {
		return []byte(`{"weekly":{"enabled":true}}`), nil
	}
	return nil, fs.ErrNotExist
}

// 2026 has 53 ISO weeks and 52 weeks that begin on Sunday.
func TestLanguageOfWeeklyNotes(t *testing.T) {
	for name, want := range map[string]string{"2026-W53.md": "2027-W03 Friday", "2026-W52.md": "2027-W04 Friday"} {
		f := bridgetest.New(t, map[string]string{"V/" + name: ""}, func(o *bridge.Options) {
			for i := range o.Roots {
				o.Roots[i].Source = weeklySource{o.Roots[i].Source.(*bridgetest.Source)}
			}
		})
		now := time.Date(2027, 1, 22, 12, 0, 0, 0, time.UTC)
		lang, err := languageOf(t.Context(), &tool.Client{Workspace: f.Workspace}, "V", now)
		if err != nil {
			t.Fatal(err)
		}
		if got := lang.format(now, "gggg-[W]ww dddd"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestDependsOnLanguage(t *testing.T) {
	for format, want := range map[string]bool{
		"gggg-[W]ww": true, "w": true, "e": true, "Do": true, "dddd": true, "MMM": true, "L": true, "a": true,
		"GGGG-[Woche]-WW": false, "YYYY-MM-DD": false, `YYYY \a E d`: false, "[Daily]": false,
	} {
		if got := dependsOnLanguage(format); got != want {
			t.Errorf("%q: %v", format, got)
		}
	}
}
