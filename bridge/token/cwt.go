package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
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

// COSE's numbers of the algorithms (RFC 9053).
const (
	algHMAC64  = 4 // HMAC-SHA-256 cut to 64 bits, which relay-server writes
	algHMAC256 = 5
	algES256   = -7
	algEdDSA   = -8
)

// hmac64 is the length in bytes of an algHMAC64 tag.
const hmac64 = 8

// issuer is what relay-server calls itself in tokens.
const issuer = "relay-server"

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

// cwtClaims are the claims on the wire; the last two are relay-server's own.
type cwtClaims struct {
	Issuer    string `cbor:"1,keyasint,omitempty"`
	Subject   string `cbor:"2,keyasint,omitempty"`
	Audience  string `cbor:"3,keyasint,omitempty"`
	Expires   *int64 `cbor:"4,keyasint,omitempty"` // Unix seconds
	NotBefore int64  `cbor:"5,keyasint,omitempty"`
	Issued    int64  `cbor:"6,keyasint,omitempty"`
	Scope     string `cbor:"-80201,keyasint"`
	Channel   string `cbor:"-80202,keyasint,omitempty"`
}

// signedBytes is what the signature is over; its context tells the two kinds of
// message apart.
type signedBytes struct {
	_         struct{} `cbor:",toarray"`
	Context   string
	Protected []byte
	External  []byte
	Payload   []byte
}

func isCWT(data []byte) bool { return len(data) > 2 && data[0] == 0xd8 && data[1] == tagCWT }

type cwtToken struct {
	says Claims
	alg  int64
	mac  bool
	over []byte
	sig  []byte
}

func (t *cwtToken) claims() Claims { return t.says }
func (t *cwtToken) audience() bool { return true }

func (t *cwtToken) signedBy(k *Key) bool {
	switch {
	case t.mac && k.alg == HMAC && t.alg == algHMAC64:
		return hmac.Equal(t.sig, k.mac(t.over)[:hmac64])
	case t.mac && k.alg == HMAC && t.alg == algHMAC256:
		return hmac.Equal(t.sig, k.mac(t.over))
	case !t.mac && k.alg == ES256 && t.alg == algES256:
		return k.verifyES256(t.over, t.sig)
	case !t.mac && k.alg == Ed25519 && t.alg == algEdDSA:
		return ed25519.Verify(k.edPub, t.over, t.sig)
	}
	return false
}

func (k *Key) mac(over []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write(over)
	return h.Sum(nil)
}

// es256Half is the length of each of the two numbers of a signature.
const es256Half = 32

func (k *Key) verifyES256(over, sig []byte) bool {
	if len(sig) != 2*es256Half {
		return false
	}
	sum := sha256.Sum256(over)
	r, s := new(big.Int).SetBytes(sig[:es256Half]), new(big.Int).SetBytes(sig[es256Half:])
	return ecdsa.Verify(k.ecPub, sum[:], r, s)
}

func (k *Key) signES256(over []byte) ([]byte, error) {
	sum := sha256.Sum256(over)
	r, s, err := ecdsa.Sign(rand.Reader, k.ec, sum[:])
	if err != nil {
		return nil, err
	}
	sig := make([]byte, 2*es256Half)
	r.FillBytes(sig[:es256Half])
	s.FillBytes(sig[es256Half:])
	return sig, nil
}

// decMode reads strictly: a token that two readers could understand in two ways
// is none.
func decMode() (cbor.DecMode, error) {
	return cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, MaxNestedLevels: 8,
		UTF8: cbor.UTF8RejectInvalid,
	}.DecMode()
}

// parseCWT decodes a token, tags required.
func parseCWT(data []byte) (*cwtToken, error) {
	bad := fmt.Errorf("token: %w", ErrMalformed)
	mode, err := decMode()
	if err != nil {
		return nil, err
	}
	var outer, inner cbor.RawTag
	var msg coseMessage
	var head coseHeader
	var body cwtClaims
	if mode.Unmarshal(data, &outer) != nil || outer.Number != tagCWT ||
		mode.Unmarshal(outer.Content, &inner) != nil || inner.Number != tagMac0 && inner.Number != tagSign1 ||
		mode.Unmarshal(inner.Content, &msg) != nil ||
		mode.Unmarshal(msg.Protected, &head) != nil ||
		mode.Unmarshal(msg.Payload, &body) != nil {
		return nil, bad
	}
	says, err := body.claims()
	if err != nil {
		return nil, err
	}
	says.KeyID = string(head.KeyID)
	t := &cwtToken{says: says, alg: head.Algorithm, mac: inner.Number == tagMac0, sig: msg.Signature}
	t.over, err = toSign(t.mac, msg.Protected, msg.Payload)
	return t, err
}

func toSign(mac bool, protected, payload []byte) ([]byte, error) {
	context := "Signature1"
	if mac {
		context = "MAC0"
	}
	return cbor.Marshal(signedBytes{Context: context, Protected: protected, External: []byte{}, Payload: payload})
}

func (b *cwtClaims) claims() (Claims, error) {
	scope, err := ParseScope(b.Scope)
	if err != nil {
		return Claims{}, err
	}
	c := Claims{Scope: scope, User: b.Subject, Audience: b.Audience, Channel: b.Channel, Issuer: b.Issuer}
	if b.Expires != nil {
		c.Expires = time.Unix(*b.Expires, 0).UTC()
	}
	if b.Issued != 0 {
		c.Issued = time.Unix(b.Issued, 0).UTC()
	}
	if b.NotBefore != 0 {
		c.NotYet = time.Unix(b.NotBefore, 0).UTC()
	}
	return c, nil
}

func (k *Key) mintCWT(c Claims) (string, error) {
	head, err := cbor.Marshal(coseHeader{Algorithm: k.coseAlgorithm(), KeyID: []byte(k.id)})
	if err != nil {
		return "", err
	}
	payload, err := cbor.Marshal(wireClaims(c))
	if err != nil {
		return "", err
	}
	mac := k.alg == HMAC
	over, err := toSign(mac, head, payload)
	if err != nil {
		return "", err
	}
	sig, err := k.sign(over)
	if err != nil {
		return "", err
	}
	number := uint64(tagSign1)
	if mac {
		number = tagMac0
	}
	msg := coseMessage{Protected: head, Unprotected: cbor.RawMessage{0xa0}, Payload: payload, Signature: sig}
	data, err := cbor.Marshal(cbor.Tag{Number: tagCWT, Content: cbor.Tag{Number: number, Content: msg}})
	return base64.RawURLEncoding.EncodeToString(data), err
}

func wireClaims(c Claims) cwtClaims {
	b := cwtClaims{Issuer: c.Issuer, Subject: c.User, Audience: c.Audience, Scope: c.Scope.String(), Channel: c.Channel}
	if b.Issuer == "" {
		b.Issuer = issuer
	}
	if !c.Expires.IsZero() {
		s := c.Expires.Unix()
		b.Expires = &s
	}
	if !c.Issued.IsZero() {
		b.Issued = c.Issued.Unix()
	}
	if !c.NotYet.IsZero() {
		b.NotBefore = c.NotYet.Unix()
	}
	return b
}

func (k *Key) coseAlgorithm() int64 {
	switch k.alg {
	case ES256:
		return algES256
	case Ed25519:
		return algEdDSA
	}
	return algHMAC64
}

func (k *Key) sign(over []byte) ([]byte, error) {
	switch {
	case k.alg == HMAC:
		return k.mac(over)[:hmac64], nil
	case k.ec != nil:
		return k.signES256(over)
	case k.ed != nil:
		return ed25519.Sign(k.ed, over), nil
	}
	return nil, ErrPublicKey
}
