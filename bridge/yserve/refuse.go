package yserve

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/yserve/access"
)

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	no := s.refusalOf(r, err)
	http.Error(w, no.Text, no.Status)
}

// refusalOf is what the client is told of err. What it cannot mend is in the log.
func (s *Server) refusalOf(r *http.Request, err error) *access.Refusal {
	var no *access.Refusal
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return access.ErrUnknown
	case errors.Is(err, model.ErrReadOnly):
		return access.Refuse(http.StatusForbidden, "note is read-only")
	case errors.Is(err, model.ErrOffline), errors.Is(err, model.ErrClosed):
		return access.Refuse(http.StatusServiceUnavailable, "folder is offline")
	}
	s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, model.LogErr, err)
	return access.Refuse(http.StatusInternalServerError, "internal error")
}
