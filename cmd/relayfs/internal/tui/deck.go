package tui

import (
	"strings"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

// deck is the list of suggestions that a review steps through.
type deck struct {
	sel    queue.Selector
	filter string             // text that the path or the author must contain
	all    []queue.Suggestion // everything pending
	cards  []queue.Suggestion // what is shown of it
	at     int                // in cards
	want   string             // the id to go to when it is in the list again
}

// current returns the suggestion that is shown, nil if there is none.
func (d *deck) current() *queue.Suggestion {
	if d.at >= len(d.cards) {
		return nil
	}
	return &d.cards[d.at]
}

func (d deck) move(by int) deck {
	d.at = max(0, min(d.at+by, len(d.cards)-1))
	return d
}

// deal selects the cards anew. It stays at the same suggestion or, if that is gone, goes to the one that
// followed it.
func (d deck) deal() deck {
	before := d.cards[min(d.at, len(d.cards)):]
	d.cards = nil
	where := make(map[string]int)
	for i := range d.all {
		if s := &d.all[i]; d.sel.Matches(s) && d.holds(s) {
			where[s.ID] = len(d.cards)
			d.cards = append(d.cards, *s)
		}
	}
	if i, ok := where[d.want]; ok {
		d.at, d.want = i, ""
		return d
	}
	for i := range before {
		if at, ok := where[before[i].ID]; ok {
			d.at = at
			return d
		}
	}
	d.at = max(0, min(d.at, len(d.cards)-1))
	return d
}

func (d *deck) holds(s *queue.Suggestion) bool {
	text := strings.ToLower(d.filter)
	return strings.Contains(strings.ToLower(s.Path), text) || strings.Contains(strings.ToLower(s.Author), text)
}

func (d *deck) ofNote(path string) []queue.Suggestion {
	var list []queue.Suggestion
	for i := range d.cards {
		if d.cards[i].Path == path {
			list = append(list, d.cards[i])
		}
	}
	return list
}
