package semantic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var ErrEndpoint = errors.New("embeddings endpoint returned no vectors")

const (
	batchTexts    = 64
	batchBytes    = 64 << 10
	maxAttempts   = 5
	maxAnswer     = 256 << 20 // largest response in bytes
	defaultWait   = 500 * time.Millisecond
	maxWait       = 30 * time.Second
	defaultPeriod = time.Minute
)

// Endpoint is a server with OpenAI's embeddings API, which Ollama, vLLM and llama.cpp also implement.
type Endpoint struct {
	// URL is the server's address, with or without /v1 or /v1/embeddings.
	URL   string
	Model string
	Key   string // bearer token; "" sends none
	// Timeout is the maximum time of one request; 0 means one minute. Wait is the pause before the second attempt; 0
	// means half a second. The pause doubles with each further attempt, up to half a minute.
	Timeout, Wait time.Duration
	Logger        *slog.Logger // nil discards the messages
}

func (e *Endpoint) Check() error {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("embeddings address %q is not of the form http://127.0.0.1:11434", e.URL)
	}
	if e.Model == "" {
		return errors.New("embeddings need the name of a model")
	}
	return nil
}

func (e *Endpoint) ID() string { return e.address() + " " + e.Model }

func (e *Endpoint) address() string {
	base := strings.TrimRight(e.URL, "/")
	switch {
	case strings.HasSuffix(base, "/embeddings"):
		return base
	case strings.HasSuffix(base, "/v1"):
		return base + "/embeddings"
	}
	return base + "/v1/embeddings"
}

func (e *Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < batchTexts && (n == 0 || size+len(texts[n]) <= batchBytes) {
			size += len(texts[n])
			n++
		}
		part, err := e.retrying(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		all, texts = append(all, part...), texts[n:]
	}
	return all, nil
}

func (e *Endpoint) retrying(ctx context.Context, texts []string) ([][]float32, error) {
	wait := cmp.Or(e.Wait, defaultWait)
	for attempt := 1; ; attempt++ {
		vectors, err := e.request(ctx, texts)
		again, may := errors.AsType[*retryError](err)
		switch {
		case err == nil:
			return vectors, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !may || attempt == maxAttempts:
			return nil, fmt.Errorf("%w: %s: %w", ErrEndpoint, e.address(), err)
		}
		if e.Logger != nil {
			e.Logger.Debug("retrying embeddings request", "attempt", attempt, "err", err)
		}
		select {
		case <-time.After(min(max(wait, again.after), maxWait)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		wait *= 2
	}
}

type retryError struct {
	err   error
	after time.Duration // value of the Retry-After header, or 0
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

func (e *Endpoint) request(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, defaultPeriod))
	defer cancel()
	body, err := json.Marshal(map[string]any{"model": e.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &retryError{err: inWords(err)}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, &retryError{err: inWords(err)}
	}
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res, answer)
	}
	return decodeVectors(answer, len(texts))
}

// inWords returns an error that explains a missing response to users and agents. It omits the address and the system
// calls that Go puts before the reason.
func inWords(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	host, unknown := errors.AsType[*net.DNSError](err)
	call, failed := errors.AsType[syscall.Errno](err)
	wait, waits := errors.AsType[net.Error](err)
	switch {
	case waits && wait.Timeout():
		return errors.New("no answer in time")
	case unknown:
		return fmt.Errorf("unknown host %q", host.Name)
	case failed:
		return call
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it closed the connection")
	}
	return err
}

const maxMessage = 320

func statusError(res *http.Response, answer []byte) error {
	err := fmt.Errorf("%s: %s", res.Status, strings.Join(strings.Fields(string(answer[:min(len(answer), maxMessage)])), " "))
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w (check the key)", err)
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusRequestTimeout, res.StatusCode >= 500:
		seconds, _ := strconv.ParseFloat(res.Header.Get("Retry-After"), 64)
		return &retryError{err, time.Duration(seconds * float64(time.Second))}
	}
	return err
}

// decodeVectors decodes the vectors of n texts, which may be in any order. It returns a retryError for a malformed
// response.
func decodeVectors(answer []byte, n int) ([][]float32, error) {
	var body struct {
		Data []struct {
			Index     int
			Embedding []float32
		}
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, &retryError{err: fmt.Errorf("response does not have the format of the embeddings API: %w", err)}
	}
	if len(body.Data) != n {
		return nil, &retryError{err: fmt.Errorf("response has %d vectors for %d texts", len(body.Data), n)}
	}
	vectors := make([][]float32, n)
	for _, d := range body.Data {
		if d.Index < 0 || d.Index >= n || vectors[d.Index] != nil || !usable(d.Embedding, body.Data[0].Embedding) {
			return nil, &retryError{err: fmt.Errorf("vector %d of the response is not usable", d.Index)}
		}
		normalize(d.Embedding)
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

func usable(v, first []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return len(v) > 0 && len(v) == len(first) && !math.IsNaN(sum) && !math.IsInf(sum, 0)
}
