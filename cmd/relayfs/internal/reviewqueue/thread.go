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

type Thread struct {
	ID         string          `json:"id"`
	Path       string          `json:"path"`
	Line       int             `json:"line"` // 1-based line in the accepted view
	Start      int             `json:"start"`
	End        int             `json:"end"`                  // offset in the raw text in bytes, like Start
	About      string          `json:"about"`                // the text before the thread
	Suggestion string          `json:"suggestion,omitempty"` // ID of the suggestion that the thread comments on
	Answered   bool            `json:"answered,omitempty"`   // whether the suggestion changed after the last comment
	Comments   []ThreadComment `json:"remarks"`
}

type ThreadComment struct {
	Text    string    `json:"text"`
	Author  string    `json:"author"` // "" if unknown
	Agent   bool      `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Pending string    `json:"pending,omitempty"` // ID of the pending suggestion that adds the comment
}

func newThread(t model.Thread) Thread {
	out := Thread{
		ID: t.ID, Path: string(t.Path), Line: t.Line, Start: t.Start, End: t.End, About: t.About, Suggestion: t.Suggestion, Answered: t.Answered,
		Comments: make([]ThreadComment, len(t.Entries)),
	}
	for i, r := range t.Entries {
		out.Comments[i] = ThreadComment{Text: r.New, Author: r.Author, Agent: r.Agent, Session: r.Session, Time: r.Time, Pending: r.Pending}
	}
	return out
}

func (t *Thread) Place() string { return fmt.Sprintf("%s:%d", t.Path, t.Line) }

func (r *ThreadComment) OneLine() string {
	if r.Author == "" {
		return cli.OneLine(r.Text)
	}
	return cli.OneLine(r.Author + ": " + r.Text)
}

// CommentRequest is the JSON of a comment at the end of a thread, after a suggestion, or in the text.
type CommentRequest struct {
	Path       string `json:"path,omitempty"`       // may be empty if there is a thread or a suggestion
	Thread     string `json:"thread,omitempty"`     // ID of the thread to answer
	Suggestion string `json:"suggestion,omitempty"` // ID of the suggestion to comment on
	Quote      string `json:"quote,omitempty"`      // text that occurs once in the note
	// Start and End limit the search for the quote, in bytes of the raw text. Without a quote, the comment is placed at
	// End. Revision is the revision of the Note to which the offsets belong.
	Start    int    `json:"start,omitempty"`
	End      int    `json:"end,omitempty"`
	Revision string `json:"revision,omitempty"`
	Text     string `json:"text"`
}

type ResolveRequest struct {
	Threads []string `json:"threads"` // IDs
	Reason  string   `json:"reason,omitempty"`
}

func (r *CommentRequest) check() error {
	r.Text = OneLineReason(r.Text)
	switch {
	case r.Text == "":
		return cli.Usagef("the comment is empty")
	case len(r.Text) > MaxReason:
		return cli.Usagef("the comment is longer than %d bytes", MaxReason)
	case strings.Contains(r.Text, "<<}") || strings.Contains(r.Text, "{>>"):
		return cli.Usagef("the comment must not contain {>> or <<}, which mark the ends of a comment")
	case r.Thread == "" && r.Suggestion == "" && (r.Path == "" || r.Quote == "" && r.End == 0 && r.Revision == ""):
		return cli.Usagef("the comment has no target: name a thread, a suggestion, or a path with a quote or with offsets")
	case r.End != 0 && r.Revision == "":
		return cli.Usagef("add the revision of the note to which the offsets belong")
	}
	return nil
}

// atOffsets reports whether the place of the comment is given by offsets. End is 0 for a comment at the start of the note.
func (r *CommentRequest) atOffsets() bool {
	return r.End != 0 || r.Thread == "" && r.Suggestion == "" && r.Quote == ""
}

func (q *Queue) Threads(ctx context.Context) ([]Thread, error) {
	list, err := q.ws.Threads(ctx, "")
	out := make([]Thread, len(list))
	for i, t := range list {
		out[i] = newThread(t)
	}
	return out, err
}

func (q *Queue) Comment(ctx context.Context, r CommentRequest) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	path, err := q.pathOf(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	at := bridge.CommentAnchor{Path: path, Thread: r.Thread, Suggestion: r.Suggestion, Quote: r.Quote, Start: r.Start, End: r.End}
	if r.atOffsets() {
		v, err := q.ws.Open(ctx, path)
		if err != nil {
			return Outcome{}, err
		}
		seen := v.Canonical()
		if at.BaseText = &seen; revisionOf(seen) != r.Revision {
			return Outcome{}, fmt.Errorf("%w: the note has changed; read it again", errNotCommented)
		}
	}
	out, err := q.ws.Comment(ctx, at, r.Text, reviewer())
	return q.outcome(out, model.Commented), err
}

func (q *Queue) pathOf(ctx context.Context, r CommentRequest) (model.Path, error) {
	switch {
	case r.Thread != "":
		threads, err := q.ws.Threads(ctx, "")
		for _, t := range threads {
			if t.ID == r.Thread {
				return t.Path, nil
			}
		}
		return "", missingErr(err, "thread", r.Thread)
	case r.Suggestion != "":
		list, err := q.ws.Suggestions(ctx, "")
		for _, s := range list {
			if s.ID == r.Suggestion {
				return s.Path, nil
			}
		}
		return "", missingErr(err, "suggestion", r.Suggestion)
	}
	return model.CleanPath(r.Path)
}

func missingErr(err error, what, id string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s %s is not in a note any more; list them again", errNotCommented, what, id)
}

func (q *Queue) Resolve(ctx context.Context, r ResolveRequest) (Outcome, error) {
	if len(r.Threads) == 0 {
		return Outcome{}, cli.Usagef("name the threads to resolve by their IDs")
	}
	author := reviewer()
	author.Reason = OneLineReason(r.Reason)
	out, err := q.ws.ResolveThreads(ctx, r.Threads, author)
	return q.outcome(out, model.Resolved), err
}
