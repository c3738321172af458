package reviewqueue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// Thread is the JSON of a conversation in the text of a note.
type Thread struct {
	ID         string   `json:"id"`
	Path       string   `json:"path"`
	Line       int      `json:"line"` // 1-based, in the accepted view
	Start      int      `json:"start"`
	End        int      `json:"end"`                  // in bytes of the raw text
	About      string   `json:"about"`                // the text that it is behind
	Suggestion string   `json:"suggestion,omitempty"` // the id of the one that it hangs on
	Answered   bool     `json:"answered,omitempty"`   // that has changed since
	Remarks    []Remark `json:"remarks"`
}

// Remark is the JSON of one comment of a thread.
type Remark struct {
	Text    string    `json:"text"`
	Author  string    `json:"author"` // "" if it is not known
	Agent   bool      `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Pending string    `json:"pending,omitempty"` // the id of the suggestion that it is, if it waits
}

func newThread(t model.Thread) Thread {
	out := Thread{
		ID: t.ID, Path: string(t.Path), Line: t.Line, Start: t.Start, End: t.End, About: t.About, Suggestion: t.Suggestion, Answered: t.Answered,
		Remarks: make([]Remark, len(t.Remarks)),
	}
	for i, r := range t.Remarks {
		out.Remarks[i] = Remark{Text: r.New, Author: r.Author, Agent: r.Agent, Session: r.Session, Time: r.Time, Pending: r.Pending}
	}
	return out
}

// Place names the place of the thread.
func (t *Thread) Place() string { return fmt.Sprintf("%s:%d", t.Path, t.Line) }

// Said is the remark on one line, with who wrote it.
func (r *Remark) Said() string {
	if r.Author == "" {
		return cli.OneLine(r.Text)
	}
	return cli.OneLine(r.Author + ": " + r.Text)
}

// CommentRequest asks for a comment: at the end of a thread, behind a suggestion, or in the text.
type CommentRequest struct {
	Path       string `json:"path,omitempty"`       // of the note; not needed with a thread or a suggestion
	Thread     string `json:"thread,omitempty"`     // its id
	Suggestion string `json:"suggestion,omitempty"` // its id
	Quote      string `json:"quote,omitempty"`      // text of the note, which occurs once
	// Start and End are bytes of the raw text in which the quote is looked for, or without a quote the place of the
	// comment is End. Revision is that of the Note that they were read from.
	Start    int    `json:"start,omitempty"`
	End      int    `json:"end,omitempty"`
	Revision string `json:"revision,omitempty"`
	Text     string `json:"text"`
	By       string `json:"by"`
}

// ResolveRequest asks to take threads out of the text.
type ResolveRequest struct {
	Threads []string `json:"threads"` // ids
	By      string   `json:"by"`
	Reason  string   `json:"reason,omitempty"`
}

func (r *CommentRequest) check() error {
	r.Text = TidyReason(r.Text)
	switch {
	case r.Text == "":
		return cli.Usagef("the comment is empty")
	case len(r.Text) > MaxReason:
		return cli.Usagef("the comment is longer than %d bytes", MaxReason)
	case strings.Contains(r.Text, "<<}") || strings.Contains(r.Text, "{>>"):
		return cli.Usagef("the comment must not contain {>> or <<}, which begin and end one")
	case r.Thread == "" && r.Suggestion == "" && (r.Path == "" || r.Quote == "" && r.End == 0):
		return cli.Usagef("say where the comment goes: a thread, a suggestion, or a path with a quote or with offsets")
	case r.End != 0 && r.Revision == "":
		return cli.Usagef("offsets need the revision of the note that they were read from")
	}
	return nil
}

// Threads returns the threads of comments in all notes.
func (q *Queue) Threads(ctx context.Context) ([]Thread, error) {
	list, err := q.ws.Threads(ctx, "")
	out := make([]Thread, len(list))
	for i, t := range list {
		out[i] = newThread(t)
	}
	return out, err
}

// Comment writes a comment.
func (q *Queue) Comment(ctx context.Context, r CommentRequest) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	path, err := q.pathOf(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	at := bridge.CommentAnchor{Path: path, Thread: r.Thread, Suggestion: r.Suggestion, Quote: r.Quote, Start: r.Start, End: r.End}
	if r.End != 0 {
		v, err := q.ws.Open(ctx, path)
		if err != nil {
			return Outcome{}, err
		}
		seen := v.Canonical()
		if at.Seen = &seen; revisionOf(seen) != r.Revision {
			return Outcome{}, fmt.Errorf("%w: the note has changed; read it again", errNotWritten)
		}
	}
	out, err := q.ws.Comment(ctx, at, r.Text, model.Author{Name: r.By})
	return q.outcome(out, model.Commented), err
}

// pathOf is the path of the note that a comment goes into.
func (q *Queue) pathOf(ctx context.Context, r CommentRequest) (model.Path, error) {
	switch {
	case r.Thread != "":
		threads, err := q.ws.Threads(ctx, "")
		for _, t := range threads {
			if t.ID == r.Thread {
				return t.Path, nil
			}
		}
		return "", orGone(err, "thread", r.Thread)
	case r.Suggestion != "":
		list, err := q.ws.Suggestions(ctx, "")
		for _, s := range list {
			if s.ID == r.Suggestion {
				return s.Path, nil
			}
		}
		return "", orGone(err, "suggestion in a note's text", r.Suggestion)
	}
	return model.CleanPath(r.Path)
}

func orGone(err error, what, id string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: there is no %s %s any more; list them again", errNotWritten, what, id)
}

// Resolve takes threads out of the text.
func (q *Queue) Resolve(ctx context.Context, r ResolveRequest) (Outcome, error) {
	if len(r.Threads) == 0 {
		return Outcome{}, cli.Usagef("say which threads are resolved: their ids")
	}
	out, err := q.ws.ResolveThreads(ctx, r.Threads, model.Author{Name: r.By, Reason: TidyReason(r.Reason)})
	return q.outcome(out, model.Resolved), err
}
