package token

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrMalformed says that something is not a token, key or connection string.
	ErrMalformed = errors.New("malformed")
	// ErrExpired says that a token's time is over.
	ErrExpired = errors.New("token expired")
	// ErrNotYet says that a token's time has not come.
	ErrNotYet = errors.New("token is not valid yet")
	// ErrSignature says that none of the keys has made the token.
	ErrSignature = errors.New("token is signed by none of the known keys")
	// ErrAudience says that the token is for another server.
	ErrAudience = errors.New("token is for another server")
	// ErrPublicKey says that a key can check tokens but not make them.
	ErrPublicKey = errors.New("a public key cannot sign")
)

// Permission is what may be done with a document or file.
type Permission uint8

const (
	ReadOnly Permission = iota
	Full
)

var permissionNames = [...]string{"read-only", "full"}

func (p Permission) String() string { return permissionNames[p] }

// MarshalText writes "read-only" or "full".
func (p Permission) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (p *Permission) UnmarshalText(text []byte) error {
	for i, name := range permissionNames {
		if string(text) == name {
			*p = Permission(i)
			return nil
		}
	}
	return fmt.Errorf("permission %q is neither %q nor %q: %w", text, permissionNames[0], permissionNames[1], ErrMalformed)
}

// short is the permission as the scope of a CWT has it.
func (p Permission) short() string {
	if p == Full {
		return "rw"
	}
	return "r"
}

// ScopeKind says what sort of thing a token is for. The values are those of the
// legacy format.
type ScopeKind uint8

const (
	Server ScopeKind = iota
	Doc
	File
	Prefix
)

// Scope is what a token is for.
type Scope struct {
	Kind       ScopeKind
	ID         string // Doc, File: the document's id; Prefix: how ids begin
	Permission Permission
	Hash       string // File: lower-case hex SHA-256 of the bytes
	// ContentType and ContentLength restrict a legacy File token; "" and nil
	// leave them open.
	ContentType   string
	ContentLength *uint64
}

// String writes the scope as a CWT has it: "server", "doc:ID:rw",
// "file:HASH:ID:r", "prefix:P:rw".
func (s Scope) String() string {
	switch s.Kind {
	case Doc:
		return "doc:" + s.ID + ":" + s.Permission.short()
	case File:
		return "file:" + s.Hash + ":" + s.ID + ":" + s.Permission.short()
	case Prefix:
		return "prefix:" + s.ID + ":" + s.Permission.short()
	}
	return "server"
}

// ParseScope reads what String writes.
func ParseScope(text string) (Scope, error) {
	if text == "server" {
		return Scope{Kind: Server, Permission: Full}, nil
	}
	bad := fmt.Errorf("scope: %w", ErrMalformed)
	kind, rest, _ := strings.Cut(text, ":")
	end := strings.LastIndexByte(rest, ':')
	if end <= 0 {
		return Scope{}, bad
	}
	s := Scope{ID: rest[:end]}
	switch rest[end+1:] {
	case "r":
	case "rw":
		s.Permission = Full
	default:
		return Scope{}, bad
	}
	switch kind {
	case "doc":
		s.Kind = Doc
	case "prefix":
		s.Kind = Prefix
	case "file":
		s.Kind = File
		if s.Hash, s.ID, _ = strings.Cut(s.ID, ":"); s.Hash == "" || s.ID == "" {
			return Scope{}, bad
		}
	default:
		return Scope{}, bad
	}
	return s, nil
}

// Claims are what a token says.
type Claims struct {
	Scope    Scope
	User     string    // whose changes they are, "" if nobody's
	Expires  time.Time // zero means never
	KeyID    string    // which key has signed it, "" if it does not say
	Audience string    // CWT: the URL of the server that it is for
	Channel  string    // CWT: the folder document that follows the document's events
	Issuer   string    // CWT
	Issued   time.Time // CWT
	NotYet   time.Time // CWT: not valid before; zero means always was
}

// OnDoc says what the token permits on a document, if anything.
func (c Claims) OnDoc(id string) (p Permission, ok bool) {
	switch c.Scope.Kind {
	case Server:
		return Full, true
	case Doc:
		return c.Scope.Permission, c.Scope.ID == id
	case Prefix:
		return c.Scope.Permission, strings.HasPrefix(id, c.Scope.ID)
	}
	return ReadOnly, false
}

// OnFile says what the token permits on the file of a document, if anything.
// hash is "" where the request does not name one.
func (c Claims) OnFile(id, hash string) (p Permission, ok bool) {
	if c.Scope.Kind != File {
		return c.OnDoc(id)
	}
	return c.Scope.Permission, c.Scope.ID == id && (hash == "" || hash == c.Scope.Hash)
}

// OnServer says whether the token is a server token, which permits everything.
func (c Claims) OnServer() bool { return c.Scope.Kind == Server }

// inTime checks the claims about time. A token is good up to and including the
// moment that it names, as y-sweet has it.
func (c Claims) inTime(now time.Time) error {
	switch {
	case !c.Expires.IsZero() && now.After(c.Expires):
		return ErrExpired
	case now.Before(c.NotYet):
		return ErrNotYet
	}
	return nil
}
