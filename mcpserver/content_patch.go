package mcpserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
)

type patchContentArgs struct {
	EntityType string `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"What the path is: a note (Markdown), a canvas (JSON Canvas) or a base (YAML)"`
	Path       string `arg:"path" is:"path" need:"true" doc:"Path of the document"`
	OldString  string `arg:"old_string" need:"true" doc:"Text to replace, exactly as it stands in the document. It must occur once"`
	NewString  string `arg:"new_string" need:"true" doc:"Text to put in its place"`
}

type patchContentResult struct {
	Success        bool            `json:"success"`
	Path           string          `json:"path,omitempty"`
	LinesChanged   int             `json:"lines_changed,omitempty"`
	Error          string          `json:"error,omitempty" doc:"Why nothing was changed"`
	MatchLocations []matchLocation `json:"match_locations,omitempty" doc:"Where old_string occurs, if it does more than once"`
	Notice         string          `json:"notice,omitempty" doc:"What else there is to know of the change"`
}

type matchLocation struct {
	Line    int    `json:"line"`
	Preview string `json:"preview"`
}

func (r patchContentResult) failed() bool { return !r.Success }

// patchContent tells every failure in its result.
func patchContent(ctx context.Context, s *Session, a patchContentArgs) (patchContentResult, error) {
	res, err := a.run(ctx, s)
	var several *severalError
	if errors.As(err, &several) {
		return patchContentResult{Path: several.path, Error: several.Error(), MatchLocations: several.at}, nil
	}
	if sentence, ok := s.sentence(err); ok {
		return patchContentResult{Path: a.Path, Error: sentence}, nil
	}
	return res, err
}

// sentence is what a model is told for err, if it can act on it.
func (s *Session) sentence(err error) (string, bool) {
	var ask *askError
	if err == nil || errors.As(err, &ask) {
		return "", false
	}
	res := s.failure(err)
	if res.Err != nil {
		return "", false
	}
	return strings.Join(res.Text, "\n"), true
}

func (a patchContentArgs) run(ctx context.Context, s *Session) (patchContentResult, error) {
	kind, p, err := s.typed(ctx, a.EntityType, a.Path)
	switch {
	case err != nil:
		return patchContentResult{}, err
	case a.OldString == a.NewString:
		return patchContentResult{}, wrongArgument("No changes to make: old_string and new_string are exactly the same.")
	case a.OldString == "":
		return patchContentResult{}, wrongArgument("The argument \"old_string\" is empty. Give the text to replace, or call replace_content for the whole document.")
	}
	res := patchContentResult{Success: true, Path: string(p), LinesChanged: a.lines()}
	if kind == entity.Note {
		res.Notice, err = a.patchNote(ctx, s, p)
	} else {
		res.Notice, err = a.patchFile(ctx, s, kind, p)
	}
	return res, err
}

// lines is how many lines the patch replaces, or puts in their place if that is
// more.
func (a patchContentArgs) lines() int {
	lines := func(s string) int { return 1 + strings.Count(strings.TrimSuffix(s, "\n"), "\n") }
	return max(lines(a.OldString), lines(a.NewString))
}

// patchNote makes the change of whatever text is current, under the note's lock.
// Nobody is asked about a change that cannot be made.
func (a patchContentArgs) patchNote(ctx context.Context, s *Session, p bridge.Path) (string, error) {
	before, err := s.server.ws.Open(ctx, p)
	if err != nil {
		return "", err
	}
	view := s.server.ws.Options().View
	patch := func(cur *bridge.Version) (string, error) {
		before = cur
		after, at, err := a.patch(p, cur.Text())
		if err != nil {
			return "", err
		}
		return after, checkMarkup("new_string", view, cur.Text(), after, at)
	}
	if _, err := patch(before); err != nil {
		return "", err
	}
	if err := s.approve(ctx, opUpdate, "change the note "+string(p), nil); err != nil {
		return "", err
	}
	known, read := s.known(p)
	res, err := s.server.ws.Update(ctx, p, s.author(), s, patch)
	if err != nil {
		return "", err
	}
	if read {
		s.changed(p, before, res.Version, known.version.Text() == before.Text() && !known.partly)
	}
	return strings.Join(res.Warnings, " "), nil
}

// maxPatches bounds how often a patch of a file is made anew because another call
// was faster.
const maxPatches = 8

// patchFile makes the change of whatever the file holds.
func (a patchContentArgs) patchFile(ctx context.Context, s *Session, kind entity.Type, p bridge.Path) (notice string, err error) {
	for range maxPatches {
		var text, after string
		if text, err = s.readFile(ctx, p); err != nil {
			return "", err
		}
		if after, _, err = a.patch(p, text); err != nil {
			return "", err
		}
		notice, err = s.writeFile(ctx, fileWrite{
			kind: kind, path: p, text: after, base: sha256.Sum256([]byte(text)), op: opUpdate, what: "change " + string(p),
		})
		if !errors.Is(err, bridge.ErrConflict) {
			break
		}
	}
	return notice, err
}

// patch is text after the change, and where that begins.
func (a patchContentArgs) patch(p bridge.Path, text string) (after string, at int, err error) {
	places := findAll(text, a.OldString)
	switch len(places) {
	case 0:
		return "", 0, wrongArgument("old_string not found in %s. Make sure it matches exactly.", p)
	case 1:
		return replace(text, places, a.OldString, a.NewString), places[0].start, nil
	}
	several := &severalError{path: string(p), count: len(places)}
	for _, place := range places[:min(len(places), maxLines)] {
		line, _ := cutLine(strings.TrimSuffix(lineAround(text, place.start), "\r"))
		several.at = append(several.at, matchLocation{lineOf(text, place.start), oneLine(line)})
	}
	return "", 0, several
}

// severalError says that a text occurs more than once.
type severalError struct {
	path  string
	count int
	at    []matchLocation
}

func (e *severalError) Error() string {
	return "old_string is not unique in " + e.path + " (" + count(e.count, "occurrence") + " found). Include more surrounding context to make it unique."
}
