package vault

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

// diskProblem records whether the vault's disk accepts writes.
type diskProblem struct {
	v        *Vault
	problems *model.Problems
	size     atomic.Int64 // size of the last failed write, in bytes
}

func newDiskProblem(v *Vault) *diskProblem {
	d := &diskProblem{v: v}
	d.problems = model.NewProblems(v.log, d.explain)
	return d
}

// record records the outcome of writing size bytes. It ignores errors that do not concern the disk, such as a conflict.
func (d *diskProblem) record(size int, err error) {
	if err == nil && int64(size) < d.size.Load() && d.problems.Err(model.AboutFiles) != nil {
		return // the success of a smaller write proves nothing
	}
	if err != nil && !model.IsFull(err) && !errors.Is(err, syscall.EIO) {
		return
	}
	if err != nil {
		d.size.Store(int64(size))
	}
	d.problems.Record(model.AboutFiles, err)
}

func (d *diskProblem) explain(err error) string {
	fix, reason := model.ExplainWrite(err)
	return fmt.Sprintf("notes cannot be written in %q: %v; %s; a save that fails changes nothing", d.v.folder.Path, reason, fix)
}

// Problems first repeats a failed write with a temp file of the same size, so that the result is up to date.
func (v *Vault) Problems() []model.Problem {
	if v.disk.problems.Err(model.AboutFiles) != nil {
		size := int(v.disk.size.Load())
		v.disk.record(size, v.swaps.Probe(size))
	}
	return v.disk.problems.All()
}

var _ model.ProblemReporter = (*Vault)(nil)
