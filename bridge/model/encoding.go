package model

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Decode converts a stored text to UTF-8. It accepts UTF-8, UTF-16 with a byte order mark, and Windows-1252. encoding is
// "" for UTF-8. Decode fails for binary data, and for damaged UTF-8, which it recognises by at least one intact
// multi-byte character.
func Decode(raw string) (text, encoding string, ok bool) {
	utf16 := map[string]unicode.Endianness{"\xff\xfe": unicode.LittleEndian, "\xfe\xff": unicode.BigEndian}
	if order, found := utf16[raw[:min(2, len(raw))]]; found {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().String(raw)
		return text, "UTF-16", err == nil && !strings.Contains(text, "\x00")
	}
	if strings.Contains(raw, "\x00") {
		return "", "", false
	}
	if utf8.ValidString(raw) {
		return raw, "", true
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		isControl := r < ' ' && !strings.ContainsRune("\t\n\r\f", r)
		isUndefined := strings.IndexByte("\x81\x8d\x8f\x90\x9d", raw[i]) >= 0
		if n > 1 || isControl || isUndefined {
			return "", "", false
		}
		i += n
	}
	text, err := charmap.Windows1252.NewDecoder().String(raw)
	return text, "Windows-1252", err == nil
}
