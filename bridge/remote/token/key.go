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
)

type Algorithm uint8

const (
	Legacy  Algorithm = iota // y-sweet's own format, with a key of 30 random bytes
	HMAC                     // CWT with HMAC-SHA-256 and a key of 32 random bytes
	ES256                    // CWT with ECDSA on P-256
	Ed25519                  // CWT with EdDSA
)

// The sizes of secrets in bytes distinguish Legacy and HMAC keys.
const (
	legacySize = 30
	hmacSize   = 32
)

type Key struct {
	id     string // ID in the tokens of this key, or ""
	alg    Algorithm
	secret []byte // only for Legacy and HMAC
	ec     *ecdsa.PrivateKey
	ed     ed25519.PrivateKey
}

func GenerateKey(id string, alg Algorithm) (*Key, error) {
	size, random := map[Algorithm]int{Legacy: legacySize, HMAC: hmacSize}[alg]
	if !random {
		return nil, fmt.Errorf("generate keys of this kind with openssl: %w", ErrMalformed)
	}
	secret := make([]byte, size)
	rand.Read(secret)
	return newKey(id, &Key{alg: alg, secret: secret})
}

// ParsePrivateKey parses a key. Base64 of 30 bytes is a Legacy key, and of 32 bytes an HMAC key. PEM (PKCS #8, or SEC 1
// for EC) is an ES256 or Ed25519 key. id names the key and may be "". The error wraps ErrMalformed.
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

// Secret returns the text of a Legacy or HMAC key in the form that ParsePrivateKey accepts. For other keys it returns
// "".
func (k *Key) Secret() string { return base64.RawURLEncoding.EncodeToString(k.secret) }

// IsLegacy reports whether the key's tokens have y-sweet's own format, which has no channel and no audience.
func (k *Key) IsLegacy() bool { return k.alg == Legacy }

// Mint returns a signed token with the key's own KeyID. A Legacy token cannot carry Audience, Channel and Issued.
func (k *Key) Mint(c Claims) (string, error) {
	if k.alg == Legacy {
		return k.mintLegacy(c), nil
	}
	return k.mintCWT(c)
}

// maxToken is the maximum size of a token in bytes. Real tokens have some 200 bytes.
const maxToken = 8 << 10

// Inspect returns the claims of a token without verifying them. It is for a client that has no key but needs the
// token's scope and expiry.
func Inspect(text string) (Claims, error) {
	if len(text) > maxToken {
		return Claims{}, fmt.Errorf("token has %d bytes: %w", len(text), ErrMalformed)
	}
	keyID, body, named := strings.Cut(text, ".")
	if !named {
		keyID, body = "", text
	}
	data, err := decode64(body)
	if err != nil {
		return Claims{}, fmt.Errorf("token: %w", err)
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
