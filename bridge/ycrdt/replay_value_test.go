package ycrdt

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
)

// unpackValue makes a value of its log form; see tests/peer/values.mjs.
func unpackValue(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, el := range v {
			out[i] = unpackValue(el)
		}
		return out
	case map[string]any:
		for key, arg := range v {
			switch key {
			case "$u":
				return Undefined{}
			case "$f":
				return map[string]float64{"-0": math.Copysign(0, -1), "NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[arg.(string)]
			case "$b":
				return mustHex(arg.(string))
			case "$t":
				return NewText(arg.(string))
			case "$m":
				return NewMap(unpackValue(arg).(map[string]any))
			case "$a":
				return NewArray(unpackValue(arg).([]any)...)
			}
		}
		out := make(map[string]any)
		for k, el := range v {
			out[k] = unpackValue(el)
		}
		return out
	}
	return v
}

// packValue is the reverse of unpackValue.
func packValue(v any) any {
	switch v := v.(type) {
	case Undefined:
		return map[string]any{"$u": 1}
	case BigInt:
		return map[string]any{"$n": strconv.FormatInt(int64(v), 10)}
	case float64:
		if v == 0 && math.Signbit(v) {
			return map[string]any{"$f": "-0"}
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return map[string]any{"$f": map[bool]string{true: "NaN", false: map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0]}[math.IsNaN(v)]}
		}
	case []byte:
		return map[string]any{"$b": hex.EncodeToString(v)}
	case Subdoc:
		return map[string]any{"$d": v.GUID}
	case Foreign:
		return map[string]any{"$x": 1}
	case *Text:
		return map[string]any{"$t": v.String()}
	case *Map:
		out := make(map[string]any)
		for k, el := range v.All() {
			out[k] = packValue(el)
		}
		return map[string]any{"$m": out}
	case *Array:
		return map[string]any{"$a": packList(v.Values())}
	case []any:
		return packList(v)
	case Object:
		out := make(map[string]any)
		for _, m := range v {
			out[m.Key] = packValue(m.Value)
		}
		return out
	}
	return v
}

func packList(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = packValue(v)
	}
	return out
}

// normalize returns v as encoding/json would read it back.
func normalize(v any) (out any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		panic(err)
	}
	return out
}
