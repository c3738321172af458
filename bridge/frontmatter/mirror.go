package frontmatter

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Mirror computes the update of a mirror after a change of the text. before and after are the texts. A mirror maps each
// property of a note to its value as JSON; shared documents have one next to the text. Once a client changes the
// mirror, other clients overwrite the front matter with the whole mirror. So when the front matter changes, Mirror also
// updates the values that earlier changes left different, and it ignores all other changes of the text.
//
// set has the missing and different values, in the order of the text, and drop the other keys. Both are nil if the
// mirror is empty (not in use), or if the front matter does not change or cannot be parsed.
func Mirror(before, after string, mirror map[string]any) (set Properties, drop []string) {
	_, old, _ := Split(before)
	_, current, _ := Split(after)
	if len(mirror) == 0 || before[:old] == after[:current] {
		return nil, nil
	}
	properties, err := Parse(after)
	if err != nil {
		return nil, nil
	}
	for _, p := range properties {
		if text := stringify(p.Value); mirror[p.Key] != text {
			set = append(set, Property{Key: p.Key, Value: text})
		}
	}
	there := properties.ByKey()
	for _, key := range slices.Sorted(maps.Keys(mirror)) {
		if _, stays := there[key]; !stays {
			drop = append(drop, key)
		}
	}
	return set, drop
}

// Mirrored returns text with values from the mirror: if a property in keys has one value in text and another in the
// mirror, it gets the mirror's value. differ has the new values. Mirrored skips values that it cannot read. If the
// result cannot be written, it changes nothing.
func Mirrored(text string, mirror map[string]any, keys []string) (repaired string, differ Properties) {
	properties, err := Parse(text)
	if err != nil {
		return text, nil
	}
	for _, key := range keys {
		has, there := properties.Get(key)
		value, _ := mirror[key].(string)
		if !there || value == "" || stringify(has) == value {
			continue
		}
		var want Properties
		if err := json.Unmarshal(slices.Concat([]byte(`{"value":`), []byte(value), []byte("}")), &want); err == nil && len(want) == 1 {
			properties = properties.With(key, want[0].Value)
			differ = append(differ, Property{Key: key, Value: value})
		}
	}
	if len(differ) == 0 {
		return text, nil
	}
	if repaired, err = Rewrite(text, properties); err != nil {
		return text, nil
	}
	return repaired, differ
}

func stringify(v any) string { return string(ycrdt.AppendJSON(nil, v)) }
