package streamablehttp

import (
	"crypto/rand"
	"sync"
	"time"
)

// A session of an HTTP client ends when it was not used for sessionIdle, because few clients end
// theirs. Of more than maxSessions the one that was idle longest ends.
const (
	sessionIdle = time.Hour
	maxSessions = 1024
)

// Sessions holds the sessions of HTTP clients by id. It is the transport's session id manager: a
// request with an unknown id is answered 404, upon which a client starts a new session.
type Sessions[S any] struct {
	create func(id string) *S
	// ended makes the transport forget a session. It is set before the first session.
	ended func(id string)

	mu  sync.Mutex // protects the following
	all map[string]*idle[S]
}

type idle[S any] struct {
	session *S
	used    time.Time
}

// NewSessions returns Sessions that create makes.
func NewSessions[S any](create func(id string) *S) *Sessions[S] {
	return &Sessions[S]{create: create, ended: func(string) {}, all: map[string]*idle[S]{}}
}

// Generate starts a session and returns its id.
func (x *Sessions[S]) Generate() string {
	id := rand.Text() // cannot be guessed
	x.mu.Lock()
	now := time.Now()
	ended := x.expire(now)
	x.all[id] = &idle[S]{x.create(id), now}
	x.mu.Unlock()
	for _, old := range ended {
		x.ended(old)
	}
	return id
}

// expire ends the sessions that have been idle for too long, and one more if there are too many.
func (x *Sessions[S]) expire(now time.Time) (ended []string) {
	var idlest string
	for id, s := range x.all {
		if now.Sub(s.used) > sessionIdle {
			delete(x.all, id)
			ended = append(ended, id)
			continue
		}
		if idlest == "" || s.used.Before(x.all[idlest].used) {
			idlest = id
		}
	}
	if len(x.all) >= maxSessions {
		delete(x.all, idlest)
		ended = append(ended, idlest)
	}
	return ended
}

// Validate reports an unknown session as ended.
func (x *Sessions[S]) Validate(id string) (ended bool, err error) { return x.Get(id) == nil, nil }

// Terminate ends a session.
func (x *Sessions[S]) Terminate(id string) (notAllowed bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, id)
	return false, nil
}

// Get returns the session with that id and counts as its use. It is nil if there is none.
func (x *Sessions[S]) Get(id string) *S {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[id]
	if s == nil || time.Since(s.used) > sessionIdle {
		return nil
	}
	s.used = time.Now()
	return s.session
}
