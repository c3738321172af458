package yserve

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

const (
	maxRequest   = 64 << 10                  // bytes of a JSON body
	tokenLife    = time.Hour                 // of a client token, by default
	maxTokenLife = 10 * 365 * 24 * time.Hour // that a request may ask for
)

// handle returns a handler that answers the errors of h.
func (s *Server) handle(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			no := s.refusalOf(r, err)
			http.Error(w, no.Text, no.Status)
		}
	}
}

// health is the answer to whether changes are stored.
type health struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// Health answers GET /healthz with 200, and GET /ready and /readyz with 200, or 503 after an
// error of check. It answers everybody, so it does not tell the error.
func Health(mux *http.ServeMux, check func() error) {
	ready := func(w http.ResponseWriter, _ *http.Request) {
		if check() == nil {
			answer(w, health{OK: true})
			return
		}
		answerWith(w, http.StatusServiceUnavailable, health{Error: "changes cannot be stored: 'relayfs status' on this machine says why"})
	}
	mux.HandleFunc("GET /ready", ready)
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, health{OK: true}) })
}

func (s *Server) checkStore(w http.ResponseWriter, r *http.Request) error {
	if err := s.access.OnServer(r); err != nil {
		return err
	}
	h := health{OK: true}
	if err := s.host.Ready(); err != nil {
		h = health{Error: err.Error()}
	}
	answer(w, h)
	return nil
}

func answer(w http.ResponseWriter, v any) { answerWith(w, http.StatusOK, v) }

func answerWith(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

// readJSON decodes the body of a request into v; an empty one changes nothing.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := io.ReadAll(body(w, r, maxRequest))
	if err != nil {
		return refuseBody(err)
	}
	if len(data) == 0 {
		return nil
	}
	if json.Unmarshal(data, v) != nil {
		return access.Refuse(http.StatusBadRequest, "request is not valid JSON for this operation")
	}
	return nil
}

// newDoc creates a document unless it exists.
func (s *Server) newDoc(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		DocID string `json:"docId"`
	}
	c, err := s.access.Claims(r)
	if err == nil {
		err = readJSON(w, r, &req)
	}
	if err != nil {
		return err
	}
	req.DocID = cmp.Or(req.DocID, rand.Text())
	if err := mayCreate(c, req.DocID); err != nil {
		return err
	}
	id, _ := s.relay.Own(req.DocID)
	if err := s.host.Create(r.Context(), id); err != nil {
		return err
	}
	answer(w, req)
	return nil
}

// mayCreate checks that a token permits creating the document id.
func mayCreate(c token.Claims, id string) error {
	p, ok := c.OnDoc(id)
	switch {
	case !host.ValidID(id):
		return access.ErrBadID
	case !ok, c.Scope.Kind == token.Doc:
		return access.ErrResource
	case p != token.Full:
		return access.ErrReadOnly
	}
	return nil
}

func (s *Server) postDoc(w http.ResponseWriter, r *http.Request) error {
	switch id := r.PathValue("id"); r.PathValue("verb") {
	case "update":
		return s.update(w, r, id)
	case "auth":
		return s.auth(w, r, id)
	}
	return errNoOperation
}

var errNoOperation = access.Refuse(http.StatusNotFound, "no such operation")

func (s *Server) getDoc(w http.ResponseWriter, r *http.Request) error {
	switch id := r.PathValue("id"); r.PathValue("verb") {
	case "as-update":
		return s.asUpdate(w, r, id)
	case "versions":
		if _, _, err := s.access.OnDoc(r, id); err != nil {
			return err
		}
		answer(w, map[string][]string{"versions": {}})
		return nil
	}
	return errNoOperation
}

// getOldDoc serves clients from before /d: /doc/ID/as-update and /doc/ws/ID.
func (s *Server) getOldDoc(w http.ResponseWriter, r *http.Request) error {
	if r.PathValue("id") == "ws" {
		return s.connect(w, r, r.PathValue("verb"))
	}
	return s.getDoc(w, r)
}

func (s *Server) auth(w http.ResponseWriter, r *http.Request, id string) error {
	req := struct {
		Authorization   token.Permission `json:"authorization"`
		UserID          string           `json:"userId"`
		ValidForSeconds int64            `json:"validForSeconds"`
	}{token.Full, "", int64(tokenLife / time.Second)}
	if err := s.access.OnServer(r); err != nil {
		return err
	}
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	if req.ValidForSeconds <= 0 || req.ValidForSeconds > int64(maxTokenLife/time.Second) {
		return access.Refuse(http.StatusBadRequest, "validForSeconds is out of range")
	}
	own, _ := s.relay.Own(id)
	switch exists, err := s.host.Exists(own); {
	case err != nil:
		return err
	case !exists:
		return access.ErrUnknown
	}
	text, err := s.mint(id, req.Authorization, req.UserID, time.Duration(req.ValidForSeconds)*time.Second)
	if err != nil {
		return err
	}
	answer(w, token.NewClientToken(s.base(r)+"/d/"+id, id, text, req.Authorization))
	return nil
}

// mint returns a token for one document, "" if none are needed.
func (s *Server) mint(id string, p token.Permission, user string, life time.Duration) (string, error) {
	key := s.access.Mint()
	switch {
	case s.access.Open():
		return "", nil
	case key == nil:
		return "", access.Refuse(http.StatusInternalServerError, "this server has no key to sign tokens with")
	}
	own, prefix := s.relay.Own(id)
	channel := s.host.ChannelOf(own)
	if channel != "" {
		channel = prefix + channel
	}
	now := time.Now()
	c := token.Claims{
		Scope: token.Scope{Kind: token.Doc, ID: id, Permission: p}, User: user,
		Audience: s.o.URL, Channel: channel, Issued: now, Expires: now.Add(life),
	}
	return key.Mint(c)
}

// base returns the server's address for clients, without a trailing slash.
func (s *Server) base(r *http.Request) string {
	switch {
	case s.o.URL != "":
		return strings.TrimSuffix(s.o.URL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// asUpdate sends the whole document. For a document that does not exist, a client with
// write access gets an empty update, as from relay-server.
func (s *Server) asUpdate(w http.ResponseWriter, r *http.Request, id string) error {
	_, p, err := s.access.OnDoc(r, id)
	if err != nil {
		return err
	}
	update := []byte{0, 0}
	id, _ = s.relay.Own(id)
	d, err := s.host.Open(r.Context(), id, false)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p == token.Full:
	case errors.Is(err, fs.ErrNotExist):
		return access.ErrUnknown
	case err != nil:
		return err
	default:
		update = d.Doc().EncodeStateAsUpdate(nil)
		d.Close()
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	allowTime(w, int64(len(update)))
	_, _ = w.Write(update)
	return nil
}

func (s *Server) update(w http.ResponseWriter, r *http.Request, id string) error {
	c, p, err := s.access.OnDoc(r, id)
	switch {
	case err != nil:
		return err
	case p != token.Full:
		return access.ErrReadOnly
	}
	data, release, err := s.o.Inflight.Read(body(w, r, s.o.Limits.Frame))
	if err != nil {
		return refuseBody(err)
	}
	defer release()
	id, _ = s.relay.Own(id)
	d, err := s.host.Open(r.Context(), id, true)
	if err != nil {
		return err
	}
	defer d.Close()
	return refuseUpdate(d.Apply(r.Context(), data, host.Origin{User: c.User}))
}

func refuseUpdate(err error) error {
	switch {
	case errors.Is(err, ycrdt.ErrMalformed), errors.Is(err, ycrdt.ErrUpdateV2), errors.Is(err, ycrdt.ErrPendingLimit):
		return access.Refuse(http.StatusBadRequest, "body is not a Yjs update of format 1: "+err.Error())
	case errors.Is(err, model.ErrTooLarge), errors.Is(err, ycrdt.ErrTooLarge):
		return access.Refuse(http.StatusRequestEntityTooLarge, "note would be too large")
	}
	return err
}
