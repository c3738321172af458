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
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
)

// Errors that a model can act on become a text that contains the next step. All other errors are faults of the server.

// Phrases are the error texts of a toolset that name its tools. In each text, %q is the path.
type Phrases struct {
	Folder    string            // text for a folder that is given instead of a document
	NotFolder string            // text for a document that is given instead of a folder
	Exists    string            // text for a new document that exists already
	Missing   string            // text for a document that does not exist
	Names     *strings.Replacer // puts the caller's names in the place of the tools'; nil if the caller uses the tools' names
}

// Rename returns a text of the tools, without any quotes of documents and calls, with the caller's names.
func (w Phrases) Rename(text string) string {
	if w.Names == nil {
		return text
	}
	return w.Names.Replace(text)
}

type sentence struct {
	is   error
	text string
}

// sentences returns the error texts. The first row that matches an error is used.
func (w Phrases) sentences() []sentence {
	return []sentence{
		{model.ErrBadName, "The path %q is not allowed: it must not contain \"..\" or NUL. Paths look like Folder/sub/Name.md."},
		{model.ErrNameTooLong, "The path %q is not allowed: a name has at most 255 bytes."},
		{model.ErrIsDir, w.Folder},
		{model.ErrNotDir, w.NotFolder},
		{model.ErrNotNote, "%q is not a note: its name does not end in .md. This tool works on notes only."},
		{model.ErrOtherKind, "%q cannot be the new path: a move cannot turn a note (.md) into another file, or another file into a note. Keep the extension."},
		{model.ErrNotEmpty, "%q is a folder that is not empty. Only an empty folder can be deleted."},
		{model.ErrInvalidUTF8, "%q cannot be changed: it is not stored as UTF-8. Tell the user, who can convert it."},
		{model.ErrTooLarge, "%q is too large: the tools read and write at most 16 MiB. Split it into several documents, or tell the user."},
		{model.ErrReadOnly, "%q is read-only here. Tell the user what you would change."},
		{model.ErrNotFetched, "%q has not been fetched from the server yet. Try again in a few seconds."},
		{model.ErrOffline, "The folder of %q is offline. Try again later, or tell the user."},
		{model.ErrNoSpace, "%q cannot be written: there is no space left on the disk. Tell the user."},
		{model.ErrNeedsReview, "%q was left as it is: moving and deleting are not allowed here. Tell the user what you would do."},
		{model.ErrDeletionLimit, "%q was left as it is: it would delete too many documents at once. Tell the user what you want to delete; continue when the user has decided on the pending proposals, or after a minute."},
		{model.ErrNameTaken, "%q is the path of a pending proposal. Choose another path, or tell the user."},
		{model.ErrConflict, "%q changes too often at the moment. Read it again and retry."},
		{model.ErrClosed, "The workspace of %q is being closed. Nothing was changed."},
		{errors.ErrUnsupported, "%q cannot be moved there: documents stay within their top-level folder."},
		{fs.ErrExist, w.Exists},
		{fs.ErrNotExist, w.Missing},
		{fs.ErrPermission, "%q cannot be changed: permission denied. Tell the user."},
	}
}

// ErrorText returns the text of the result of FromError, including the text of a fault.
func ErrorText(err error, words Phrases) string {
	res := FromError(err, words)
	if res.Err != nil {
		return "The server could not complete the call: " + res.Err.Error()
	}
	return strings.Join(res.Text, " ")
}

func FromError(err error, words Phrases) result.Result {
	var (
		argument  *result.ArgumentError
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
		return result.Result{Ask: &ask.Question}
	case errors.As(err, &missing) && len(missing.Similar) == 0:
		return result.ErrorResult(words.Rename(words.Missing), missing.Name)
	case errors.As(err, &at) && errors.As(err, &section):
		return noSection(at.Path, section)
	case errors.As(err, &argument):
		return result.ErrorResult("%s", argument.Renamed(words.Rename))
	case errors.As(err, &missing):
		return result.ErrorResult("%v", err)
	case errors.As(err, &condition):
		return result.ErrorResult("The condition on the property %q is wrong: %s.", condition.Key, condition.Msg)
	case errors.Is(err, search.ErrSlow):
		return result.ErrorResult("The search was stopped after 20 seconds: the pattern takes too long over these documents. Use one that repeats less, or search in one folder with path.")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return result.ErrorResult("The call was cancelled.")
	case errors.Is(err, semantic.ErrEndpoint):
		return result.ErrorResult("The search by meaning failed: %v. Search by words instead, and tell the user.", err)
	case errors.As(err, &at) && (errors.Is(err, model.ErrRefused) || errors.Is(err, model.ErrContent)):
		return result.ErrorResult("%q was left as it is: %v", string(at.Path), at.Err)
	case errors.As(err, &at) && errors.As(err, &unfetched):
		return result.ErrorResult("%q has not been fetched from the server yet. Tell the user: %s.", string(at.Path), unfetched.Reason)
	case errors.As(err, &at) && errors.As(err, &readOnly):
		return result.ErrorResult("%q is read-only here: %s. Tell the user what you would change.", string(at.Path), readOnly.Reason)
	case errors.As(err, &at) && errors.As(err, &notEmpty):
		return result.ErrorResult("%q was left as it is: %v.", string(at.Path), notEmpty)
	case errors.As(err, &at) && errors.As(err, &badName):
		return result.ErrorResult("The path %q is not allowed: %s.", string(at.Path), badName.Reason)
	case errors.As(err, &at):
		for _, s := range words.sentences() {
			if errors.Is(err, s.is) {
				return result.ErrorResult(words.Rename(s.text), string(at.Path))
			}
		}
	}
	return result.Result{Err: fmt.Errorf("tool: %w", err)}
}

const maxHeadings = 30

func noSection(p model.Path, e *outline.SectionError) result.Result {
	list, say := e.Found, "%q has several sections %q: %s. Name one of them as written here, with its line."
	if len(list) == 0 {
		list, say = e.Have, "%q has no section %q. Its headings are: %s. Write a block id as ^id."
	}
	var names []string
	for _, h := range list[:min(len(list), maxHeadings)] {
		h.Text = result.OneLine(h.Text)
		names = append(names, h.Address())
	}
	if len(list) > maxHeadings {
		names = append(names, "...")
	}
	if len(names) == 0 {
		return result.ErrorResult("%q has no section %q, and no headings. Leave the section out.", string(p), e.Name)
	}
	return result.ErrorResult(say, string(p), e.Name, strings.Join(names, ", "))
}
