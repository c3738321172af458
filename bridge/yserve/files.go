package yserve

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// fileRequest is a permitted request about an attachment; see relay-server's /f/ID.
type fileRequest struct {
	w    http.ResponseWriter
	r    *http.Request
	id   string // the client's
	own  string // the workspace's
	hash string // "" if neither the token nor the request names one
	full bool   // with write access
	c    token.Claims
}

// file returns a handler for requests that are permitted.
func (s *Server) file(fn func(fileRequest) error) http.HandlerFunc {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		q, err := s.fileRequest(w, r)
		if err != nil {
			return err
		}
		return fn(q)
	})
}

func (s *Server) fileRequest(w http.ResponseWriter, r *http.Request) (fileRequest, error) {
	q := fileRequest{w: w, r: r, id: r.PathValue("id"), hash: cmp.Or(r.PathValue("hash"), r.URL.Query().Get("hash"))}
	var err error
	if !host.ValidID(q.id) {
		return q, access.ErrBadID
	}
	if q.c, err = s.access.Claims(r); err != nil {
		return q, err
	}
	p, ok := q.c.OnFile(q.id, q.hash)
	if !ok {
		return q, access.ErrResource
	}
	q.own, _ = s.relay.Own(q.id)
	q.hash, q.full = cmp.Or(q.hash, q.c.Scope.Hash), p == token.Full
	return q, nil
}

// here returns the URL for the next request of the client.
func (s *Server) here(q fileRequest, verb string) string {
	v := url.Values{"hash": {q.hash}}
	if text := access.RequestToken(q.r); text != "" && !s.access.Open() {
		v.Set("token", text)
	}
	return s.base(q.r) + "/f/" + q.id + "/" + verb + "?" + v.Encode()
}

var errNoHash = access.Refuse(http.StatusBadRequest, "no hash: the token or ?hash= names the SHA-256 of the bytes")

func (s *Server) uploadURL(q fileRequest) error {
	switch {
	case !q.full:
		return access.ErrReadOnly
	case q.hash == "":
		return errNoHash
	}
	answer(q.w, map[string]string{"uploadUrl": s.here(q, "upload")})
	return nil
}

func (s *Server) downloadURL(q fileRequest) error {
	a, err := s.host.Attachment(q.own, q.hash)
	if err != nil {
		return err
	}
	answer(q.w, map[string]string{"downloadUrl": s.here(q, "download")})
	return a.Close()
}

func (s *Server) hasFile(q fileRequest) error {
	a, err := s.host.Attachment(q.own, q.hash)
	if err != nil {
		return err
	}
	return a.Close()
}

// upload stores the bytes: the body, or the first part of a form.
func (s *Server) upload(q fileRequest) error {
	switch want := q.c.Scope.ContentLength; {
	case !q.full:
		return access.ErrReadOnly
	case q.hash == "":
		return errNoHash
	case want != nil && q.r.Method == http.MethodPut && q.r.ContentLength != int64(*want):
		return access.Refuse(http.StatusBadRequest, "token is for another number of bytes")
	}
	content, err := s.uploaded(q)
	if err != nil {
		return err
	}
	switch err := s.host.Upload(q.own, q.hash, content); {
	case errors.Is(err, host.ErrHash):
		return access.Refuse(http.StatusBadRequest, "the bytes do not have the hash that the token or ?hash= names")
	case errors.Is(err, errors.ErrUnsupported):
		return access.Refuse(http.StatusNotImplemented, "this server stores no attachments")
	case content.err != nil:
		return refuseBody(content.err)
	default:
		return err
	}
}

// content is an upload that remembers its read error.
type content struct {
	r   io.Reader
	err error
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (s *Server) uploaded(q fileRequest) (*content, error) {
	raw := body(q.w, q.r, s.o.Limits.File)
	kind, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return &content{r: raw}, nil
	}
	q.r.Body = io.NopCloser(raw)
	form, err := q.r.MultipartReader()
	if err != nil {
		return nil, access.Refuse(http.StatusBadRequest, "request is not a valid form")
	}
	part, err := form.NextPart()
	if err != nil {
		return nil, refuseBody(err)
	}
	return &content{r: part}, nil
}

func (s *Server) download(q fileRequest) error {
	a, err := s.host.Attachment(q.own, q.hash)
	if err != nil {
		return err
	}
	defer a.Close()
	size, err := a.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	allowTime(q.w, size)
	h := q.w.Header()
	h.Set("Content-Type", a.Mimetype)
	// An upload must not run as a page of this server.
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox")
	http.ServeContent(q.w, q.r, "", a.Modified, a)
	return nil
}

func (s *Server) history(q fileRequest) error {
	type file struct {
		Hash      string `json:"hash"`
		Size      int64  `json:"size"`
		CreatedAt int64  `json:"createdAt"` // Unix milliseconds
	}
	blobs, err := s.host.Blobs(q.own)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	list := make([]file, len(blobs))
	for i, b := range blobs {
		list[i] = file{b.Name(), b.Size(), b.ModTime().UnixMilli()}
	}
	answer(q.w, map[string]any{"files": list})
	return nil
}

// discard deletes uploads; files of the vault stay.
func (s *Server) discard(q fileRequest) error {
	if !q.full {
		return access.ErrReadOnly
	}
	err := s.host.Discard(q.own, q.hash)
	if err == nil {
		q.w.WriteHeader(http.StatusNoContent)
	}
	return err
}
