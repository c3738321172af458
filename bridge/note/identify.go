package note

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
)

// While relayfs follows a note, each change of its file counts as a save, and a removal ends the document (Path.Ended).
// If the file of another note is moved over it, IsTempOf decides whether that was a save too.
//
// While relayfs was stopped, any file may have come to a note's path: notes were deleted, created, moved, or exchanged
// their names. So the file decides, not its name. At the start each document follows its last known file by inode and
// time of birth (namespace.Root.Start). When a note is first read, the first matching row gives its document:
//
//	relayfs wrote the file, or read it at this path       the document at the path
//	the file has the text of the document at the path     that document: git or a backup copied it back
//	the same is true for another document                 that document, if its note was removed or its own file is
//	                                                      another note now
//	the file has much of the text of the document at the  that document: a user's program has saved it as a new file
//	path
//	the file has marks and most of the text of a note     that document: the note was moved and then saved as a new file
//	whose file is missing
//	otherwise                                             none, and the document has ended at the path

// identify finds the document of the note, whose file was just read and holds raw, and loads its history. It leaves
// n.id empty if there is none. If it returns a claimError, it returns the history too.
func (n *Locked) identify(ctx context.Context, loc Location, raw string) (h model.History, err error) {
	if n.id != "" {
		return n.store.Load(n.id) // relayfs has followed the note
	}
	id, err := n.lookupID(loc)
	if err != nil {
		return h, err
	}
	like := different
	if id != "" {
		if h, err = n.store.Load(id); err != nil {
			return h, err
		}
		if like = likenessOf(h, raw, n.stamp); like == same {
			n.id = id
			return h, nil
		}
	}
	claimed := n.findMovedDocument(ctx, loc, id, like, raw)
	if n.id == "" {
		return model.History{}, claimed
	}
	if h, err = n.store.Load(n.id); err != nil {
		n.id = ""
	}
	return h, cmp.Or(err, claimed)
}

// claimError is the error of a store that could not move the document that identify found.
type claimError struct{ error }

func (e claimError) Unwrap() error { return e.error }

// likeness is the evidence that a file belongs to a document.
type likeness uint8

const (
	different likeness = iota
	alike              // the file has much of the document's text
	same               // the file is known to be the document's, or has its text
)

// likenessOf compares a document with the file at its path. raw is the content of the file.
func likenessOf(h model.History, raw string, file model.Stamp) likeness {
	if len(h.Records) == 0 || isKnown(h, raw, file) {
		return same
	}
	if isBlank(raw) {
		return different
	}
	doc, err := replay(h.Records)
	if err != nil {
		return same // callers that need the document get the error
	}
	switch text := doc.Text(model.ContentsName).String(); {
	case text == raw:
		return same
	case isAlike(text, raw):
		return alike
	}
	return different
}

// isKnown reports whether the file is known to be the document's: relayfs wrote the file with a text of the document or
// read the document from it, or the file holds the last text of the document's file. A blank text identifies no
// document.
func isKnown(h model.History, raw string, file model.Stamp) bool {
	return h.IsOf(file) || h.Sum == model.SumOf(raw) && !isBlank(raw)
}

// IsTempOf reports whether the note's file, which was moved over the file of another note, was a temporary file with
// which a program has saved the other note. A note that has a document of its own was not a temporary file.
func (n *Note) IsTempOf(ctx context.Context, other *Note) bool {
	if len(n.stored().Records) > 0 {
		return false
	}
	data, stamp, err := other.source.Read(ctx, other.node.Location().Rel)
	return err != nil || likenessOf(other.stored(), string(data), stamp) != different
}

// stored returns the history of the document that the store has at the note's path. It is empty if there is none.
func (n *Note) stored() model.History {
	id, err := n.history.DocID(model.Path(n.node.Location().Rel))
	if err != nil {
		return model.History{}
	}
	h, _ := n.history.Load(id)
	return h
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// maxMissing is the maximum number of documents without a file that findMovedDocument compares with one note.
const maxMissing = 64

// maxAlike is the maximum number of documents from Store.DocsOf that findMovedDocument compares with a note, if the
// note has no marks and its path has no document. Many notes may start from one template.
const maxAlike = 8

// findMovedDocument looks for the document of the note's file. here is the document that the path has, or "". like is
// the likeness of the file to that document. findMovedDocument moves the document that it finds to the path, and ends
// any other document there.
func (n *Locked) findMovedDocument(ctx context.Context, loc Location, here model.DocID, like likeness, raw string) error {
	n.set.claimMu.Lock()
	defer n.set.claimMu.Unlock()
	rel := model.Path(loc.Rel)
	var list []model.StoredDoc
	if id, err := n.store.DocID(rel.Ended()); err == nil {
		list = append(list, model.StoredDoc{ID: id, Path: rel.Ended()})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	more, err := n.store.DocsOf(n.stamp, raw)
	if err != nil {
		return err
	}
	if here == "" && len(more) > maxAlike && !attribution.MarksIn(raw) {
		more = more[:maxAlike]
	}
	for _, d := range append(list, more...) {
		if mine, err := n.isDocumentOf(ctx, d, raw, n.stamp); err != nil {
			return err
		} else if mine {
			return n.claim(rel, d, here)
		}
	}
	if like == alike {
		n.id = here
		return nil
	}
	if len(n.missing) > 0 && attribution.MarksIn(raw) {
		for _, d := range n.missing {
			h, err := n.store.Load(d.ID)
			if err != nil {
				return err
			}
			if at, err := n.store.DocID(d.Path); err == nil && at == d.ID && holdsMostOf(h, raw) {
				return n.claim(rel, d, here)
			}
		}
	}
	return n.claim(rel, model.StoredDoc{}, here)
}

// claim makes d, if it has an ID, the document of the note at rel, and ends the document with the ID here, if any.
func (n *Locked) claim(rel model.Path, d model.StoredDoc, here model.DocID) error {
	n.id = d.ID
	var moves []model.StoredDoc
	if here != "" {
		moves = append(moves, model.StoredDoc{ID: here, Path: rel.Ended()})
	}
	if d.ID != "" {
		moves = append(moves, model.StoredDoc{ID: d.ID, Path: rel})
	}
	if len(moves) == 0 {
		return nil
	}
	if err := n.store.Relocate(moves); err != nil {
		return claimError{err}
	}
	return nil
}

// holdsMostOf reports whether raw shares at least three quarters of the longer text's pairs of words with the document.
func holdsMostOf(h model.History, raw string) bool {
	doc, err := replay(h.Records)
	if err != nil {
		return false
	}
	shared, n, m := sharedPairs(doc.Text(model.ContentsName).String(), raw)
	return 4*shared >= 3*max(n, m)
}

// isOfOther reports whether the file, which was read at the note's path, is the file of another note. A user has then
// moved another note over this one, and relayfs may not have followed the move yet.
func (n *Locked) isOfOther(ctx context.Context, file model.Stamp) bool {
	if s, ok := n.source.(model.Namer); ok {
		if rel, ok := s.PathOf(file); ok && rel != n.node.Location().Rel {
			return true
		}
	}
	docs, err := n.store.DocsOf(file, "")
	return err == nil && slices.ContainsFunc(docs, func(d model.StoredDoc) bool {
		other, err := n.isDocumentOf(ctx, d, "", file)
		return err == nil && other
	}) || !n.node.Location().InTree // last: a move that is being followed takes the note out of the tree before it renames documents
}

// isDocumentOf reports whether the document d, which is stored for another path, belongs to the given file at the path
// of n, which holds raw. It does not if the file at d.Path is still the document's own file. A file at d.Path that only
// has much of the text also counts as its own, unless it has the text of another document.
func (n *Locked) isDocumentOf(ctx context.Context, d model.StoredDoc, raw string, file model.Stamp) (bool, error) {
	original, ended := d.Path.EndedAt()
	if original == "" || !ended && d.Path == model.Path(n.node.Location().Rel) {
		return false, nil
	}
	h, err := n.store.Load(d.ID)
	if err != nil || !isKnown(h, raw, file) {
		return false, err
	}
	if ended {
		return true, nil
	}
	data, there, err := n.source.Read(ctx, string(d.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, nil
	}
	switch likenessOf(h, string(data), there) {
	case same:
		return false, nil
	case alike:
		others, err := n.store.DocsOf(there, string(data))
		return slices.ContainsFunc(others, func(other model.StoredDoc) bool { return other.ID != d.ID }), err
	}
	return true, nil
}

// isAlike reports whether two texts share at least a quarter of the shorter text's pairs of words. Two notes on one
// subject share about a twentieth.
func isAlike(a, b string) bool {
	shared, n, m := sharedPairs(a, b)
	return shared > 0 && 4*shared >= min(n, m)
}

// sharedPairs counts the pairs of adjacent words that two texts share, and the pairs in each text.
func sharedPairs(a, b string) (shared, n, m int) {
	mine, n := wordPairs(a)
	pairsOfB, m := wordPairs(b)
	for pair, times := range mine {
		shared += min(times, pairsOfB[pair])
	}
	return shared, n, m
}

var delimiterWords = strings.NewReplacer("{++", " {++ ", "++}", " ++} ", "{--", " {-- ", "--}", " --} ",
	"{~~", " {~~ ", "~~}", " ~~} ", "{==", " {== ", "==}", " ==} ", "{>>", " {>> ", "<<}", " <<} ")

// wordPairs counts the pairs of adjacent words. The ends of the text and the delimiters of marks count as words: a user
// may delete the text inside the only mark of a note.
func wordPairs(text string) (pairs map[[2]string]int, n int) {
	pairs = make(map[[2]string]int)
	last := ""
	for word := range strings.FieldsSeq(delimiterWords.Replace(text) + " \x00") {
		pairs[[2]string{last, word}]++
		last = word
		n++
	}
	return pairs, n
}
