package token

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
)

var testTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// legacyKey is the key of 30 bytes 0, 1, 2...
func legacyKey(t *testing.T, id string) *Key {
	t.Helper()
	secret := make([]byte, legacySize)
	for i := range secret {
		secret[i] = byte(i)
	}
	k, err := ParsePrivateKey(id, base64.StdEncoding.EncodeToString(secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustMint(t *testing.T, k *Key, c Claims) string {
	t.Helper()
	text, err := k.Mint(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A payload written by hand, byte by byte, from the format.
func TestLegacyBytes(t *testing.T) {
	k := legacyKey(t, "")
	for name, tc := range map[string]struct {
		payload string
		want    Claims
	}{
		"server":        {"\x00\x00", Claims{Scope: Scope{Kind: Server, Permission: Full}}},
		"doc":           {"\x01\x04note\x01\x00", Claims{Scope: Scope{Kind: Doc, ID: "note", Permission: Full}}},
		"doc with user": {"\x01\x04note\x00\x01\x02me\x00", Claims{Scope: Scope{Kind: Doc, ID: "note"}, User: "me"}},
		"doc no user":   {"\x01\x04note\x00\x00\x00", Claims{Scope: Scope{Kind: Doc, ID: "note"}}},
		"expiry, 8 bytes": {
			"\x01\x04note\x01\x01\xfd\x00\x6a\xf9\xa6\x9e\x01\x00\x00",
			Claims{Scope: Scope{Kind: Doc, ID: "note", Permission: Full}, Expires: time.UnixMilli(0x019ea6f96a00).UTC()},
		},
		"prefix": {"\x03\x02r-\x01\x01\x01u\x00", Claims{Scope: Scope{Kind: Prefix, ID: "r-", Permission: Full}, User: "u"}},
		"file": {
			"\x02\x02ab\x00\x01\x03a/b\x01\xfb\x00\x10\x01d\x00\x00",
			Claims{Scope: Scope{Kind: File, ID: "d", Hash: "ab"}},
		},
	} {
		sum := sha256.Sum256(append([]byte(tc.payload), k.secret...))
		text := base64.RawURLEncoding.EncodeToString([]byte(tc.payload + "\x20" + string(sum[:])))
		got, err := Inspect(text)
		if err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
}

// A token without a user is in the layout that y-sweet itself knows.
func TestLegacyMint(t *testing.T) {
	k := legacyKey(t, "k1")
	text := mustMint(t, k, Claims{Scope: Scope{Kind: Doc, ID: "note", Permission: Full}, Expires: time.UnixMilli(300)})
	body, ok := strings.CutPrefix(text, "k1.")
	if !ok {
		t.Fatalf("token %q does not name its key", text)
	}
	data, err := decode64(body)
	if want := []byte("\x01\x04note\x01\x01\xfb\x2c\x01\x20"); err != nil || !bytes.HasPrefix(data, want) {
		t.Errorf("token is %x, %v, want it to begin with %x", data, err, want)
	}
}

// The MACed CWT of RFC 8392, appendix A.4, whose claims have no scope.
func TestRFC8392(t *testing.T) {
	secret, _ := hex.DecodeString("403697de87af64611c1d32a05dab0fe1fcb715a86ab435f1ec99192d79569388")
	data, _ := hex.DecodeString("d83dd18443a10104a1044c53796d6d65747269633235365850a70175636f61703a2f2f61732e6578616d706c652e636f6d" +
		"02656572696b77037818636f61703a2f2f6c696768742e6578616d706c652e636f6d041a5612aeb0051a5610d9f0061a5610d9f007420b7148093101ef6d789200")
	k, err := ParsePrivateKey("", base64.StdEncoding.EncodeToString(secret))
	if err != nil {
		t.Fatal(err)
	}
	tag, msg := message(t, data)
	over, err := toSign(tag, msg.Protected, msg.Payload)
	if err != nil || !bytes.Equal(k.mac(over)[:hmac64], msg.Signature) {
		t.Errorf("tag is %x, %v, want %x", k.mac(over)[:hmac64], err, msg.Signature)
	}
	if _, err := Inspect(base64.RawURLEncoding.EncodeToString(data)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a token without a scope gives %v", err)
	}
}

func pemKey(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// keys are a key of each algorithm and text form.
func keys(t *testing.T) map[string]*Key {
	t.Helper()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	der := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ecText := pemKey(t, "PRIVATE KEY", der(x509.MarshalPKCS8PrivateKey(ec)), nil)
	sec1 := pemKey(t, "EC PRIVATE KEY", der(x509.MarshalECPrivateKey(ec)), nil)
	edText := pemKey(t, "PRIVATE KEY", der(x509.MarshalPKCS8PrivateKey(ed)), nil)
	parse := func(private string) *Key {
		k, err := ParsePrivateKey("k", private)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	mac, err := GenerateKey("k", HMAC)
	if err != nil {
		t.Fatal(err)
	}
	old, err := GenerateKey("k", Legacy)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Key{
		"legacy": parse(old.Secret()), "hmac": parse(mac.Secret()), "es256": parse(ecText), "es256 sec1": parse(sec1), "ed25519": parse(edText),
	}
}

func TestMint(t *testing.T) {
	for name, k := range keys(t) {
		want := Claims{
			Scope: Scope{Kind: Doc, ID: "note", Permission: Full}, User: "me", KeyID: "k", Expires: testTime,
		}
		if name != "legacy" {
			want.Audience, want.Channel, want.Issued = "http://here", "folder", testTime.Add(-time.Hour)
		}
		text := mustMint(t, k, want)
		if got, err := Inspect(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		if !signed(t, k, text) {
			t.Errorf("%s: the signature is wrong", name)
		}
	}
}

// signed reports whether k has signed a token that it has minted.
func signed(t *testing.T, k *Key, text string) bool {
	t.Helper()
	if k.alg == Legacy {
		data, err := decode64(strings.TrimPrefix(text, k.id+"."))
		if err != nil {
			t.Fatal(err)
		}
		payload, hash := data[:len(data)-legacyTail], data[len(data)-sha256.Size:]
		want := sha256.Sum256(slices.Concat(payload, k.secret))
		return bytes.Equal(hash, want[:])
	}
	data, err := decode64(text)
	if err != nil {
		t.Fatal(err)
	}
	tag, msg := message(t, data)
	over, err := toSign(tag, msg.Protected, msg.Payload)
	if err != nil {
		t.Fatal(err)
	}
	switch sig := msg.Signature; k.alg {
	case ES256:
		sum := sha256.Sum256(over)
		return ecdsa.Verify(&k.ec.PublicKey, sum[:], new(big.Int).SetBytes(sig[:es256Half]), new(big.Int).SetBytes(sig[es256Half:]))
	case Ed25519:
		return ed25519.Verify(k.ed.Public().(ed25519.PublicKey), over, sig)
	default:
		return bytes.Equal(sig, k.mac(over)[:hmac64])
	}
}

// message returns the content of a CWT, and its tag.
func message(t *testing.T, data []byte) (tag uint64, msg coseMessage) {
	t.Helper()
	var outer, inner cbor.RawTag
	for _, err := range []error{cbor.Unmarshal(data, &outer), cbor.Unmarshal(outer.Content, &inner), cbor.Unmarshal(inner.Content, &msg)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return inner.Number, msg
}

func TestOnDoc(t *testing.T) {
	for scope, want := range map[string]string{
		"server": "full", "doc:a-b:r": "read-only", "doc:a-b:rw": "full", "doc:a-c:rw": "", "prefix:a-:r": "read-only", "prefix:b:rw": "", "file:00:a-b:rw": "",
	} {
		s, err := ParseScope(scope)
		if err != nil || s.String() != scope {
			t.Fatalf("scope %q is read as %q, %v", scope, s, err)
		}
		got := ""
		if p, ok := (Claims{Scope: s}).OnDoc("a-b"); ok {
			got = p.String()
		}
		if got != want {
			t.Errorf("%s permits %q, want %q", scope, got, want)
		}
	}
	for _, bad := range []string{"", "doc", "doc:", "doc::r", "doc:a:x", "file:a:r", "file::a:r", "kv:a:r"} {
		if s, err := ParseScope(bad); !errors.Is(err, ErrMalformed) {
			t.Errorf("scope %q is read as %q, %v", bad, s, err)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	for _, bad := range []string{"", "AAAA", "not base64!", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := ParsePrivateKey("", bad); !errors.Is(err, ErrMalformed) {
			t.Errorf("private key %q gives %v", bad, err)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(p384)
	if _, err := ParsePrivateKey("", pemKey(t, "PRIVATE KEY", der, err)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a key on P-384 gives %v", err)
	}
	if _, err := ParsePrivateKey("a.b", legacyKey(t, "").Secret()); !errors.Is(err, ErrMalformed) {
		t.Errorf("a key called a.b gives %v", err)
	}
}

// Whatever comes in is refused or understood, never a panic.
func FuzzInspect(f *testing.F) {
	legacy, _ := ParsePrivateKey("", strings.Repeat("ab12", legacySize/3))
	mac, _ := ParsePrivateKey("m", strings.Repeat("ab12", hmacSize/3)+"abc=")
	for _, k := range []*Key{legacy, mac} {
		for _, s := range []string{"server", "doc:d:rw", "prefix:p:r", "file:00ff:d:rw"} {
			scope, _ := ParseScope(s)
			text, _ := k.Mint(Claims{Scope: scope, User: "u", Expires: testTime})
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Inspect(text); err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
