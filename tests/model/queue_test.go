package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What a person decides goes to the owner's socket, as the commands and the review page send it: a process for each
// decision would be most of what the sequences cost. Proposals are decided on by the command itself.

// queueAnswer is what the owner, or a command with --json, says of a decision or an undo.
type queueAnswer struct {
	Batch   string
	Missing []string
	Failed  map[string]string
}

// queueClient talks to the owner with that pid, in a sandbox.
func queueClient(s *harness.Sandbox, pid int) *http.Client {
	socket := s.Path("xdg", "runtime_dir", "relayfs", fmt.Sprintf("%d.sock", pid))
	return &http.Client{Timeout: harness.StartTimeout, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
}

// ask sends a request to the owner, of which it posts the body unless that is nil.
func (w *sequenceWorld) ask(path string, body, answer any) error {
	const owner = "http://relayfs"
	var resp *http.Response
	var err error
	if body == nil {
		resp, err = w.queue.Get(owner + path)
	} else {
		var data []byte
		if data, err = json.Marshal(body); err == nil {
			resp, err = w.queue.Post(owner+path, "application/json", bytes.NewReader(data))
		}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s: %s", path, resp.Status, strings.TrimSpace(string(text)))
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

// askToChange is ask for what is to be done in whole.
func (w *sequenceWorld) askToChange(path string, body any) (answer queueAnswer, err error) {
	if err := w.ask(path, body, &answer); err != nil {
		return answer, err
	}
	if len(answer.Failed) > 0 {
		err = fmt.Errorf("%s: %v", path, answer.Failed)
	}
	if len(answer.Missing) > 0 {
		err = errors.Join(err, fmt.Errorf("%s: not pending any more: %v", path, answer.Missing))
	}
	return answer, err
}

// decideIDs decides on suggestions.
func (w *sequenceWorld) decideIDs(ids []string, accept bool) (queueAnswer, error) {
	return w.askToChange("/decide", map[string]any{"ids": ids, "unseen": true, "verdict": verdictOf(accept) + "ed"})
}

// undoBatch undoes a decision.
func (w *sequenceWorld) undoBatch(batch string) (queueAnswer, error) {
	return w.askToChange("/undo", map[string]any{"batch": batch})
}

// listed is what is pending.
func (w *sequenceWorld) listed() (list []pendingEntry, err error) {
	err = w.ask("/suggestions", nil, &list)
	return list, err
}
