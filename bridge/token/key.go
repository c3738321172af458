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

// Algorithm says how a key signs.
type Algorithm uint8

const (
	Legacy  Algorithm = iota // y-sweet's own: 30 random bytes
	HMAC                     // CWT with HMAC-SHA-256: 32 random bytes
	ES256                    // CWT with ECDSA on P-256
	Ed25519                  // CWT with EdDSA
)

// Sizes of secrets in bytes, by which the kinds are told apart.
const (
	legacySize = 30
	hmacSize   = 32
)

// Key makes and checks tokens; one of the asymmetric algorithms may hold only
// the public half, which checks.
type Key struct {
	id     string
	alg    Algorithm
	secret []byte // Legacy, HMAC
	ec     *ecdsa.PrivateKey
	ecPub  *ecdsa.PublicKey
	ed     ed25519.PrivateKey
	edPub  ed25519.PublicKey
}

// ID is the name that tokens of this key carry, "" for none.
func (k *Key) ID() string { return k.id }

// Algorithm is how the key signs.
func (k *Key) Algorithm() Algorithm { return k.alg }

// GenerateKey makes a new secret key of the algorithms Legacy and HMAC.
func GenerateKey(id string, alg Algorithm) (*Key, error) {
	size := hmacSize
	switch alg {
	case Legacy:
		size = legacySize
	case HMAC:
	default:
		return nil, fmt.Errorf("keys of this kind are made with openssl: %w", ErrMalformed)
	}
	secret := make([]byte, size)
	rand.Read(secret)
	return newKey(id, &Key{alg: alg, secret: secret})
}

// ParsePrivateKey reads a key that signs: base64 of 30 bytes is Legacy, of 32
// bytes HMAC; PEM (PKCS #8, or SEC 1 for EC) is ES256 or Ed25519. id is the name
// of the key, which may be "". The error wraps ErrMalformed.
func ParsePrivateKey(id, text string) (*Key, error) {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return privatePEM(id, block)
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

// ParsePublicKey reads a key that only checks: base64 of 32 bytes is Ed25519;
// PEM (PKIX) is ES256 or Ed25519. The error wraps ErrMalformed.
func ParsePublicKey(id, text string) (*Key, error) {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("public key: %w", ErrMalformed)
		}
		return keyOf(id, public)
	}
	public, err := decode64(strings.TrimSpace(text))
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("public key is neither PEM nor %d bytes of base64: %w", ed25519.PublicKeySize, ErrMalformed)
	}
	return keyOf(id, ed25519.PublicKey(public))
}

func privatePEM(id string, block *pem.Block) (*Key, error) {
	if block.Type == "EC PRIVATE KEY" {
		private, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("private key: %w", ErrMalformed)
		}
		return keyOf(id, private)
	}
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", ErrMalformed)
	}
	return keyOf(id, private)
}

// keyOf wraps a key of the standard library.
func keyOf(id string, key any) (*Key, error) {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		return newKey(id, &Key{alg: ES256, ec: key, ecPub: &key.PublicKey})
	case *ecdsa.PublicKey:
		return newKey(id, &Key{alg: ES256, ecPub: key})
	case ed25519.PrivateKey:
		return newKey(id, &Key{alg: Ed25519, ed: key, edPub: key.Public().(ed25519.PublicKey)})
	case ed25519.PublicKey:
		return newKey(id, &Key{alg: Ed25519, edPub: key})
	}
	return nil, fmt.Errorf("key is neither P-256 nor Ed25519: %w", ErrMalformed)
}

// newKey checks a key's name and curve.
func newKey(id string, k *Key) (*Key, error) {
	if id != "" && !ValidID(id) {
		return nil, fmt.Errorf("key id %q has characters other than letters, digits, - and _: %w", id, ErrMalformed)
	}
	if k.ecPub != nil && k.ecPub.Curve != elliptic.P256() {
		return nil, fmt.Errorf("key is on %s, want P-256: %w", k.ecPub.Params().Name, ErrMalformed)
	}
	k.id = id
	return k, nil
}

// ValidID says whether s can name a document or a key: letters, digits, - and _.
func ValidID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c-'0' > 9 && c|0x20-'a' > 25 && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// Secret is the text of a Legacy or HMAC key, which ParsePrivateKey reads; ""
// for the others.
func (k *Key) Secret() string { return base64.RawURLEncoding.EncodeToString(k.secret) }

// Mint makes a token. A Legacy token has no place for Audience, Channel, Issuer,
// Issued and NotYet; a CWT none for a content type and length. KeyID is the
// key's own. ErrPublicKey if the key only checks.
func (k *Key) Mint(c Claims) (string, error) {
	if k.alg == Legacy {
		return k.mintLegacy(c), nil
	}
	return k.mintCWT(c)
}

// Ring is the keys that a server trusts.
type Ring []*Key

// Verify checks a token's signature, audience and time, and returns what it
// says. audience is the server's URL: a CWT must name it, byte for byte, unless
// audience is "". Errors: ErrMalformed, ErrSignature, ErrAudience, ErrExpired,
// ErrNotYet; with the last two the claims are returned too.
func (r Ring) Verify(text, audience string, now time.Time) (Claims, error) {
	t, err := parse(text)
	if err != nil {
		return Claims{}, err
	}
	claims := t.claims()
	if !r.signed(t, claims.KeyID) {
		return Claims{}, ErrSignature
	}
	if audience != "" && t.audience() && claims.Audience != audience {
		return Claims{}, ErrAudience
	}
	return claims, claims.inTime(now)
}

// signed says whether one of the keys has made t. A token that names its key is
// checked against that one only.
func (r Ring) signed(t parsed, id string) bool {
	for _, k := range r {
		if (id == "" || k.id == id) && t.signedBy(k) {
			return true
		}
	}
	return false
}

// Inspect returns what a token says without checking that it is true: a client
// that holds no key learns from it for what and until when a token is.
func Inspect(text string) (Claims, error) {
	t, err := parse(text)
	if err != nil {
		return Claims{}, err
	}
	return t.claims(), nil
}

// parsed is a token of either kind that was decoded, not checked.
type parsed interface {
	claims() Claims
	signedBy(k *Key) bool
	audience() bool // whether tokens of its kind name one
}

// maxToken bounds the text of a token; real ones have some 200 bytes.
const maxToken = 8 << 10

// parse reads either kind.
func parse(text string) (parsed, error) {
	if len(text) > maxToken {
		return nil, fmt.Errorf("token has %d bytes: %w", len(text), ErrMalformed)
	}
	keyID, body, named := strings.Cut(text, ".")
	if !named {
		keyID, body = "", text
	}
	data, err := decode64(body)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	if !named && isCWT(data) {
		return parseCWT(data)
	}
	return parseLegacy(keyID, data)
}

// decode64 reads base64 in either alphabet, with or without padding.
func decode64(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", ErrMalformed)
	}
	return data, nil
}
