package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

const Help = `  y  accept, go on          n x  reject, go on
  a  accept with a reason   r    reject with a reason
  c  ask for another version: it stays pending
  j ]c down  next           k [c up  previous
  e  change the proposal in $EDITOR
  A R  accept, reject all that are shown of this note
  u  undo the last          h    history: undo any
  v  the whole note         o    overview of the queue
  /  only paths, authors    PgDn PgUp  scroll
  ?  this help              q Ctrl-C  quit`

type mode int

const (
	browsing mode = iota
	filtering
	reasoning
	confirming
	helping
	asking  // asking the author for another version of the suggestion
	reading // showing the whole note
	overviewMode
	historyMode
	replaced // another suggestion, or a changed one, has taken the place of the one that was shown
)

// reviewModel is the state of a review. It is immutable: Update returns the next state.
type reviewModel struct {
	suggestionList
	render.Painter
	cmds commands

	mode         mode
	field        editor                    // used in the modes filtering, reasoning and asking
	asked        reviewqueue.DecideRequest // used in the modes confirming and reasoning
	commentID    string                    // suggestion in the mode asking
	prefix       string                    // "]" or "[" if it was typed and c may follow
	busy         bool                      // whether a command is running whose result can change the meaning of the next key
	queuedKeys   []tea.KeyMsg              // keys typed while busy
	lists        int                       // number of the expected list; lists with lower numbers are outdated
	stale        bool                      // whether the notes have changed while busy
	loaded       bool
	message      string
	ownerMessage string // message to show while the owner does not answer
	scrolled     scroll
	read         noteMsg              // last read note
	threads      []reviewqueue.Thread // threads that belong to no suggestion
	history      history
	lines        int      // number of lines that the user has scrolled; in the mode reading, relative to the suggestion
	done         []string // batches of this review that were not undone
	counts       map[model.Verdict]int

	width, height int
}

type scroll struct {
	id string
	by int
}

func newModel(sel reviewqueue.Selector, p render.Painter, cmds commands) reviewModel {
	return reviewModel{suggestionList: suggestionList{sel: sel}, Painter: p, cmds: cmds, busy: true}
}

func (m reviewModel) Init() tea.Cmd { return m.cmds.list(m.lists) }

func (m reviewModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.apply(msg)
	if missing := next.(reviewModel).readNeeded(); missing != nil {
		cmd = tea.Batch(cmd, missing)
	}
	return next, cmd
}

func (m reviewModel) apply(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case listMsg:
		return m.listed(msg)
	case changedMsg:
		return m.changed(msg)
	case outcomeMsg:
		return m.decided(msg.Outcome)
	case noteMsg:
		m.read = msg
	case historyMsg:
		switch {
		case msg.err != nil:
			m.message = cli.Text(msg.err)
		case len(msg.list) == 0:
			m.message = "there is nothing to undo"
		default:
			m.mode, m.history = historyMode, history{list: msg.list}
		}
		return m.finishBusy()
	case editedMsg:
		if msg.err != nil {
			m.message = msg.err.Error()
			return m, nil
		}
		m.busy, m.lists = true, m.lists+1
		return m, m.cmds.amend(msg)
	case errMsg:
		m.message = cli.Text(msg.err)
		m.queuedKeys = nil // they were typed for the result that was expected
		m.stale = true     // the request may have outdated a list that was being read
		return m.finishBusy()
	case tea.KeyMsg:
		return m.key(msg)
	}
	return m, nil
}

func (m reviewModel) listed(msg listMsg) (tea.Model, tea.Cmd) {
	if msg.number != m.lists {
		return m, nil
	}
	if msg.err != nil {
		m.message = cli.Text(msg.err)
		return m.finishBusy()
	}
	before := m.shown()
	m.loaded = true
	m.read = noteMsg{} // the note may have changed too
	m.all = msg.list
	m.threads = slices.DeleteFunc(slices.Clone(msg.threads), func(t reviewqueue.Thread) bool { return t.Suggestion != "" })
	m.suggestionList = m.refilter()
	// Without busy, others have changed the list. The next key may be for the suggestion that was shown before.
	if now := m.shown(); !m.busy && m.mode == browsing && before != nil && now != nil && !maps.Equal(now, before) {
		m.mode = replaced
	}
	return m.finishBusy()
}

// finishBusy ends the busy state and applies the queued keys, until one of them starts a command. It also reads the
// list again if the notes have changed.
func (m reviewModel) finishBusy() (_ tea.Model, cmd tea.Cmd) {
	keys, stale, lists := m.queuedKeys, m.stale, m.lists
	m.busy, m.stale, m.queuedKeys = false, false, nil
	for len(keys) > 0 && !m.busy && cmd == nil {
		next, then := m.key(keys[0])
		m, cmd, keys = next.(reviewModel), then, keys[1:]
	}
	m.queuedKeys = append(m.queuedKeys[:len(m.queuedKeys):len(m.queuedKeys)], keys...)
	if stale {
		cmd = tea.Batch(m.cmds.list(lists), cmd)
	}
	return m, cmd
}

func (m reviewModel) changed(msg changedMsg) (tea.Model, tea.Cmd) {
	if msg.err != nil {
		m.ownerMessage = msg.err.Error()
		m.message = m.ownerMessage
		return m, nil
	}
	if m.ownerMessage != "" && m.message == m.ownerMessage {
		m.message = ""
	}
	m.ownerMessage = ""
	if msg.moved && !m.busy {
		return m, m.cmds.list(m.lists)
	}
	m.stale = m.stale || msg.moved
	return m, nil
}

func (m reviewModel) decided(out reviewqueue.Outcome) (tea.Model, tea.Cmd) {
	counts := map[model.Verdict]int{out.Verdict: len(out.Suggestions)}
	for v, n := range m.counts {
		counts[v] += n
	}
	m.counts = counts
	switch {
	case out.Verdict == model.Undone:
		if len(out.Suggestions) > 0 {
			m.goTo = out.Suggestions[0].ID
		}
	case out.Notes > 0:
		m.done = append(m.done[:len(m.done):len(m.done)], out.Batch)
	}
	m.message = fmt.Sprintf("%s %s", cli.Plural(len(out.Suggestions), "suggestion"), out.Verdict)
	if out.Verdict == model.Commented {
		m.message = "asked for another version; it stays pending"
	}
	for _, a := range out.Unrestored {
		m.message += "; " + cli.Printable(a.String())
	}
	if err := out.Err(); err != nil {
		m.message = strings.ReplaceAll(cli.Text(err), "\n", "; ")
	}
	return m, m.cmds.list(m.lists)
}

func (m reviewModel) key(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Type == tea.KeyCtrlC {
		return m, tea.Quit
	}
	if k.Type == tea.KeyCtrlZ {
		return m, suspend()
	}
	if m.busy {
		m.queuedKeys = append(m.queuedKeys[:len(m.queuedKeys):len(m.queuedKeys)], k)
		return m, nil
	}
	if len(k.Runes) > 1 && m.mode != filtering && m.mode != reasoning && m.mode != asking {
		return m.typedAhead(k)
	}
	switch m.mode {
	case filtering:
		return m.filterKey(k), nil
	case reasoning, asking:
		return m.reasonKey(k)
	case reading:
		return m.readKey(k), nil
	case overviewMode:
		return m.overviewKey(k), nil
	case historyMode:
		return m.historyKey(k)
	case confirming:
		if m.mode = browsing; k.String() == "y" {
			return m.decide(m.asked)
		}
		m.message = "nothing was done"
		return m, nil
	case helping, replaced:
		m.mode = browsing
		return m, nil
	}
	return m.browseKey(k)
}

// typedAhead applies several keys of one message in order. It ignores pasted text.
func (m reviewModel) typedAhead(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Paste {
		return m, nil
	}
	m.busy = true
	for _, r := range k.Runes {
		m.queuedKeys = append(m.queuedKeys[:len(m.queuedKeys):len(m.queuedKeys)], tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	return m.finishBusy()
}

func (m reviewModel) browseKey(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	name := m.prefix + k.String()
	m.prefix, m.message = "", ""
	switch name {
	case "]", "[":
		m.prefix = name
	case "j", "]c", "down", "right", "tab", " ":
		m.suggestionList = m.move(1)
	case "k", "[c", "up", "left", "shift+tab":
		m.suggestionList = m.move(-1)
	case "u":
		return m.undo()
	case "h":
		m.busy = true
		return m, m.cmds.history()
	case "/":
		m.mode, m.field = filtering, editor{before: m.filter}
	case "?":
		m.mode = helping
	case "o":
		m.mode, m.lines = overviewMode, m.currentGroup(m.groups())
	case "q":
		return m, tea.Quit
	default:
		if s := m.current(); s != nil {
			return m.currentKey(name, s)
		}
	}
	return m, nil
}

func (m reviewModel) currentKey(name string, s *reviewqueue.Suggestion) (tea.Model, tea.Cmd) {
	this := m.shown()
	switch name {
	case "pgdown", "ctrl+f":
		m.scrolled = m.scroll(s.ID, 1)
	case "pgup", "ctrl+b":
		m.scrolled = m.scroll(s.ID, -1)
	case "y":
		return m.decide(reviewqueue.DecideRequest{Shown: this, Verdict: model.Accepted})
	case "n", "x":
		return m.decide(reviewqueue.DecideRequest{Shown: this, Verdict: model.Rejected})
	case "a":
		m.mode, m.asked, m.field = reasoning, reviewqueue.DecideRequest{Shown: this, Verdict: model.Accepted}, editor{}
	case "r":
		m.mode, m.asked, m.field = reasoning, reviewqueue.DecideRequest{Shown: this, Verdict: model.Rejected}, editor{}
	case "A":
		return m.decideNote(s.Path, model.Accepted)
	case "R":
		return m.decideNote(s.Path, model.Rejected)
	case "c":
		if s.IsProposal() {
			m.message = "a proposal takes no comments: reject it with a reason"
			return m, nil
		}
		m.mode, m.commentID, m.field = asking, s.ID, editor{}
	case "v":
		if !hasText(s) {
			m.message = "this proposal has no text to show"
			return m, nil
		}
		m.mode, m.lines = reading, 0
	case "e":
		return m.edit(s)
	}
	return m, nil
}

func (m reviewModel) scroll(id string, by int) scroll {
	if m.scrolled.id == id {
		by += m.scrolled.by
	}
	screens := len(m.wrap(m.body()))/m.screen() + 1
	return scroll{id, max(-screens, min(by, screens))}
}

// decideNote decides on all visible suggestions of a note. It asks for confirmation if there are many.
func (m reviewModel) decideNote(path string, v model.Verdict) (tea.Model, tea.Cmd) {
	r := reviewqueue.DecideRequest{Verdict: v, Shown: make(map[string]string)}
	for i := range m.visible {
		if m.visible[i].Path == path {
			r.Shown[m.visible[i].ID] = m.visible[i].Revision
		}
	}
	if len(r.Shown) > reviewqueue.ManyAtOnce {
		m.mode, m.asked = confirming, r
		return m, nil
	}
	return m.decide(r)
}

// decide makes a decision. It asks for confirmation before it accepts a stale proposal.
func (m reviewModel) decide(r reviewqueue.DecideRequest) (tea.Model, tea.Cmd) {
	if s := m.current(); s != nil && s.Stale && !r.Force && r.Verdict == model.Accepted && maps.Equal(r.Shown, m.shown()) {
		r.Force = true
		m.mode, m.asked = confirming, r
		return m, nil
	}
	m.busy, m.lists = true, m.lists+1
	return m, m.cmds.decide(r)
}

func (m reviewModel) undo() (tea.Model, tea.Cmd) {
	if len(m.done) == 0 {
		m.message = "nothing to undo in this review; h shows earlier decisions"
		return m, nil
	}
	return m.undoEntry(undoable{batch: m.done[len(m.done)-1]})
}

// edit edits the suggestion's new text. If the suggestion only deletes text, it edits the deleted text.
func (m reviewModel) edit(s *reviewqueue.Suggestion) (tea.Model, tea.Cmd) {
	if s.IsProposal() {
		m.message = "a proposal can be accepted or rejected, not edited"
		return m, nil
	}
	return m, inEditor(s.ID, s.Revision, cmp.Or(s.New, s.Old))
}

func (m reviewModel) reasonKey(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	switch k.String() {
	case "esc":
		m.mode, m.message = browsing, "nothing was done"
	case "enter":
		if m.mode == asking {
			m.mode, m.busy, m.lists = browsing, true, m.lists+1
			return m, m.cmds.comment(m.commentID, m.field.String())
		}
		m.mode = browsing
		m.asked.Reason = reviewqueue.OneLineReason(m.field.String())
		return m.decide(m.asked)
	default:
		if next := m.field.key(k); len(next.String()) <= reviewqueue.MaxReason {
			m.field = next
		}
	}
	return m, nil
}

func (m reviewModel) filterKey(k tea.KeyMsg) reviewModel {
	switch k.String() {
	case "esc":
		m.mode, m.filter = browsing, ""
		m.suggestionList = m.refilter()
	case "enter":
		m.mode = browsing
	default:
		m.field = m.field.key(k)
		m.filter = m.field.String()
		m.suggestionList = m.refilter()
	}
	return m
}

func (m reviewModel) summary() string {
	var parts []string
	for _, v := range []model.Verdict{model.Accepted, model.Rejected, model.Changed, model.Undone} {
		if n := m.counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	parts = append(parts, cli.Plural(len(m.all), "suggestion")+" pending")
	return strings.Join(parts, ", ")
}

type suggestionList struct {
	sel     reviewqueue.Selector
	filter  string                   // text that the path or the author must contain
	all     []reviewqueue.Suggestion // all pending suggestions
	visible []reviewqueue.Suggestion // suggestions selected by sel and filter
	at      int                      // index in visible
	goTo    string                   // ID of the suggestion to select when it is listed again
}

func (d *suggestionList) current() *reviewqueue.Suggestion {
	if d.at >= len(d.visible) {
		return nil
	}
	return &d.visible[d.at]
}

// shown returns the ID and the revision of the current suggestion, or nil.
func (d *suggestionList) shown() map[string]string {
	s := d.current()
	if s == nil {
		return nil
	}
	return map[string]string{s.ID: s.Revision}
}

func (d suggestionList) move(by int) suggestionList {
	d.at = max(0, min(d.at+by, len(d.visible)-1))
	return d
}

// refilter updates the visible suggestions. If the suggestion goTo is visible, it becomes selected. Otherwise the same
// suggestion stays selected or, if it is not visible any more, the suggestion after it becomes selected.
func (d suggestionList) refilter() suggestionList {
	before := d.visible[min(d.at, len(d.visible)):]
	d.visible = nil
	where := make(map[string]int)
	for i := range d.all {
		if s := &d.all[i]; d.sel.Matches(s) && d.holds(s) {
			where[s.ID] = len(d.visible)
			d.visible = append(d.visible, *s)
		}
	}
	if i, ok := where[d.goTo]; ok {
		d.at, d.goTo = i, ""
		return d
	}
	for i := range before {
		if at, ok := where[before[i].ID]; ok {
			d.at = at
			return d
		}
	}
	d.at = max(0, min(d.at, len(d.visible)-1))
	return d
}

func (d *suggestionList) holds(s *reviewqueue.Suggestion) bool {
	text := strings.ToLower(d.filter)
	return strings.Contains(strings.ToLower(s.Path), text) || strings.Contains(strings.ToLower(s.Author), text)
}
