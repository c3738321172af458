package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/system"
	"github.com/relayfs/relayfs/fusefs"
)

// littleSpace is how many bytes a disk should have free at least: the size of one note.
const littleSpace = model.MaxNote

// examineState writes something to the state folder, or to where it will be created.
func examineState(base string) fusefs.Finding {
	const name = "state folder"
	dir := base
	for isMissing(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	err := tryWrite(dir)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fusefs.Finding{Name: name, Severity: fusefs.Fail, Detail: err.Error(), Mend: "free space on its disk, or name another folder with --state: no save succeeds"}
	case err != nil:
		return fusefs.Finding{Name: name, Severity: fusefs.Fail, Detail: err.Error(), Mend: "make it writable, or name another folder with --state"}
	}
	return withSpace(fusefs.Finding{Name: name, Severity: fusefs.OK, Detail: base + " can be written"}, dir)
}

func tryWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".relayfs-doctor-")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

func examineFolder(name, dir string) fusefs.Finding {
	f := fusefs.Finding{Name: "vault " + name, Severity: fusefs.OK, Detail: dir + " can be read and written"}
	err := system.MayUse(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		f.Severity, f.Detail = fusefs.Fail, dir+" is not there"
		f.Mend = "mount its disk or move it back: nothing counts as deleted, and a mount that runs goes on by itself"
	case errors.Is(err, syscall.EROFS):
		f.Severity, f.Detail, f.Mend = fusefs.Warn, dir+" is on a read-only disk", "mount the disk for writing, or mount the vault with --read-only"
	case err != nil:
		f.Severity, f.Detail, f.Mend = fusefs.Fail, fmt.Sprintf("%s: %v", dir, err), "run as the user whom the vault belongs to, or change its mode"
	default:
		return withSpace(f, dir)
	}
	return f
}

// withSpace returns f, a good finding about dir, unless the disk of dir is almost full.
func withSpace(f fusefs.Finding, dir string) fusefs.Finding {
	free, err := system.FreeSpace(dir)
	switch {
	case err != nil || free >= littleSpace:
		return f
	case free < 4096:
		f.Severity, f.Detail = fusefs.Fail, "the disk of "+dir+" is full"
	default:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("the disk of %s has %d KiB free", dir, free>>10)
	}
	f.Mend = "free space on it: a save for which there is no room fails and changes nothing"
	return f
}

func examineServed(running []owner.Info, sources []source.Source) (findings []fusefs.Finding) {
	for _, info := range running {
		for _, served := range info.Sources {
			name, dir, ok := strings.Cut(served, "=")
			known := slices.ContainsFunc(sources, func(s source.Source) bool { return s.Dir == dir })
			if ok && filepath.IsAbs(dir) && !known {
				findings = append(findings, examineFolder(name, dir))
			}
		}
	}
	return findings
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

func examineServer(ctx context.Context, src source.Source) fusefs.Finding {
	f := fusefs.Finding{Name: "server of " + src.Name}
	key, err := source.ServerKey()
	var found remote.Finding
	if err == nil {
		found, err = remote.Probe(ctx, remote.Options{Address: src.Server.Address, Folder: src.Server.Folder, Key: key})
	}
	switch {
	case err != nil:
		f.Severity, f.Detail, f.Mend = fusefs.Fail, fmt.Sprintf("%s: %v", src.Server.Address, err), transport.Hint(err)
	case found.Entries == 0:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s has nothing under the folder id %q", src.Server.Address, src.Server.Folder)
		f.Mend = "check the folder's id in --folder NAME=ID, unless the folder is new"
	case found.ReadOnly:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s lets this token read only", src.Server.Address)
		f.Mend = "set " + source.TokenVariable + " to a token that may write, if that is wanted"
	default:
		f.Severity, f.Detail = fusefs.OK, fmt.Sprintf("%s answers, with %d entries", src.Server.Address, found.Entries)
	}
	return f
}
