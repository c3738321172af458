package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// body is the body of a request, of at most limit bytes. A client that sends
// nothing for as long as writePatience is given up.
func body(w http.ResponseWriter, r *http.Request, limit int64) io.Reader {
	return &patientBody{http.MaxBytesReader(w, r.Body, limit), http.NewResponseController(w)}
}

type patientBody struct {
	r io.Reader
	c *http.ResponseController
}

func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.c.SetReadDeadline(time.Now().Add(writePatience)) // not over every transport
	n, err := b.r.Read(p)
	if err != nil {
		_ = b.c.SetReadDeadline(time.Time{}) // the next request has its own
	}
	return n, err
}

// refuseBody is what the client is told of an error of body.
func refuseBody(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &refusal{http.StatusRequestEntityTooLarge, "request is too large"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, "request does not come to its end"}
	}
	return &refusal{http.StatusBadRequest, "request has been cut off"}
}

// allowTime bounds how long a client may take to read an answer of size bytes.
func allowTime(w http.ResponseWriter, size int64) {
	patience := writePatience + time.Duration(size/slowest)*time.Second
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // not over every transport
}
