package yserve

import (
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
	// maxRequest bounds the JSON bodies of requests.
	maxRequest = 64 << 10
	// tokenLife is how long a client token is good for, unless its request says.
	tokenLife = time.Hour
	// maxTokenLife bounds what a request may say.
	maxTokenLife = 10 * 365 * 24 * time.Hour
)

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]bool{"ok": true})
}

func (s *Server) checkStore(w http.ResponseWriter, r *http.Request) {
	if err := s.access.OnServer(r); err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, map[string]bool{"ok": true})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who does not read it, does not get it
}

// readJSON reads the body of a request into v; an empty one changes nothing.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := io.ReadAll(body(w, r, maxRequest))
	if err != nil {
		return refuseBody(err)
	}
	if len(data) == 0 {
		return nil
	}
	if json.Unmarshal(data, v) != nil {
		return access.Refuse(http.StatusBadRequest, "request is not the JSON that is wanted here")
	}
	return nil
}

// newDoc makes a document, or finds it made.
func (s *Server) newDoc(w http.ResponseWriter, r *http.Request) {
	var req struct {
		DocID string `json:"docId"`
	}
	c, err := s.access.Claims(r)
	if err == nil {
		err = readJSON(w, r, &req)
	}
	if req.DocID == "" {
		req.DocID = rand.Text()
	}
	if err == nil {
		err = mayCreate(c, req.DocID)
	}
	if err == nil {
		id, _ := s.relay.Own(req.DocID)
		err = s.host.Create(r.Context(), id)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, req)
}

// mayCreate checks that a token is one that makes documents of that id.
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

func (s *Server) postDoc(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.PathValue("verb") {
	case "update":
		err = s.update(w, r, r.PathValue("id"))
	case "auth":
		err = s.auth(w, r, r.PathValue("id"))
	default:
		err = access.Refuse(http.StatusNotFound, "no such operation")
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) getDoc(w http.ResponseWriter, r *http.Request) {
	var err error
	switch id := r.PathValue("id"); r.PathValue("verb") {
	case "as-update":
		err = s.asUpdate(w, r, id)
	case "versions":
		if _, _, err = s.access.OnDoc(r, id); err == nil {
			answer(w, map[string][]string{"versions": {}})
		}
	default:
		err = access.Refuse(http.StatusNotFound, "no such operation")
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// getOldDoc is for clients from before /d: /doc/ID/as-update and /doc/ws/ID.
func (s *Server) getOldDoc(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") == "ws" {
		s.connect(w, r, r.PathValue("verb"))
		return
	}
	s.getDoc(w, r)
}

// auth makes a client token.
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
	answer(w, s.clientToken(r, id, text, req.Authorization))
	return nil
}

// mint makes a token for one document; "" if none are needed.
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

// clientToken says where a client of a document connects.
func (s *Server) clientToken(r *http.Request, id, text string, p token.Permission) token.ClientToken {
	base := s.base(r) + "/d/" + id
	return token.ClientToken{
		URL: "ws" + strings.TrimPrefix(base, "http") + "/ws", BaseURL: base, DocID: id, Token: text, Authorization: p,
	}
}

// base is where clients reach the server, without a slash at the end.
func (s *Server) base(r *http.Request) string {
	switch {
	case s.o.URL != "":
		return strings.TrimSuffix(s.o.URL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// asUpdate sends the whole document. Who may write gets an empty update for one
// that is not there, as from relay-server.
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

// update applies what is sent.
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

// refuseUpdate gives the errors of Apply their statuses.
func refuseUpdate(err error) error {
	switch {
	case errors.Is(err, ycrdt.ErrMalformed), errors.Is(err, ycrdt.ErrUpdateV2), errors.Is(err, ycrdt.ErrPendingLimit):
		return access.Refuse(http.StatusBadRequest, "body is not a Yjs update of format 1: "+err.Error())
	case errors.Is(err, model.ErrTooLarge), errors.Is(err, ycrdt.ErrTooLarge):
		return access.Refuse(http.StatusRequestEntityTooLarge, "note would be too large")
	case errors.Is(err, model.ErrReadOnly):
		return access.Refuse(http.StatusForbidden, "note is read-only")
	case errors.Is(err, model.ErrOffline):
		return access.Refuse(http.StatusServiceUnavailable, "folder is offline")
	}
	return err
}
