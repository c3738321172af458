package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"time"
)

type Algorithm uint8

const (
	Legacy  Algorithm = iota // y-sweet's own: 30 random bytes
	HMAC                     // CWT with HMAC-SHA-256: 32 random bytes
	ES256                    // CWT with ECDSA on P-256
	Ed25519                  // CWT with EdDSA
)

// Sizes of secrets in bytes, which distinguish the two kinds.
const (
	legacySize = 30
	hmacSize   = 32
)

type Key struct {
	id     string // included in tokens of this key, "" for none
	alg    Algorithm
	secret []byte // Legacy, HMAC
	ec     *ecdsa.PrivateKey
	ed     ed25519.PrivateKey
}

// GenerateKey returns a new random key of the algorithm Legacy or HMAC.
func GenerateKey(id string, alg Algorithm) (*Key, error) {
	size, random := map[Algorithm]int{Legacy: legacySize, HMAC: hmacSize}[alg]
	if !random {
		return nil, fmt.Errorf("generate keys of this kind with openssl: %w", ErrMalformed)
	}
	secret := make([]byte, size)
	rand.Read(secret)
	return newKey(id, &Key{alg: alg, secret: secret})
}

// ParsePrivateKey parses a key: base64 of 30 bytes is Legacy, of 32 bytes HMAC; PEM (PKCS #8, or SEC 1 for EC) is
// ES256 or Ed25519. id names the key and may be "". The error wraps ErrMalformed.
func ParsePrivateKey(id, text string) (*Key, error) {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return parsePEM(id, block)
	}
	secret, err := decode64(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	switch len(secret) {
	case legacySize:
		return newKey(id, &Key{alg: Legacy, secret: secret})
	case hmacSize:
		return newKey(id, &Key{alg: HMAC, secret: secret})
	}
	return nil, fmt.Errorf("private key has %d bytes, want %d or %d: %w", len(secret), legacySize, hmacSize, ErrMalformed)
}

func parsePEM(id string, block *pem.Block) (*Key, error) {
	var private any
	var err error
	if block.Type == "EC PRIVATE KEY" {
		private, err = x509.ParseECPrivateKey(block.Bytes)
	} else {
		private, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("private key: %w", ErrMalformed)
	}
	switch key := private.(type) {
	case *ecdsa.PrivateKey:
		if key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("key is on %s, want P-256: %w", key.Params().Name, ErrMalformed)
		}
		return newKey(id, &Key{alg: ES256, ec: key})
	case ed25519.PrivateKey:
		return newKey(id, &Key{alg: Ed25519, ed: key})
	}
	return nil, fmt.Errorf("key is neither P-256 nor Ed25519: %w", ErrMalformed)
}

func newKey(id string, k *Key) (*Key, error) {
	if id != "" && !ValidID(id) {
		return nil, fmt.Errorf("key id %q has characters other than letters, digits, - and _: %w", id, ErrMalformed)
	}
	k.id = id
	return k, nil
}

// ValidID reports whether s is a valid ID of a document or key: letters, digits, - and _.
func ValidID(s string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return s != "" && strings.Trim(s, allowed) == ""
}

// Secret returns the text of a Legacy or HMAC key for ParsePrivateKey, "" for other keys.
func (k *Key) Secret() string { return base64.RawURLEncoding.EncodeToString(k.secret) }

// IsLegacy reports whether the key's tokens have y-sweet's own format, without a channel or server.
func (k *Key) IsLegacy() bool { return k.alg == Legacy }

// ID returns the ID that the key's tokens include, "" for none.
func (k *Key) ID() string { return k.id }

// Mint returns a signed token; its KeyID is the key's own. A Legacy token cannot carry
// Audience, Channel and Issued.
func (k *Key) Mint(c Claims) (string, error) {
	if k.alg == Legacy {
		return k.mintLegacy(c), nil
	}
	return k.mintCWT(c)
}

type Ring []*Key

// Verify checks a token's signature, audience and time, and returns its claims. audience
// is the server's URL: a CWT must name it, byte for byte, unless audience is "". A token
// is valid up to and including the moment that it names, as in y-sweet. Errors:
// ErrMalformed, ErrSignature, ErrAudience, and ErrExpired, with which the claims are
// returned, too.
func (r Ring) Verify(text, audience string, now time.Time) (Claims, error) {
	t, err := parse(text)
	if err != nil {
		return Claims{}, err
	}
	claims := t.claims
	switch {
	case !r.signed(t):
		return Claims{}, ErrSignature
	case audience != "" && t.cwt && claims.Audience != audience:
		return Claims{}, ErrAudience
	case !claims.Expires.IsZero() && now.After(claims.Expires):
		return claims, ErrExpired
	}
	return claims, nil
}

// signed reports whether one of the keys signed t. If t has a KeyID, only that key counts.
func (r Ring) signed(t parsed) bool {
	for _, k := range r {
		if (t.claims.KeyID == "" || k.id == t.claims.KeyID) && t.signedBy(k) {
			return true
		}
	}
	return false
}

// Inspect returns the claims of a token without verification, for a client that has no key but needs the token's
// scope and expiry.
func Inspect(text string) (Claims, error) {
	t, err := parse(text)
	return t.claims, err
}

// parsed is a decoded, unverified token of either kind.
type parsed struct {
	claims   Claims
	cwt      bool
	signedBy func(k *Key) bool
}

// maxToken bounds the text of a token in bytes; real tokens have some 200.
const maxToken = 8 << 10

func parse(text string) (parsed, error) {
	if len(text) > maxToken {
		return parsed{}, fmt.Errorf("token has %d bytes: %w", len(text), ErrMalformed)
	}
	keyID, body, named := strings.Cut(text, ".")
	if !named {
		keyID, body = "", text
	}
	data, err := decode64(body)
	if err != nil {
		return parsed{}, fmt.Errorf("token: %w", err)
	}
	if !named && isCWT(data) {
		return parseCWT(data)
	}
	return parseLegacy(keyID, data)
}

// decode64 decodes base64 in either alphabet, with or without padding.
func decode64(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", ErrMalformed)
	}
	return data, nil
}
