package planner

import (
	"errors"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// errMarkup refuses a text that would not be plain where it is put.
var errMarkup = errors.New("the text would be read as CriticMarkup there")

// Amend are the edits that make text of what the suggestion proposes: where the
// suggestion stood, since acceptance changes nothing before that. What both have in common
// is accepted, the rest rejected.
func Amend(cur *model.Version, s model.Suggestion, text string) ([]diffwrap.Edit, error) {
	accepted := diffwrap.Apply(cur.Marked(), diffwrap.Accept(cur.Marked(), s.Suggestion))
	if s.Parts != nil || len(accepted) < s.Start || !strings.HasPrefix(accepted[s.Start:], s.New) {
		return nil, Refuse(errors.New("what it proposes does not stand in one piece"))
	}
	amended := accepted[:s.Start] + text + accepted[s.Start+len(s.New):]
	before, view := diffwrap.Accepted(accepted[:s.Start]), diffwrap.Accepted(amended)
	if len(diffwrap.Suggestions(amended)) != len(diffwrap.Suggestions(accepted)) || !strings.HasPrefix(view, before+text) {
		return nil, Refuse(fmt.Errorf("%w: %q", errMarkup, text))
	}
	return diffwrap.Diff(s.New, text), nil
}
