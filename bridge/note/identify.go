package note

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
)

// A store finds a document by the path of its note. But while relayfs was stopped, or did not follow the note,
// another file may have come to that path: a note was deleted and another one created, or two notes exchanged their
// names. So the file decides when it is first read, not its name:
//
//	relayfs wrote the file, or read it there       it is the document's: inode and time of birth identify a file. So is
//	                                               a file that was saved over it after a scan had found it here
//	it holds the last text of the document's file  the same: git or a backup copied it back
//	it holds much of the document's text           a user's program has saved it as a new file
//	it has marks and most of the text of a note    the note was moved and then saved as a new file
//	whose file is missing
//	otherwise                                      it is another note, and the document has ended at the path
//
// While relayfs follows a note, each change of its file counts as a save, and a removal ends the document
// (Path.Ended). If a file that relayfs knows as another note is moved over the file, IsTempOf decides.

// identify finds the document of the note, whose file was just read and holds raw, and loads its history. It leaves
// n.id empty if there is none. found is the stamp of the file that was here before, if any.
func (n *Locked) identify(ctx context.Context, loc Location, raw string, found model.Stamp) (h model.History, err error) {
	if n.id != "" {
		return n.store.Load(n.id) // relayfs has followed the note
	}
	id, err := n.lookupID(loc)
	if err != nil {
		return h, err
	}
	files := []model.Stamp{n.stamp}
	if !found.IsFile(n.stamp) {
		files = append(files, found)
	}
	if id != "" {
		if h, err = n.store.Load(id); err != nil {
			return h, err
		}
		if belongsTo(h, raw, files...) {
			n.id = id
			return h, nil
		}
	}
	if err := n.findMovedDocument(ctx, loc, id != "", raw, files); err != nil || n.id == "" {
		return model.History{}, err
	}
	return n.store.Load(n.id)
}

// belongsTo reports whether a file at the path of a document belongs to the document. It holds raw; files are its stamp
// and those of earlier files there.
func belongsTo(h model.History, raw string, files ...model.Stamp) bool {
	if len(h.Records) == 0 || isKnown(h, raw, files) {
		return true
	}
	if isBlank(raw) {
		return false
	}
	doc, err := replay(h.Records)
	if err != nil {
		return true // callers that need the document get the error
	}
	text := doc.Text(model.ContentsName).String()
	return text == raw || isAlike(text, raw)
}

// isKnown reports whether the file is known to be the document's: relayfs wrote the file with a text of the document or
// read the document from it, or the file holds the last text of the document's file. A blank text identifies no
// document.
func isKnown(h model.History, raw string, files []model.Stamp) bool {
	return slices.ContainsFunc(files, h.IsOf) || h.Sum == model.SumOf(raw) && !isBlank(raw)
}

// IsTempOf reports whether the note's file, which was moved over the file of another note, was a temporary file with
// which a program has saved the other note. A note that has a document of its own was no temporary file.
func (n *Note) IsTempOf(ctx context.Context, other *Note) bool {
	if len(n.stored().Records) > 0 {
		return false
	}
	data, stamp, err := other.source.Read(ctx, other.node.Location().Rel)
	return err != nil || belongsTo(other.stored(), string(data), stamp)
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

// maxLost is the maximum number of documents without a file that a note is compared with.
const maxLost = 64

// maxAlike is the maximum number of documents with equal texts that findMovedDocument compares a note without marks
// with. Many notes may start from one template.
const maxAlike = 8

// findMovedDocument looks for the stored document of the note's file if the path has no document, or has the document
// of another note. It considers the document of a removed note at this path, and documents whose file was moved here.
// other is set if the path has the document of another note; findMovedDocument then moves that document to the path for
// removed notes.
func (n *Locked) findMovedDocument(ctx context.Context, loc Location, other bool, raw string, files []model.Stamp) error {
	n.set.claimMu.Lock()
	defer n.set.claimMu.Unlock()
	rel := model.Path(loc.Rel)
	var list []model.StoredDoc
	if id, err := n.store.DocID(rel.Ended()); err == nil {
		list = append(list, model.StoredDoc{ID: id, Path: rel.Ended()})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		more, err := n.store.DocsOf(file, model.SumOf(raw))
		if err != nil {
			return err
		}
		if !other && !attribution.MarksIn(raw) {
			more = more[:min(len(more), maxAlike)]
		}
		list = append(list, more...)
	}
	var from model.Path
	for _, d := range list {
		if mine, err := n.isDocumentOf(ctx, d, raw, files); err != nil {
			return err
		} else if mine {
			n.id, from = d.ID, d.Path
			break
		}
	}
	if n.id == "" && attribution.MarksIn(raw) {
		lost, err := n.lostDocuments()
		if err != nil {
			return err
		}
		for _, d := range lost[:min(len(lost), maxLost)] {
			h, err := n.store.Load(d.ID)
			if err != nil {
				return err
			}
			if at, err := n.store.DocID(d.Path); err == nil && at == d.ID && holdsMostOf(h, raw) {
				n.id, from = d.ID, d.Path
				break
			}
		}
	}
	if other && from == rel.Ended() {
		if err := n.store.Rename(from, from.Ended()); err != nil {
			return err
		}
		from = from.Ended()
	}
	if other {
		if err := n.store.End(rel); err != nil {
			return err
		}
	}
	if n.id == "" {
		return nil
	}
	return n.store.Rename(from, rel)
}

// lostDocuments returns the documents whose files did not exist at the first call. Call it with n.set.claimMu locked.
func (n *Locked) lostDocuments() (lost []model.StoredDoc, err error) {
	s, ok := n.source.(model.Stater)
	if lost, found := n.set.lost[n.store]; found || !ok {
		return lost, nil
	}
	all, err := n.store.Located()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if _, ended := d.Path.EndedAt(); ended {
			continue
		}
		if _, err := s.Stat(string(d.Path)); errors.Is(err, fs.ErrNotExist) {
			lost = append(lost, d)
		}
	}
	n.set.lost[n.store] = lost
	return lost, nil
}

// holdsMostOf reports whether raw shares three quarters of the longer text's pairs of words with the document.
func holdsMostOf(h model.History, raw string) bool {
	doc, err := replay(h.Records)
	if err != nil {
		return false
	}
	shared, n, m := sharedPairs(doc.Text(model.ContentsName).String(), raw)
	return 4*shared >= 3*max(n, m)
}

// isDocumentOf reports whether a document that is stored for another path belongs to the file. A document whose own
// file still exists belongs to that file only.
func (n *Locked) isDocumentOf(ctx context.Context, d model.StoredDoc, raw string, files []model.Stamp) (bool, error) {
	original, ended := d.Path.EndedAt()
	if original == "" || !ended && d.Path == model.Path(n.node.Location().Rel) {
		return false, nil
	}
	h, err := n.store.Load(d.ID)
	if err != nil || !isKnown(h, raw, files) {
		return false, err
	}
	if ended {
		return true, nil
	}
	data, there, err := n.source.Read(ctx, string(d.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !belongsTo(h, string(data), there), nil
}

// isAlike reports whether two texts share at least a quarter of the shorter text's pairs of words. Two notes on one
// subject share about a twentieth.
func isAlike(a, b string) bool {
	shared, n, m := sharedPairs(a, b)
	return shared > 0 && 4*shared >= min(n, m)
}

// sharedPairs counts the pairs of adjacent words that two texts share, and those of each.
func sharedPairs(a, b string) (shared, n, m int) {
	mine, n := wordPairs(a)
	pairsOfB, m := wordPairs(b)
	for pair, times := range mine {
		shared += min(times, pairsOfB[pair])
	}
	return shared, n, m
}

// wordPairs counts the pairs of adjacent words. The ends of the text count as words.
func wordPairs(text string) (pairs map[[2]string]int, n int) {
	pairs = make(map[[2]string]int)
	last := ""
	for word := range strings.FieldsSeq(text + " \x00") {
		pairs[[2]string{last, word}]++
		last = word
		n++
	}
	return pairs, n
}
