package streamablehttp

import (
	"crypto/rand"
	"sync"
	"time"
)

// Sessions of HTTP clients end when they are not used for sessionIdle, because
// few clients say goodbye, and the one idle longest when there are more than
// maxSessions.
const (
	sessionIdle = time.Hour
	maxSessions = 1024
)

// Sessions are the sessions of HTTP clients by id. It is the transport's session
// id manager: an id that is not in it is answered 404, upon which a client
// starts anew.
type Sessions[S any] struct {
	create func(id string) *S
	// ended has the transport forget a session, without which it keeps each one
	// that did not say goodbye. Set before the first session.
	ended func(id string)

	mu  sync.Mutex // protects the following
	all map[string]*idle[S]
}

type idle[S any] struct {
	session *S
	used    time.Time
}

// NewSessions has create make each session.
func NewSessions[S any](create func(id string) *S) *Sessions[S] {
	return &Sessions[S]{create: create, ended: func(string) {}, all: map[string]*idle[S]{}}
}

// Generate starts a session and returns its id.
func (x *Sessions[S]) Generate() string {
	id := rand.Text() // nobody guesses it
	for _, old := range x.add(id) {
		x.ended(old)
	}
	return id
}

// add puts in a new session and returns those that it ends.
func (x *Sessions[S]) add(id string) (ended []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	ended = x.expire(now)
	x.all[id] = &idle[S]{x.create(id), now}
	return ended
}

// expire ends the sessions that have been idle for too long, and one more if
// there are too many.
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

// Validate says that a session which does not exist has ended.
func (x *Sessions[S]) Validate(id string) (ended bool, err error) { return x.Get(id) == nil, nil }

// Terminate ends a session.
func (x *Sessions[S]) Terminate(id string) (notAllowed bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, id)
	return false, nil
}

// Get returns a session that exists, which counts as its use; nil if it does not.
func (x *Sessions[S]) Get(id string) *S {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[id]
	now := time.Now()
	if s == nil || now.Sub(s.used) > sessionIdle {
		return nil
	}
	s.used = now
	return s.session
}

// Len is how many sessions there are.
func (x *Sessions[S]) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}
