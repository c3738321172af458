package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
)

// maxText is the maximum length in bytes of each quoted text in an entry. maxName is the maximum length of each name.
const (
	maxText = 1 << 10
	maxName = 256
)

// maxClock is JavaScript's greatest safe integer. No document has that many units of one client.
const maxClock = 1<<53 - 1

// withoutLocal returns a record without the data that only this machine needs.
func withoutLocal(rec *model.Record) model.Record {
	out := model.Record{
		Author: rec.Author, Session: rec.Session, Time: rec.Time, Client: rec.Client, Clock: rec.Clock, Len: rec.Len,
		Direct: rec.Direct, Proposal: rec.Proposal, Marks: rec.Marks, Remaps: rec.Remaps, Restored: rec.Restored, BrokenDelimiters: rec.BrokenDelimiters, Plain: rec.Plain,
		Older: rec.Older, KeptOpeners: rec.KeptOpeners, LiteralOpeners: rec.LiteralOpeners,
	}
	if rec.FrontMatter != nil {
		out.FrontMatter = &model.FrontMatterChange{Typed: rec.FrontMatter.Typed}
	}
	for _, l := range rec.Links {
		now := model.LinkRewrite{Typed: l.Typed}
		for _, g := range l.Removed {
			now.Removed = append(now.Removed, model.DeletedRange{At: g.At})
		}
		out.Links = append(out.Links, now)
	}
	if rec.Decision == nil {
		return out
	}
	d := *rec.Decision
	d.Unrestored, d.Proposal, d.UndoesSeq, d.Reason = nil, nil, 0, truncated(d.Reason)
	d.Items, d.Runs, d.Marks, d.Again = slices.Clone(d.Items), slices.Clone(d.Runs), slices.Clone(d.Marks), slices.Clone(d.Again)
	for i := range d.Items {
		item := &d.Items[i]
		if d.Verdict != model.Rejected { // only a rejection is shown with the rejected text
			*item = model.DecidedItem{ID: item.ID, Kind: item.Kind, Author: item.Author}
		}
		item.Old, item.New, item.Comments, item.ReplacedBy = truncated(item.Old), truncated(item.New), nil, nil
	}
	for _, runs := range [][]model.DecidedRun{d.Runs, d.Again} {
		for i := range runs {
			runs[i].Text = ""
		}
	}
	for i := range d.Marks {
		d.Marks[i] = model.DecidedMark{Item: d.Marks[i].Item}
	}
	out.Decision = &d
	return out
}

func truncated(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}

func keyOf(n, client uint64) string { return fmt.Sprintf("%d-%d", n, client) }

// numbersOf parses a key. n is 0 for an invalid key.
func numbersOf(key string) (n, client uint64) {
	first, second, _ := strings.Cut(key, "-")
	n, err := strconv.ParseUint(first, 10, 53)
	client, err2 := strconv.ParseUint(second, 10, 53)
	if err != nil || err2 != nil || key != keyOf(n, client) {
		return 0, 0
	}
	return n, client
}

// decode parses an entry and counts its runs. It returns nil for an invalid entry.
func decode(key, text string) (e *entry, runs int) {
	n, client := numbersOf(key)
	e = &entry{n: n}
	if n == 0 || json.Unmarshal([]byte(text), &e.rec) != nil || e.rec.Client != client {
		return nil, 0
	}
	e.rec = withoutLocal(&e.rec)
	for _, m := range e.rec.Marks { // a table adds sorted runs faster
		for _, runs := range [][]model.IDRange{m.Add, m.Del} {
			slices.SortFunc(runs, func(a, b model.IDRange) int {
				return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Clock, b.Clock))
			})
		}
	}
	e.rec.Seq = seqOf(key)
	c := check{ok: true}
	c.record(&e.rec)
	if !c.ok {
		return nil, 0
	}
	return e, c.runs
}

// check validates that an entry could come from relayfs.
type check struct {
	ok   bool
	runs int
}

func (c *check) require(ok bool) { c.ok = c.ok && ok }

func (c *check) name(list ...string) {
	for _, s := range list {
		c.require(len(s) <= maxName)
		c.text(s)
	}
}

func (c *check) text(s string) {
	c.require(utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }))
}

func (c *check) run(list ...model.IDRange) {
	for _, r := range list {
		c.runs++
		c.require(r.Client > 0 && r.Client <= maxClock && r.Clock <= maxClock && r.Len > 0 && r.Len <= maxClock-r.Clock)
	}
}

func (c *check) neighbour(r model.IDRange) {
	if r != (model.IDRange{}) {
		c.run(r)
	}
}

func (c *check) remaps(list []model.IDRemap) {
	for _, r := range list {
		c.run(r.Old, r.New)
		c.require(r.Old.Len == r.New.Len)
	}
}

func (c *check) record(rec *model.Record) {
	c.name(rec.Author, rec.Session, rec.Proposal)
	c.neighbour(model.IDRange{Client: rec.Client, Clock: rec.Clock, Len: max(1, rec.Len)})
	for _, m := range rec.Marks {
		c.name(m.ID, m.Author, m.Session, m.Proposal)
		c.name(m.Replaces...)
		c.run(m.Add...)
		c.run(m.Del...)
	}
	c.remaps(rec.Remaps)
	c.run(rec.Restored...)
	c.run(rec.BrokenDelimiters...)
	c.run(rec.Plain...)
	c.run(rec.Older...)
	c.run(rec.KeptOpeners...)
	c.run(rec.LiteralOpeners...)
	if rec.FrontMatter != nil {
		c.run(rec.FrontMatter.Typed...)
	}
	for _, l := range rec.Links {
		c.require(len(l.Removed) > 0)
		for _, g := range l.Removed {
			c.run(g.At)
		}
		c.run(l.Typed...)
	}
	if rec.Decision != nil {
		c.decision(rec.Decision)
	}
}

func (c *check) decision(d *model.Decision) {
	c.name(d.Batch, string(d.Verdict), d.By, d.Undoes, d.Follows)
	c.text(d.Reason)
	for _, item := range d.Items {
		c.name(item.ID, item.Kind, item.Author, item.Session, item.Proposal)
		c.text(item.Old)
		c.text(item.New)
	}
	for _, m := range d.Marks {
		c.require(m.Item >= 0 && m.Item < len(d.Items))
	}
	for _, r := range slices.Concat(d.Runs, d.Again) {
		c.run(r.At)
		c.neighbour(r.Left)
		c.neighbour(r.Right)
		c.require(r.Mark >= 0 && r.Role >= 0)
	}
	c.remaps(d.Remaps)
	c.run(d.ByHand...)
	c.run(d.Plain...)
}
