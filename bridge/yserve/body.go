package yserve

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/socket"
)

// body returns the body of a request, of at most limit bytes. A client that sends it too
// slowly, see socket.Patience, is disconnected.
func body(w http.ResponseWriter, r *http.Request, limit int64) io.Reader {
	return &patientBody{http.MaxBytesReader(w, r.Body, limit), http.NewResponseController(w), time.Now(), 0}
}

type patientBody struct {
	r     io.Reader
	c     *http.ResponseController
	start time.Time
	n     int // bytes so far
}

func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.c.SetReadDeadline(b.start.Add(socket.Patience(int64(b.n)))) // not supported by every transport
	n, err := b.r.Read(p)
	b.n += n
	if err != nil {
		_ = b.c.SetReadDeadline(time.Time{}) // the next request has its own
	}
	return n, err
}

func refuseBody(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return access.Refuse(http.StatusRequestEntityTooLarge, "request is too large")
	case errors.Is(err, inflight.ErrFull):
		return access.Refuse(http.StatusServiceUnavailable, err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return access.Refuse(http.StatusRequestTimeout, "request is too slow")
	}
	return access.Refuse(http.StatusBadRequest, "request ended early")
}

// allowTime bounds how long a client may take to read an answer of size bytes.
func allowTime(w http.ResponseWriter, size int64) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(socket.Patience(size))) // not supported by every transport
}
