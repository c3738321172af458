package vault

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// periodicSettings are the settings of periodic notes. Their paths are relative to the vault.
type periodicSettings struct {
	Folder   string `json:"folder"`
	Format   string `json:"format"` // moment.js format of the path below Folder
	Template string `json:"template"`
	Enabled  bool   `json:"enabled"` // set only in the settings of the plugin
}

type templateSettings struct {
	Folder string `json:"folder"`
	Date   string `json:"dateFormat"`
	Time   string `json:"timeFormat"`
}

// periodFormats are the default formats of Obsidian and of the plugin Periodic Notes.
var periodFormats = map[string]string{
	"daily": "YYYY-MM-DD", "weekly": "gggg-[W]ww", "monthly": "YYYY-MM", "quarterly": "YYYY-[Q]Q", "yearly": "YYYY",
}

// periodicOf returns the settings of the plugin Periodic Notes if the plugin manages the period. Otherwise it returns
// the settings of Obsidian, which has only daily notes.
func periodicOf(ws *bridge.Workspace, folder, period string) (periodicSettings, error) {
	var plugin map[string]json.RawMessage
	if err := readSetting(ws, folder, "plugins/periodic-notes/data.json", &plugin); err != nil {
		return periodicSettings{}, err
	}
	var p periodicSettings
	if raw := plugin[period]; json.Unmarshal(raw, &p) != nil || !p.Enabled {
		p = periodicSettings{}
		if period == "daily" {
			if err := readSetting(ws, folder, "daily-notes.json", &p); err != nil {
				return p, err
			}
		}
	}
	if strings.TrimSpace(p.Format) == "" {
		p.Format = periodFormats[period]
	}
	return p, nil
}

func templatesOf(ws *bridge.Workspace, folder string) (templateSettings, error) {
	var t templateSettings
	err := readSetting(ws, folder, "templates.json", &t)
	t.Date, t.Time = cmp.Or(t.Date, "YYYY-MM-DD"), cmp.Or(t.Time, "HH:mm")
	return t, err
}

// readSetting decodes a file of the folder .obsidian, which relayfs does not serve. If the file is missing, dst stays
// unchanged.
func readSetting(ws *bridge.Workspace, folder, name string, dst any) error {
	for _, f := range ws.Options().Roots {
		if f.Name != folder {
			continue
		}
		vault, ok := f.Source.(model.ConfigReader)
		if !ok {
			continue // a server has the notes of a vault but not its configuration
		}
		data, err := vault.ReadConfig(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || json.Unmarshal(data, dst) != nil {
			return result.InvalidArgument("The vault's .obsidian/%s cannot be read, or is not in Obsidian's format. Tell the user, and give the path of the note yourself.", name)
		}
	}
	return nil
}

func (p periodicSettings) path(lang *language, at time.Time) string {
	name := strings.TrimSuffix(lang.format(at, p.Format), ".md")
	return strings.Trim(path.Join(p.Folder, name), "/") + ".md"
}

var placeholder = regexp.MustCompile(`\{\{\s*(title|date|time|yesterday|tomorrow)\s*(?::([^{}]*))?\}\}`)

// fill fills in the placeholders of a template. The time of day is taken from now.
func (t templateSettings) fill(lang *language, template, title string, day, now time.Time) string {
	return placeholder.ReplaceAllStringFunc(template, func(s string) string {
		m := placeholder.FindStringSubmatch(s)
		format := strings.TrimSpace(m[2])
		at := time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
		switch m[1] {
		case "title":
			return title
		case "time":
			return lang.format(at, cmp.Or(format, t.Time))
		case "yesterday":
			at = at.AddDate(0, 0, -1)
		case "tomorrow":
			at = at.AddDate(0, 0, 1)
		}
		return lang.format(at, cmp.Or(format, t.Date))
	})
}
