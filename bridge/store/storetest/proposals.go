package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

func propose(t *testing.T, s model.Store, c model.ProposalChange) {
	t.Helper()
	if err := s.Propose(c); err != nil {
		t.Fatal(err)
	}
}

func testProposals(t *testing.T, s model.Store) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	rename := model.ProposalRecord{
		ID: "b", Kind: model.ProposedRename, Rel: "a/N.md", ToDir: "c", Name: "M.md", Author: "ann", Session: "s", Time: start,
		Stamp: model.Stamp{Inode: 7, Size: 3}, Sum: model.ContentSum{1, 2}, Links: []model.LinkChange{{Rel: "L.md", Old: "N", New: "M"}},
	}
	remove := model.ProposalRecord{ID: "a", Kind: model.ProposedDelete, Rel: "x", Dir: true, Time: start.Add(1)}
	file := model.ProposalRecord{ID: "c", Kind: model.ProposedFile, Name: "m.canvas", Old: []byte{}, New: []byte("{\xff}"), Time: start.Add(2)}
	wantProposals(t, s)
	propose(t, s, model.ProposalChange{Put: []model.ProposalRecord{remove, rename, file}})
	wantProposals(t, s, rename, remove, file)

	rename.Stale = true
	rename.Accepting = &model.Decision{Batch: "1", Verdict: model.Accepted}
	decision := &model.Decision{Batch: "0", Verdict: model.Rejected, Proposal: &remove}
	propose(t, s, model.ProposalChange{
		Put: []model.ProposalRecord{rename}, Drop: []string{"a", "nobody"}, Journal: []model.Record{{Time: start, Decision: decision}},
	})
	wantProposals(t, s, rename, file)

	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	rec.Decision = &model.Decision{Batch: "2"}
	appendTo(t, s, "doc", "N.md", rec)
	entries, err := s.Journal(10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("journal: %+v, %v", entries, err)
	}
	if e := entries[0]; e.Path != "N.md" || e.Decision.Batch != "2" {
		t.Errorf("newest entry: %+v", e)
	}
	if e := entries[1]; e.ID != "" || e.Path != "" || e.Decision.Proposal.Rel != "x" || !e.Time.Equal(start) {
		t.Errorf("entry of a proposal: %+v", e)
	}
}

func wantProposals(t *testing.T, s model.Store, want ...model.ProposalRecord) {
	t.Helper()
	got, err := s.Proposals()
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b model.ProposalRecord) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }
	if !slices.EqualFunc(got, want, func(a, b model.ProposalRecord) bool {
		sameDecision := (a.Accepting == nil) == (b.Accepting == nil)
		a.Accepting, b.Accepting = nil, nil
		return sameDecision && same(a, b) && (a.Old == nil) == (b.Old == nil)
	}) {
		t.Errorf("proposals are\n%+v, want\n%+v", got, want)
	}
}
