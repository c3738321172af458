package vault

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge"
)

// Replace makes data the content of rel if the content is still the one that
// expect names; otherwise it changes nothing and returns bridge.ErrConflict. The
// mode is kept, and the owner where that is permitted. It is durable when it
// returns. After any other error the file is as it was.
func (v *Vault) Replace(ctx context.Context, rel string, expect bridge.Stamp, data []byte, modTime time.Time) (bridge.Stamp, error) {
	if err := v.writable("write", rel); err != nil {
		return bridge.Stamp{}, err
	}
	if err := ctx.Err(); err != nil {
		return bridge.Stamp{}, wrap("write", rel, err)
	}
	p, err := v.locate(rel)
	if errors.Is(err, fs.ErrNotExist) {
		err = bridge.ErrConflict // Read says what has become of it
	}
	if err != nil {
		return bridge.Stamp{}, wrap("write", rel, err)
	}
	defer p.Close()
	defer v.begin(rel, p.rel)()
	stamp, err := v.exchange(&p, expect, data, modTime)
	if err != nil {
		return bridge.Stamp{}, wrap("write", rel, err)
	}
	e := entryOf(rel, &p.stat)
	e.Stamp = stamp
	v.wrote(e)
	return stamp, nil
}

// exchange is Replace at a place, without noting whose work it is.
func (v *Vault) exchange(p *place, expect bridge.Stamp, data []byte, modTime time.Time) (bridge.Stamp, error) {
	if stampOf(&p.stat) != expect {
		return bridge.Stamp{}, bridge.ErrConflict
	}
	s, err := v.stage(p, data, modTime)
	if err != nil {
		return bridge.Stamp{}, err
	}
	defer s.Close()
	return s.commit()
}
