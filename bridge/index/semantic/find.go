package semantic

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
	"github.com/relayfs/relayfs/bridge/model"
)

type Query struct {
	Text   string
	Under  model.Path             // a folder or a note; "" means everywhere
	Filter frontmatter.Properties // required properties; see [bridge.Workspace.NotesWith]
	Since  time.Time              // leaves out notes that were last changed before this time
	Only   func(model.Path) bool  // selects notes; nil selects all
}

// Found is a note with its best passage, the range [Start, End) of its text in bytes.
type Found struct {
	*index.NoteInfo
	Version    *model.Version
	Text       string  // text of Version, converted to UTF-8
	Start, End int     // the best part of Text
	Score      float64 // greater than 0 and at most 1; never greater than the score of the previous note
}

// Title returns the first heading of the note if it has level 1 and differs from the note's name, and otherwise "".
func (f Found) Title() string {
	if len(f.Headings) == 0 || f.Headings[0].Level > 1 || f.Headings[0].Text == strings.TrimSuffix(f.Path.Base(), model.NoteExt) {
		return ""
	}
	return f.Headings[0].Text
}

// Place is a position in a ranking. It is after the note Path, or after Number notes if Path is no longer ranked. The
// zero value is the beginning.
type Place struct {
	Path   model.Path `json:"p"`
	Number int        `json:"n"`
}

type Answer struct {
	Notes   []Found
	More    bool     // the ranking continues
	Among   int      // number of notes that passed the filters
	Tried   []string // words of the query, without stop words
	Unknown []string // those words in Tried that occur in no note
	// Meaning is the error of the search by meaning. It is nil if that search succeeded.
	Meaning error
}

// The rankings of the two searches are fused by the reciprocals of the notes' ranks (Cormack, Clarke and Buettcher,
// 2009). In the search by words, the weight of a note is multiplied by the share of the query that the note's words
// cover. So this search counts much for a name, and little for a paraphrase.
const (
	pool          = 100 // number of notes that each search contributes
	rankOffset    = 10
	wordsWeight   = 2.0 // weight if all words of the query match
	meaningWeight = 1.0
)

// Find ranks the notes of ws, the workspace or a part of it, by words and meaning. It returns at most limit results,
// starting after the given place. Without vectors it ranks by words alone.
func (x *Index) Find(ctx context.Context, ws *bridge.Workspace, q Query, after Place, limit int) (Answer, error) {
	notes, err := x.chosen(ctx, ws, q)
	if err != nil {
		return Answer{}, err
	}
	all, err := x.ws.Notes(ctx, "")
	if err != nil {
		return Answer{}, err
	}
	if err := x.updateWords(ctx, all); err != nil {
		return Answer{}, err
	}
	words := x.words.Query(q.Text)
	a := Answer{Among: len(notes), Tried: words.Words(), Unknown: words.Unknown()}
	asked, err := x.meaning(ctx, q.Text)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	a.Meaning = err
	list := x.fused(notes, len(notes) == len(all), words, asked)
	from := slices.IndexFunc(list, func(c *candidate) bool { return c.info.Path == after.Path }) + 1
	if from == 0 {
		from = min(after.Number, len(list))
	}
	return a, x.show(ctx, &a, list[from:], words, asked, limit)
}

func (x *Index) chosen(ctx context.Context, ws *bridge.Workspace, q Query) ([]*index.NoteInfo, error) {
	notes, err := ws.NotesWith(ctx, q.Filter)
	if err != nil || q.Under == "" && q.Since.IsZero() && q.Only == nil {
		return notes, err
	}
	return slices.DeleteFunc(notes, func(n *index.NoteInfo) bool {
		return !q.Under.Contains(n.Path) || n.ModTime.Before(q.Since) || q.Only != nil && !q.Only(n.Path)
	}), nil
}

// The search by meaning finds a note if its similarity is above chance and not much lower than the similarity of the
// nearest note.
const (
	unrelated  = 0.2
	nearEnough = 0.4 // share of the nearest note's similarity
)

type near struct {
	info    *index.NoteInfo
	score   float64
	passage int
}

// nearest returns the notes that are nearest to a vector, at most pool of them, best first. notes must be sorted by path.
// There are none if the stored vectors have another length.
func (x *Index) nearest(notes []*index.NoteInfo, v []float32) []near {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(v) != x.dims {
		return nil
	}
	numbers, step := inSteps(v)
	to, size := newVector(sum{}, step, numbers), vectorHead+x.dims
	var list []near
	for i, k := range pairs(x.notes, notes) {
		if i < 0 || k < 0 || x.notes[i] != notes[k] {
			continue
		}
		best := near{info: notes[k]}
		for passage, rest := 0, x.vectors[i]; len(rest) > 0; passage, rest = passage+1, rest[size:] {
			if s := similarity(to, rest[:size]); s > best.score {
				best.score, best.passage = s, passage
			}
		}
		if best.score < unrelated || len(list) == pool && best.score <= list[pool-1].score {
			continue
		}
		at := sort.Search(len(list), func(i int) bool { return list[i].score < best.score })
		list = slices.Insert(list[:min(len(list), pool-1)], at, best)
	}
	return slices.DeleteFunc(list, func(n near) bool { return n.score < list[0].score*nearEnough })
}

type candidate struct {
	info    *index.NoteInfo
	score   float64
	near    bool // the search by meaning has also found it
	passage int  // index of its best passage by meaning
}

// fused ranks notes by both searches. all reports whether they are all notes of the workspace.
func (x *Index) fused(notes []*index.NoteInfo, all bool, words *lexical.Query, asked []float32) []*candidate {
	find := func(p model.Path) *index.NoteInfo {
		i, found := slices.BinarySearchFunc(notes, p, func(n *index.NoteInfo, p model.Path) int { return cmp.Compare(n.Path, p) })
		if !found {
			return nil
		}
		return notes[i]
	}
	var list []*candidate
	have := make(map[model.Path]*candidate)
	add := func(info *index.NoteInfo, rank int, weight float64) *candidate {
		c := have[info.Path]
		if c == nil {
			c = &candidate{info: info}
			have[info.Path] = c
			list = append(list, c)
		}
		c.score += weight / float64(rankOffset+rank+1)
		return c
	}
	chosen := func(key string) bool { return all || find(model.Path(key)) != nil }
	for rank, h := range x.words.Search(words, chosen, pool) {
		if info := find(model.Path(h.Key)); info != nil {
			add(info, rank, wordsWeight*h.Part)
		}
	}
	for rank, h := range x.nearest(notes, asked) {
		c := add(h.info, rank, meaningWeight)
		c.near, c.passage = true, h.passage
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.info.Path, b.info.Path))
	})
	return list
}

// show adds the first candidates with their best passages to a. It skips deleted notes.
func (x *Index) show(ctx context.Context, a *Answer, list []*candidate, words *lexical.Query, asked []float32, limit int) error {
	for _, c := range list {
		if len(a.Notes) == limit {
			a.More = true
			return nil
		}
		v, err := x.ws.Open(ctx, c.info.Path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		f := Found{NoteInfo: c.info, Version: v, Score: c.score * (rankOffset + 1) / (wordsWeight + meaningWeight)}
		f.Text, _ = v.Decoded()
		f.Start, f.End = bestPart(f.Text, words, c.passage, x.similarity(c, asked))
		a.Notes = append(a.Notes, f)
	}
	return nil
}

// These are the maximum sizes in bytes of a shown part, and of a piece of a long line.
const (
	partSize  = 600
	pieceSize = 300
)

type piece struct {
	start, end int
	blank      bool
	weights    []float32 // weights of the words of the query
	weight     float32
}

// similarity returns a function that computes the similarity of a text in c's note to the vector v. It returns nil if
// the search by meaning did not find c, or if the function would need a request to a server.
func (x *Index) similarity(c *candidate, v []float32) func(text string) float32 {
	if !c.near || x.o.Embedder != nil {
		return nil
	}
	return func(text string) float32 {
		sum := float32(0)
		if made, err := x.embedder.Embed(context.Background(), []string{text}); err == nil && len(made[0]) == len(v) {
			for i, x := range made[0] {
				sum += x * v[i]
			}
		}
		return max(sum, 0)
	}
}

// bestPart returns the part of a text that best answers a query. It consists of some lines, or of a piece of a long
// line. If no word of the query occurs in the text, it is the part that is nearest in meaning, from the given passage
// on. If likeness is nil, it is then the beginning of that passage.
func bestPart(text string, words *lexical.Query, passage int, likeness func(string) float32) (start, end int) {
	pieces := piecesOf(text)
	_, body, _ := frontmatter.Split(text)
	from, some := 0, weigh(text, pieces, words)
	if !some {
		from = startOfPassage(text, passage)
		if likeness != nil {
			for i := range pieces {
				p := &pieces[i]
				if p.start >= from && !p.blank {
					p.weight = likeness(text[p.start:p.end])
				}
				p.weights = []float32{p.weight}
				some = some || p.weight > 0
			}
		}
	}
	best, first := float32(-1), 0
	for i, p := range pieces {
		if p.start < from || p.blank {
			continue
		}
		last, sum := window(pieces[i:], p.weight)
		if sum > best {
			best, first, start, end = sum, i, p.start, pieces[i+last].end
		}
		if !some {
			break
		}
	}
	if start >= body {
		from = max(from, body)
	}
	// The preceding text of the same paragraph gives the context.
	for i := first - 1; i >= 0 && pieces[i].start >= from && !pieces[i].blank && end-pieces[i].start <= partSize; i-- {
		start = pieces[i].start
	}
	return start, start + len(strings.TrimRight(text[start:end], " \t\r\n"))
}

// weigh sets the weights of the query's words in the pieces of a text. It reports whether any word occurs.
func weigh(text string, pieces []piece, words *lexical.Query) (some bool) {
	in := lexical.LanguageOf(text)
	for i := range pieces {
		p := &pieces[i]
		p.blank = strings.TrimSpace(text[p.start:p.end]) == ""
		p.weights = words.Weights(text[p.start:p.end], in)
		for _, w := range p.weights {
			p.weight += w
		}
		some = some || p.weight > 0
	}
	return some
}

// window returns the index of the last piece to show together with the first piece, preferably at the end of a
// paragraph. sum is the weight of the words in these pieces. It includes a small part of first, the weight of the first
// piece: if two windows have the same words, the window that begins with them is better.
func window(pieces []piece, first float32) (last int, sum float32) {
	best := make([]float32, len(pieces[0].weights))
	ended := false // the paragraph of the last piece with a word has already ended
	for i, p := range pieces {
		if i > 0 && p.end-pieces[0].start > partSize {
			break
		}
		ended = (ended || p.blank) && p.weight == 0
		if !ended {
			last = i
		}
		for w, weight := range p.weights {
			best[w] = max(best[w], weight)
		}
	}
	for _, weight := range best {
		sum += weight
	}
	return last, sum + first/1000
}

func startOfPassage(text string, passage int) int {
	_, body, _ := frontmatter.Split(text)
	if parts := passages(text); 0 <= passage && passage < len(parts) {
		return body + max(strings.Index(text[body:], parts[passage]), 0)
	}
	return body
}

// piecesOf cuts a text into lines. It cuts long lines at white space or after a CJK full stop if possible.
func piecesOf(text string) []piece {
	var list []piece
	at := 0
	for line := range strings.Lines(text) {
		for len(line) > partSize {
			cut := max(strings.LastIndexAny(line[:pieceSize], " \t")+1, lastAfter(line[:pieceSize], "。"))
			if cut == 0 {
				cut = characterStart(line, pieceSize)
			}
			list = append(list, piece{start: at, end: at + cut})
			at, line = at+cut, line[cut:]
		}
		list = append(list, piece{start: at, end: at + len(line)})
		at += len(line)
	}
	return list
}

func lastAfter(s, mark string) int {
	if i := strings.LastIndex(s, mark); i >= 0 {
		return i + len(mark)
	}
	return 0
}
