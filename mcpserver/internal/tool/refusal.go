package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
)

// A refusal says to a model what an error means that it can act on, and the next step.
// Other errors are faults of the server. It knows a tool only by the sentences of its toolset.

// Words are the sentences of a toolset that name its tools. The verb stands for the path.
type Words struct {
	Folder    string // a folder is not a document
	NotFolder string // a document is not a folder
	Exists    string // the document exists
	Missing   string // the document does not exist
}

// sentence is what a model is told for an error. The verb stands for the path.
type sentence struct {
	is  error
	say string
}

// sentences are in order: the first one that fits is said.
func (w Words) sentences() []sentence {
	return []sentence{
		{model.ErrBadName, "The path %q is not allowed: it must not hold \"..\" or NUL. Paths look like Folder/sub/Name.md."},
		{model.ErrNameTooLong, "The path %q is not allowed: a name has at most 255 bytes."},
		{model.ErrIsDir, w.Folder},
		{model.ErrNotDir, w.NotFolder},
		{model.ErrNotNote, "%q is not a note: its name does not end in .md. This tool works on notes only."},
		{model.ErrNotEmpty, "%q is a folder that is not empty. Only an empty folder can be deleted."},
		{model.ErrInvalidUTF8, "%q cannot be changed: the text is not valid UTF-8."},
		{model.ErrTooLarge, "%q cannot be written: a document holds at most 16 MiB. Split it into several documents."},
		{model.ErrReadOnly, "%q is read-only here. Tell the person what you would change instead."},
		{model.ErrNotFetched, "%q has not been fetched from the server yet. Try again in a few seconds."},
		{model.ErrOffline, "The folder of %q is offline. Try again later, or tell the person."},
		{model.ErrNoSpace, "%q cannot be written: there is no space left on the disk. Tell the person."},
		{model.ErrNeedsReview, "%q was left as it is: moving and deleting are not allowed here. Tell the person what you would do."},
		{model.ErrDeletionLimit, "%q was left as it is: too many documents would go at once. Tell the person what you are about to delete; go on when the proposals so far are decided, or after a minute."},
		{model.ErrNameTaken, "%q is in the way: what is proposed for it waits for a person. Choose another path, or tell the person."},
		{model.ErrConflict, "%q changes too often at the moment. Read it again and retry."},
		{model.ErrClosed, "The workspace of %q is being closed. Nothing was changed."},
		{errors.ErrUnsupported, "%q cannot be moved there: documents stay within their top-level folder."},
		{fs.ErrExist, w.Exists},
		{fs.ErrNotExist, w.Missing},
		{fs.ErrPermission, "%q cannot be changed: permission denied. Tell the person."},
	}
}

// Sentence is what Of says of an error, for an answer that tells of several.
func Sentence(err error, words Words) string {
	res := Refusal(err, words)
	if res.Err != nil {
		return "The server could not do it: " + res.Err.Error()
	}
	return strings.Join(res.Text, " ")
}

// Refusal returns the Result for an error of the workspace or of the arguments.
func Refusal(err error, words Words) answer.Result {
	var (
		argument  *answer.ArgumentError
		missing   *document.MissingError
		at        *model.Error
		unfetched *model.NotFetchedError
		readOnly  *model.ReadOnlyError
		notEmpty  *model.NotEmptyError
		badName   *model.BadNameError
		ask       *change.AskError
		section   *outline.SectionError
		condition *index.ConditionError
	)
	switch {
	case errors.As(err, &ask):
		return answer.Result{Ask: &ask.Question}
	case errors.As(err, &missing) && len(missing.Similar) == 0:
		return answer.Refuse(words.Missing, missing.Name)
	case errors.As(err, &at) && errors.As(err, &section):
		return noSection(at.Path, section)
	case errors.As(err, &argument), errors.As(err, &missing):
		return answer.Refuse("%v", err)
	case errors.As(err, &condition):
		return answer.Refuse("The condition on the property %q is wrong: %s.", condition.Key, condition.Msg)
	case errors.Is(err, search.ErrSlow):
		return answer.Refuse("The search was stopped after 20 seconds: the pattern takes too long over these documents. Use one that repeats less, or search in one folder with path.")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return answer.Refuse("The call was cancelled.")
	case errors.Is(err, semantic.ErrEndpoint):
		return answer.Refuse("The search by meaning does not work at the moment: %v. Search by words instead, and tell the person.", err)
	case errors.As(err, &at) && (errors.Is(err, model.ErrRefused) || errors.Is(err, model.ErrContent)):
		return answer.Refuse("%q was left as it is: %v", string(at.Path), at.Err)
	case errors.As(err, &at) && errors.As(err, &unfetched):
		return answer.Refuse("%q has not been fetched from the server yet. Tell the person: %s.", string(at.Path), unfetched.Reason)
	case errors.As(err, &at) && errors.As(err, &readOnly):
		return answer.Refuse("%q is read-only here: %s. Tell the person, and what you would change instead.", string(at.Path), readOnly.Reason)
	case errors.As(err, &at) && errors.As(err, &notEmpty):
		return answer.Refuse("%q was left as it is: %v.", string(at.Path), notEmpty)
	case errors.As(err, &at) && errors.As(err, &badName):
		return answer.Refuse("The path %q is not allowed: %s.", string(at.Path), badName.Reason)
	case errors.As(err, &at):
		for _, s := range words.sentences() {
			if errors.Is(err, s.is) {
				return answer.Refuse(s.say, string(at.Path))
			}
		}
	}
	return answer.Result{Err: fmt.Errorf("tool: %w", err)}
}

// maxHeadings is how many headings a refusal names.
const maxHeadings = 30

// noSection tells which sections there are.
func noSection(p model.Path, e *outline.SectionError) answer.Result {
	list, say := e.Found, "%q has several sections %q: %s. Name one of them as it stands here, with its line."
	if len(list) == 0 {
		list, say = e.Have, "%q has no section %q. Its headings are: %s. A block id is given as ^id."
	}
	var names []string
	for _, h := range list[:min(len(list), maxHeadings)] {
		h.Text = answer.OneLine(h.Text)
		names = append(names, h.Address())
	}
	if len(list) > maxHeadings {
		names = append(names, "...")
	}
	if len(names) == 0 {
		return answer.Refuse("%q has no section %q, and no headings. Leave the section out.", string(p), e.Name)
	}
	return answer.Refuse(say, string(p), e.Name, strings.Join(names, ", "))
}
