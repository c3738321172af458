package links

import "github.com/relayfs/relayfs/diffwrap"

// flagPending sets Pending on the links in CriticMarkup suggestions. ls must be in the order of the text.
func flagPending(text string, known diffwrap.Known, ls []Link) {
	marks, _, _ := known.Layout(text)
	for _, m := range marks {
		ls = flag(ls, m.Deleted, PendingDeletion)
		ls = flag(ls, m.Added, PendingAddition)
	}
}

// flag sets Pending on the links that begin in s, and returns the links that begin after s.
func flag(ls []Link, s diffwrap.Span, p Pending) []Link {
	for ; len(ls) > 0 && ls[0].Off < s.End; ls = ls[1:] {
		if ls[0].Off >= s.Start {
			ls[0].Pending = p
		}
	}
	return ls
}
