package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrMalformed is wrapped by every error about an invalid key, token, scope or permission.
var ErrMalformed = errors.New("malformed")

type Permission uint8

const (
	ReadOnly Permission = iota
	Full
)

var (
	permissionNames  = []string{"read-only", "full"}
	permissionScopes = []string{"r", "rw"} // names of the permissions in the scope of a CWT
)

func (p Permission) String() string { return permissionNames[p] }

func (p Permission) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses the form of MarshalText. The error wraps ErrMalformed.
func (p *Permission) UnmarshalText(text []byte) error {
	i := slices.Index(permissionNames, string(text))
	if i < 0 {
		return fmt.Errorf("permission %q is neither %q nor %q: %w", text, permissionNames[0], permissionNames[1], ErrMalformed)
	}
	*p = Permission(i)
	return nil
}

// ScopeKind is the kind of resource that a token covers. Its numbers are those of the legacy format.
type ScopeKind uint8

const (
	Server ScopeKind = iota
	Doc
	File
	Prefix
)

var scopeNames = []string{"server", "doc", "file", "prefix"}

type Scope struct {
	Kind       ScopeKind
	ID         string // for Doc and File, a document ID; for Prefix, the prefix of IDs
	Permission Permission
	Hash       string // for File, the SHA-256 of the bytes in lower-case hex
}

// String returns the scope in the form of a CWT: "server", "doc:ID:rw", "file:HASH:ID:r" or "prefix:P:rw".
func (s Scope) String() string {
	id := s.ID
	switch s.Kind {
	case Server:
		return scopeNames[Server]
	case File:
		id = s.Hash + ":" + s.ID
	}
	return scopeNames[s.Kind] + ":" + id + ":" + permissionScopes[s.Permission]
}

// ParseScope parses the form of String. The error wraps ErrMalformed.
func ParseScope(text string) (Scope, error) {
	if text == scopeNames[Server] {
		return Scope{Kind: Server, Permission: Full}, nil
	}
	bad := fmt.Errorf("scope: %w", ErrMalformed)
	name, rest, _ := strings.Cut(text, ":")
	kind := slices.Index(scopeNames, name)
	end := strings.LastIndexByte(rest, ':')
	permission := slices.Index(permissionScopes, rest[end+1:])
	if kind < int(Doc) || end <= 0 || permission < 0 {
		return Scope{}, bad
	}
	s := Scope{Kind: ScopeKind(kind), ID: rest[:end], Permission: Permission(permission)}
	if s.Kind == File {
		if s.Hash, s.ID, _ = strings.Cut(s.ID, ":"); s.Hash == "" || s.ID == "" {
			return Scope{}, bad
		}
	}
	return s, nil
}

type Claims struct {
	Scope    Scope
	User     string    // author of changes, or ""
	Expires  time.Time // zero means never
	KeyID    string    // ID of the key that signed the token, or "" if the key has none
	Audience string    // CWT only: URL of the server for which the token is valid
	Channel  string    // CWT only: folder document to which the document's events are reported
	Issued   time.Time // CWT only
}

// OnDoc returns the token's permission for a document. ok is false if the token does not cover the document.
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
