package mcpserver

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

// newID names a session so that nobody guesses it.
func newID() string { return rand.Text() }

// sessions are the sessions of HTTP clients by id. It is the transport's session
// id manager: an id that is not in it is answered 404, upon which a client
// starts anew.
type sessions struct {
	create func(id, client string) *Session
	// ended has the transport forget a session, without which it keeps each one
	// that did not say goodbye. Set before the first session.
	ended func(id string)

	mu  sync.Mutex // protects the following
	all map[string]*idleSession
}

type idleSession struct {
	*Session
	used time.Time
}

func newSessions(create func(id, client string) *Session) *sessions {
	return &sessions{create: create, ended: func(string) {}, all: map[string]*idleSession{}}
}

// Generate starts a session and returns its id.
func (x *sessions) Generate() string {
	id := newID()
	for _, old := range x.add(id) {
		x.ended(old)
	}
	return id
}

// add puts in a new session and returns those that it ends.
func (x *sessions) add(id string) (ended []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	ended = x.expire(now)
	x.all[id] = &idleSession{x.create(id, "http"), now}
	return ended
}

// expire ends the sessions that have been idle for too long, and one more if
// there are too many.
func (x *sessions) expire(now time.Time) (ended []string) {
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
func (x *sessions) Validate(id string) (ended bool, err error) { return x.get(id) == nil, nil }

// Terminate ends a session.
func (x *sessions) Terminate(id string) (notAllowed bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, id)
	return false, nil
}

// get returns a session that exists, which counts as its use; nil if it does not.
func (x *sessions) get(id string) *Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[id]
	now := time.Now()
	if s == nil || now.Sub(s.used) > sessionIdle {
		return nil
	}
	s.used = now
	return s.Session
}

// len is how many sessions there are.
func (x *sessions) len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}
