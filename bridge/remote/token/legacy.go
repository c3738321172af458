package token

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
)

// A legacy token is bincode (little endian, varint integers):
//
//	payload: permission, Option<expiry in Unix milliseconds>
//	bytes:   SHA-256(payload || key)
//
// If the key has an ID, the ID and a dot come before the token. A permission is its number and fields: 0 Server, 1
// Doc{id, authorization[, Option<user>]}, 2 File{hash, authorization, Option<content type>, Option<content length>,
// id[, Option<user>]}, 3 Prefix{prefix, authorization[, Option<user>]}. y-sweet writes no user, relay-server may write
// one; both forms are accepted.

// legacyTail is the length in bytes of the length-prefixed hash at the end.
const legacyTail = 1 + sha256.Size

func (k *Key) mintLegacy(c Claims) string {
	payload := appendPermission(nil, c)
	if c.Expires.IsZero() {
		payload = append(payload, 0)
	} else {
		payload = appendVarint(append(payload, 1), uint64(max(0, c.Expires.UnixMilli())))
	}
	hash := sha256.Sum256(slices.Concat(payload, k.secret))
	signed := append(append(payload, sha256.Size), hash[:]...)
	text := base64.RawURLEncoding.EncodeToString(signed)
	if k.id != "" {
		text = k.id + "." + text
	}
	return text
}

// appendPermission appends the permission of c. It omits the user if there is none, because every server accepts that
// form.
func appendPermission(b []byte, c Claims) []byte {
	s := c.Scope
	b = appendVarint(b, uint64(s.Kind))
	switch s.Kind {
	case Server:
		return b
	case File:
		b = append(appendString(b, s.Hash), byte(s.Permission))
		b = appendString(append(b, 0, 0), s.ID) // any content type and length
	default:
		b = append(appendString(b, s.ID), byte(s.Permission))
	}
	if c.User != "" {
		b = appendString(append(b, 1), c.User)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(appendVarint(b, uint64(len(s))), s...)
}

// appendVarint appends an integer in bincode's form: a number up to 250 as one byte, a larger number as a byte for the
// width followed by the number.
func appendVarint(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(b, 251), uint16(n))
	case n <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32(append(b, 252), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, 253), n)
}

func parseLegacy(keyID string, data []byte) (Claims, error) {
	bad := fmt.Errorf("token: %w", ErrMalformed)
	end := len(data) - legacyTail
	if end < 0 || data[end] != sha256.Size {
		return Claims{}, bad
	}
	for _, withUser := range []bool{true, false} {
		d := bincode{rest: data[:end]}
		if c := d.claims(withUser); !d.failed && len(d.rest) == 0 {
			c.KeyID = keyID
			return c, nil
		}
	}
	return Claims{}, bad
}

// bincode is a decoder. An error sets failed; all results are then meaningless.
type bincode struct {
	rest   []byte
	failed bool
}

func (d *bincode) claims(withUser bool) (c Claims) {
	s := &c.Scope
	s.Permission = Full
	switch kind := d.varint(); ScopeKind(min(kind, math.MaxUint8)) {
	case Server:
		withUser = false
	case Doc, Prefix:
		s.Kind = ScopeKind(kind)
		s.ID, s.Permission = d.string(), d.permission()
	case File:
		s.Kind = File
		s.Hash, s.Permission = d.string(), d.permission()
		if d.option() {
			d.string()
		}
		if d.option() {
			d.varint()
		}
		s.ID = d.string()
	default:
		d.failed = true
	}
	if withUser && d.option() {
		c.User = d.string()
	}
	if d.option() {
		const never = 253402300799_000 // end of the year 9999, which UnixMilli accepts
		c.Expires = time.UnixMilli(int64(min(d.varint(), never))).UTC()
	}
	return c
}

func (d *bincode) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return make([]byte, min(n, 8))
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *bincode) varint() uint64 {
	switch first := d.take(1)[0]; first {
	case 251:
		return uint64(binary.LittleEndian.Uint16(d.take(2)))
	case 252:
		return uint64(binary.LittleEndian.Uint32(d.take(4)))
	case 253:
		return binary.LittleEndian.Uint64(d.take(8))
	case 254, 255:
		d.failed = true
		return 0
	default:
		return uint64(first)
	}
}

func (d *bincode) string() string { return string(d.take(d.varint())) }

func (d *bincode) bit() byte {
	b := d.take(1)[0]
	if b > 1 {
		d.failed = true
		return 0
	}
	return b
}

func (d *bincode) option() bool           { return d.bit() == 1 }
func (d *bincode) permission() Permission { return Permission(d.bit()) }
