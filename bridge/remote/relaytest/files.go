package relaytest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

func (s *Server) fileClaims(w http.ResponseWriter, r *http.Request) (c token.Claims, ok bool) {
	if c, ok = s.claims(w, r); !ok {
		return c, false
	}
	code := http.StatusUnauthorized // a server without keys answers with this status too
	switch {
	case c.Scope.Kind == token.File && c.Scope.ID == r.PathValue("id"):
		return c, true
	case c.Scope.Kind != token.File && len(s.keys()) > 0:
		code = http.StatusBadRequest
	}
	s.mu.Lock()
	s.refused++
	s.mu.Unlock()
	refuse(w, code, "Token must be a file token")
	return c, false
}

// PutFile stores the bytes of an attachment for the document with that ID, and returns their hash.
func (s *Server) PutFile(id string, data []byte) (hash string) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[id+"/"+hash] = data
	return hash
}

func (s *Server) fileURL(r *http.Request, verb string) string {
	return s.base(r) + "/f/" + r.PathValue("id") + "/" + verb + "?" + url.Values{"token": {requestToken(r)}}.Encode()
}

func (s *Server) uploadURL(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.fileClaims(w, r); ok && c.Scope.Permission == token.Full {
		answer(w, map[string]string{"uploadUrl": s.fileURL(r, "upload")})
	} else if ok {
		refuse(w, http.StatusForbidden, "Unauthorized.")
	}
}

// downloadURL returns a URL even for a server token, although the download itself then refuses that token.
func (s *Server) downloadURL(w http.ResponseWriter, r *http.Request) {
	c, ok := s.claims(w, r)
	if ok && c.Scope.Kind == token.Server && r.URL.Query().Get("hash") != "" {
		answer(w, map[string]string{"downloadUrl": s.fileURL(r, "download")})
		return
	}
	if !ok {
		return
	}
	if _, ok := s.fileClaims(w, r); ok {
		answer(w, map[string]string{"downloadUrl": s.fileURL(r, "download")})
	}
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	c, ok := s.fileClaims(w, r)
	if !ok {
		return
	}
	data, err := io.ReadAll(r.Body)
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != c.Scope.Hash {
		refuse(w, http.StatusBadRequest, "hash mismatch")
		return
	}
	s.mu.Lock()
	s.files[c.Scope.ID+"/"+c.Scope.Hash] = data
	s.mu.Unlock()
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	c, ok := s.fileClaims(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	data, ok := s.files[c.Scope.ID+"/"+c.Scope.Hash]
	s.mu.Unlock()
	if !ok {
		refuse(w, http.StatusNotFound, "File not found")
		return
	}
	_, _ = w.Write(data) // fails if the client has disconnected
}
