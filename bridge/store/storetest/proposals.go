package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

func propose(t *testing.T, s bridge.Store, c bridge.ProposalChange) {
	t.Helper()
	if err := s.Propose(c); err != nil {
		t.Fatal(err)
	}
}

func testProposals(t *testing.T, s bridge.Store) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	rename := bridge.ProposalRecord{
		ID: "b", Kind: bridge.ProposedRename, Rel: "a/N.md", ToDir: "c", Name: "M.md", Author: "ann", Session: "s", Time: start,
		Stamp: bridge.Stamp{Inode: 7, Size: 3}, Sum: bridge.ContentSum{1, 2}, Links: []bridge.LinkChange{{Rel: "L.md", Old: "N", New: "M"}},
	}
	remove := bridge.ProposalRecord{ID: "a", Kind: bridge.ProposedDelete, Rel: "x", Dir: true, Time: start.Add(1)}
	file := bridge.ProposalRecord{ID: "c", Kind: bridge.ProposedFile, Name: "m.canvas", Old: []byte{}, New: []byte("{\xff}"), Time: start.Add(2)}
	wantProposals(t, s)
	propose(t, s, bridge.ProposalChange{Put: []bridge.ProposalRecord{remove, rename, file}})
	wantProposals(t, s, rename, remove, file)

	rename.Stale = true
	rename.Accepting = &bridge.Decision{Batch: "1", Verdict: bridge.Accepted}
	decision := &bridge.Decision{Batch: "0", Verdict: bridge.Rejected, Proposal: &remove}
	propose(t, s, bridge.ProposalChange{
		Put: []bridge.ProposalRecord{rename}, Drop: []string{"a", "nobody"}, Journal: []bridge.Record{{Time: start, Decision: decision}},
	})
	wantProposals(t, s, rename, file)

	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	rec.Decision = &bridge.Decision{Batch: "2"}
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

func wantProposals(t *testing.T, s bridge.Store, want ...bridge.ProposalRecord) {
	t.Helper()
	got, err := s.Proposals()
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b bridge.ProposalRecord) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }
	if !slices.EqualFunc(got, want, func(a, b bridge.ProposalRecord) bool {
		sameDecision := (a.Accepting == nil) == (b.Accepting == nil)
		a.Accepting, b.Accepting = nil, nil
		return sameDecision && same(a, b) && (a.Old == nil) == (b.Old == nil)
	}) {
		t.Errorf("proposals are\n%+v, want\n%+v", got, want)
	}
}
