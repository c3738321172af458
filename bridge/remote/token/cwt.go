package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// A CWT is CBOR tag 61 around tag 17 (COSE_Mac0) or 18 (COSE_Sign1), RFC 8392
// and RFC 9052: [protected header, unprotected header, claims, signature].
const (
	tagCWT   = 61
	tagMac0  = 17
	tagSign1 = 18
)

// Algorithm numbers of COSE (RFC 9053).
const (
	algHMAC64 = 4 // HMAC-SHA-256 truncated to 64 bits, used by relay-server
	algES256  = -7
	algEdDSA  = -8
)

// hmac64 is the length in bytes of an algHMAC64 tag.
const hmac64 = 8

type coseMessage struct {
	_           struct{} `cbor:",toarray"`
	Protected   []byte
	Unprotected cbor.RawMessage
	Payload     []byte
	Signature   []byte
}

type coseHeader struct {
	Algorithm int64  `cbor:"1,keyasint"`
	KeyID     []byte `cbor:"4,keyasint,omitempty"`
}

// cwtClaims are the claims in wire format. The last two are extensions of relay-server.
type cwtClaims struct {
	Issuer   string `cbor:"1,keyasint,omitempty"`
	Subject  string `cbor:"2,keyasint,omitempty"`
	Audience string `cbor:"3,keyasint,omitempty"`
	Expires  *int64 `cbor:"4,keyasint,omitempty"` // Unix seconds
	Issued   int64  `cbor:"6,keyasint,omitempty"`
	Scope    string `cbor:"-80201,keyasint"`
	Channel  string `cbor:"-80202,keyasint,omitempty"`
}

// contexts are the context strings in the signed bytes, by message tag.
var contexts = map[uint64]string{tagMac0: "MAC0", tagSign1: "Signature1"}

type signedBytes struct {
	_         struct{} `cbor:",toarray"`
	Context   string
	Protected []byte
	External  []byte
	Payload   []byte
}

func toSign(tag uint64, protected, payload []byte) ([]byte, error) {
	return cbor.Marshal(signedBytes{Context: contexts[tag], Protected: protected, External: []byte{}, Payload: payload})
}

func isCWT(data []byte) bool { return len(data) > 2 && data[0] == 0xd8 && data[1] == tagCWT }

// cose returns the tag of the messages that the key signs, and the number of its algorithm.
func (k *Key) cose() (tag uint64, alg int64) {
	switch k.alg {
	case HMAC:
		return tagMac0, algHMAC64
	case Ed25519:
		return tagSign1, algEdDSA
	}
	return tagSign1, algES256
}

func (k *Key) sign(over []byte) ([]byte, error) {
	switch k.alg {
	case ES256:
		sum := sha256.Sum256(over)
		r, s, err := ecdsa.Sign(rand.Reader, k.ec, sum[:])
		if err != nil {
			return nil, err
		}
		sig := make([]byte, 2*es256Half)
		r.FillBytes(sig[:es256Half])
		s.FillBytes(sig[es256Half:])
		return sig, nil
	case Ed25519:
		return ed25519.Sign(k.ed, over), nil
	}
	return k.mac(over)[:hmac64], nil
}

// es256Half is the length of each of the two numbers of an ES256 signature.
const es256Half = 32

func (k *Key) mac(over []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write(over)
	return h.Sum(nil)
}

// strict rejects tokens that different parsers could interpret differently.
var strict = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, MaxNestedLevels: 8,
		UTF8: cbor.UTF8RejectInvalid,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}()

// parseCWT decodes a token, which must have its tags.
func parseCWT(data []byte) (Claims, error) {
	var outer, inner cbor.RawTag
	var msg coseMessage
	var head coseHeader
	var body cwtClaims
	if strict.Unmarshal(data, &outer) != nil || outer.Number != tagCWT ||
		strict.Unmarshal(outer.Content, &inner) != nil || contexts[inner.Number] == "" ||
		strict.Unmarshal(inner.Content, &msg) != nil ||
		strict.Unmarshal(msg.Protected, &head) != nil ||
		strict.Unmarshal(msg.Payload, &body) != nil {
		return Claims{}, fmt.Errorf("token: %w", ErrMalformed)
	}
	claims, err := body.claims()
	if err != nil {
		return Claims{}, err
	}
	claims.KeyID = string(head.KeyID)
	return claims, nil
}

func (b *cwtClaims) claims() (Claims, error) {
	scope, err := ParseScope(b.Scope)
	c := Claims{
		Scope: scope, User: b.Subject, Audience: b.Audience, Channel: b.Channel, Issued: fromUnix(b.Issued),
	}
	if b.Expires != nil {
		c.Expires = time.Unix(*b.Expires, 0).UTC()
	}
	return c, err
}

func (k *Key) mintCWT(c Claims) (string, error) {
	tag, alg := k.cose()
	head, err := cbor.Marshal(coseHeader{Algorithm: alg, KeyID: []byte(k.id)})
	if err != nil {
		return "", err
	}
	payload, err := cbor.Marshal(wireClaims(c))
	if err != nil {
		return "", err
	}
	over, err := toSign(tag, head, payload)
	if err != nil {
		return "", err
	}
	sig, err := k.sign(over)
	if err != nil {
		return "", err
	}
	msg := coseMessage{Protected: head, Unprotected: cbor.RawMessage{0xa0}, Payload: payload, Signature: sig}
	data, err := cbor.Marshal(cbor.Tag{Number: tagCWT, Content: cbor.Tag{Number: tag, Content: msg}})
	return base64.RawURLEncoding.EncodeToString(data), err
}

func wireClaims(c Claims) cwtClaims {
	b := cwtClaims{
		Issuer: "relay-server", Subject: c.User, Audience: c.Audience, Scope: c.Scope.String(), Channel: c.Channel,
		Issued: toUnix(c.Issued),
	}
	if !c.Expires.IsZero() {
		b.Expires = new(c.Expires.Unix())
	}
	return b
}

// toUnix returns t in Unix seconds, or 0 for the zero time. fromUnix is its inverse.
func toUnix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func fromUnix(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}
