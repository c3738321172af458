// Package doctor checks the requirements for mounting: the system, the configuration, the state folder and its stores,
// the vaults and the servers. Examine returns a Report with a finding per check: ok, warn or fail. Most findings that
// are not ok include a fix. A Report also lists the processes that serve vaults, and the values of the settings.
// Callers pass the errors of the configuration that 'relayfs mount' itself would find, so that both commands agree. A
// running owner checks the stores that it has open; this process checks the other stores of the sources. Examine
// changes nothing, except that it writes and removes a test file in the state folder. If that folder is missing, the
// test file is in its nearest parent that exists.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

type Report struct {
	Findings []fusefs.Finding `json:"findings"`
	Running  []owner.Info     `json:"running"`
	Values   []config.Value   `json:"values"`
}

type Options struct {
	Sources  []source.Source
	Only     bool           // report only processes that serve the sources
	Audience string         // audience of tokens made by relayfs; "" for the server's address
	Base     string         // state folder
	Version  string         // version of this program
	Author   string         // default author of suggestions
	Values   []config.Value // settings
	Config   []error        // errors that prevent a mount
	Suspect  []error        // warnings
}

func Examine(ctx context.Context, o Options) *Report {
	r := &Report{Findings: append(examineConfig(o.Config, fusefs.Fail), examineConfig(o.Suspect, fusefs.Warn)...), Running: []owner.Info{}}
	base := o.Base
	r.Findings = append(append(r.Findings, fusefs.Diagnose()...), examineState(base))
	for _, src := range o.Sources {
		if src.Server != nil {
			r.Findings = append(r.Findings, examineServer(ctx, src, o.Audience, base)...)
			continue
		}
		r.Findings = append(r.Findings, examineFolder(src.Name, src.Dir))
		r.Findings = append(r.Findings, examineVault(src)...)
		if shared := src.PluginShares(); len(shared) > 0 {
			r.Findings = append(r.Findings, finding("Relay in "+src.Name, fusefs.Warn, source.PluginWarning(shared), source.PluginHint))
		}
	}
	running, err := owner.Running(source.VaultsDir(base))
	switch {
	case err != nil: // examineState reports this error
	case o.Only:
		r.Running = append(r.Running, ownersOf(running, base, o.Sources)...)
	default:
		r.Running = append(r.Running, running...)
		r.Findings = append(r.Findings, examineServed(running, o.Sources)...)
	}
	r.Running = slices.DeleteFunc(r.Running, func(info owner.Info) bool {
		err := owner.NewClient(info).Alive(ctx)
		_, ended := errors.AsType[*owner.EndedError](err)
		if err != nil && !ended {
			r.Findings = append(r.Findings, finding("running", fusefs.Fail, cli.Text(err), ""))
		}
		return ended
	})
	r.Findings = append(r.Findings, examineStores(ctx, r.Running, o.Sources, base)...)
	self, _ := os.Executable() // "" if unknown
	r.Values = append([]config.Value{
		{Name: "program", Value: self}, {Name: "version", Value: o.Version}, {Name: "state", Value: base}, {Name: "author", Value: o.Author},
	}, o.Values...)
	return r
}

func examineConfig(errs []error, severity fusefs.Severity) (findings []fusefs.Finding) {
	for _, err := range errs {
		f := finding("configuration", severity, cli.Text(err), "correct it, or remove it")
		if hint, ok := errors.AsType[*cli.HintError](err); ok {
			f.Fix = hint.Hint
		}
		if setup, ok := errors.AsType[*fusefs.SetupError](err); ok {
			f.Fix = setup.Hint
		}
		findings = append(findings, f)
	}
	return findings
}

func ownersOf(owners []owner.Info, base string, sources []source.Source) []owner.Info {
	return slices.DeleteFunc(owners, func(info owner.Info) bool {
		return !slices.ContainsFunc(sources, func(src source.Source) bool {
			last, err := owner.Read(src.State(base))
			return err == nil && last.Socket == info.Socket
		})
	})
}

// examineVault checks the names in a vault, and compares the number of its folders with the user's limit of watches,
// because each folder needs a watch.
func examineVault(src source.Source) (list []fusefs.Finding) {
	name := "watches of " + src.Name
	folders, misnamed, err := walkVault(src.Dir)
	if err != nil {
		return append(list, finding(name, fusefs.Warn, cli.Text(err), "make the vault readable"))
	}
	if len(misnamed) > 0 {
		list = append(list, finding("names in "+src.Name, fusefs.Warn, "not shown, because their names are not UTF-8: "+strings.Join(misnamed, ", "), "rename them in the vault"))
	}
	return append(list, examineWatches(name, folders))
}

func examineWatches(name string, folders int) fusefs.Finding {
	const limitFile = "/proc/sys/fs/inotify/max_user_watches"
	text, err := os.ReadFile(limitFile)
	if err != nil {
		return finding(name, fusefs.Warn, cli.Text(err), "")
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return finding(name, fusefs.Warn, limitFile+": "+cli.Text(err), "")
	}
	if folders > limit/2 {
		return finding(name, fusefs.Warn, fmt.Sprintf("%d folders, and %d watches for all programs: changes by other programs may appear seconds late", folders, limit),
			fmt.Sprintf("sysctl fs.inotify.max_user_watches=%d", 4*folders))
	}
	return finding(name, fusefs.OK, fmt.Sprintf("%d folders, %d watches allowed", folders, limit), "")
}

func finding(name string, severity fusefs.Severity, detail, mend string) fusefs.Finding {
	return fusefs.Finding{Name: name, Severity: severity, Detail: detail, Fix: mend}
}

// walkVault counts the folders of a vault, and returns the quoted paths whose names are not UTF-8.
func walkVault(dir string) (n int, misnamed []string, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !utf8.ValidString(d.Name()) {
			misnamed = append(misnamed, strconv.Quote(strings.TrimPrefix(p, dir+"/")))
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // relayfs does not serve this folder
		case d.IsDir():
			n++
		}
		return nil
	})
	return n, misnamed, err
}

func (r *Report) Verdict() error {
	if slices.ContainsFunc(r.Findings, func(f fusefs.Finding) bool { return f.Severity == fusefs.Fail }) {
		return errors.New("a requirement for mounting is not met: see the lines that begin with fail")
	}
	return nil
}

func Print(w io.Writer, r *Report) {
	for _, f := range r.Findings {
		cli.Line(w, "%-4s  %s: %s", f.Severity, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(w, "      fix: %s\n", cli.IndentRest(f.Fix))
		}
	}
	for _, info := range r.Running {
		cli.Line(w, "      running: %v", info)
	}
	for _, v := range r.Values {
		cli.Line(w, "      %s: %s", v.Name, v.Value)
	}
}

const minFreeSpace = model.MaxNote

// examineState writes a test file to the state folder. If that folder is missing, it uses the nearest existing parent.
func examineState(base string) fusefs.Finding {
	const name = "state folder"
	dir := base
	for isMissing(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	err := tryWrite(dir)
	switch {
	case model.IsFull(err):
		return finding(name, fusefs.Fail, cli.Text(err), "free space on its disk, or set RELAYFS_STATE to another folder: saves will fail when the log's reserved space is used up")
	case err != nil:
		return finding(name, fusefs.Fail, cli.Text(err), "make it writable, or set RELAYFS_STATE to another folder")
	}
	return withSpace(name, base+" can be written", dir)
}

func tryWrite(dir string) error {
	const name = ".relayfs-doctor"
	folder := owner.Folder(dir)
	err := folder.Replace(name, make([]byte, 4096))
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%q cannot be written: %w", dir, e.Err) // without the name of the test file
	}
	if err != nil {
		return err
	}
	return folder.Remove(name)
}

func examineFolder(name, dir string) fusefs.Finding {
	name = "vault " + name
	err := process.CheckAccess(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return finding(name, fusefs.Fail, dir+" is missing", "mount its disk or move the vault back: relayfs deletes nothing, and a running mount continues on its own")
	case errors.Is(err, syscall.EROFS):
		return finding(name, fusefs.Warn, dir+" is on a read-only disk", "mount the disk for writing, or mount the vault with --read-only")
	case err != nil:
		return finding(name, fusefs.Fail, fmt.Sprintf("%s: %v", dir, err), "run relayfs as the owner of the vault, or change the mode of the folder")
	}
	return withSpace(name, dir+" can be read and written", dir)
}

// withSpace returns an OK finding. If the disk of dir is full or almost full, it returns a failure or a warning
// instead.
func withSpace(name, detail, dir string) fusefs.Finding {
	const mend = "free space on it: otherwise saves fail and change nothing"
	free, err := process.FreeSpace(dir)
	switch {
	case err != nil || free >= minFreeSpace:
		return finding(name, fusefs.OK, detail, "")
	case free < 4096:
		return finding(name, fusefs.Fail, "the disk of "+dir+" is full", mend)
	}
	return finding(name, fusefs.Warn, fmt.Sprintf("the disk of %s has %d KiB free", dir, free>>10), mend)
}

func examineServed(running []owner.Info, sources []source.Source) (findings []fusefs.Finding) {
	for _, info := range running {
		for _, served := range info.Sources {
			name, dir := source.Split(served)
			if dir != "" && !slices.ContainsFunc(sources, func(s source.Source) bool { return s.Dir == dir }) {
				findings = append(findings, examineFolder(name, dir))
			}
		}
	}
	return findings
}

// examineStores verifies stores. A running owner verifies the stores that it has open, and this process verifies the
// other stores of the sources.
func examineStores(ctx context.Context, running []owner.Info, sources []source.Source, base string) (findings []fusefs.Finding) {
	found := make(map[string]string) // the problem by location, or "" if there is none
	for _, info := range running {
		if err := owner.NewClient(info).Get(ctx, owner.CheckPath, nil, &found); err != nil {
			findings = append(findings, finding("data of relayfs", fusefs.Warn, cli.Text(err), ""))
		}
	}
	for _, src := range sources {
		path := filepath.Join(src.State(base), "store")
		if _, ok := found[src.Place()]; ok || isMissing(path) {
			continue
		}
		if err := store.Check(path); err != nil && !errors.Is(err, store.ErrLocked) {
			found[src.Place()] = cli.Text(err)
		} else if err == nil {
			found[src.Place()] = ""
		}
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if text := found[place]; text != "" {
			findings = append(findings, finding("data for "+place, fusefs.Fail, text, ""))
		} else {
			findings = append(findings, finding("data for "+place, fusefs.OK, "can be read completely", ""))
		}
	}
	return findings
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

func examineServer(ctx context.Context, src source.Source, audience, base string) []fusefs.Finding {
	name := "server of " + src.Name
	address := src.Server.Address
	address.Audience = audience
	o := remote.Options{Address: address, Folder: src.Server.Folder}
	var found remote.Finding
	var err error
	o.Tokens, o.Key, err = src.Server.Access(base)
	if err == nil {
		found, err = remote.Probe(ctx, o)
	}
	var f fusefs.Finding
	switch {
	case errors.Is(err, transport.ErrWouldCreate):
		f = finding(name, fusefs.Warn, fmt.Sprintf("%s accepts the token: %v", address, err), transport.Hint(err))
	case errors.Is(err, transport.ErrUntried):
		f = finding(name, fusefs.Warn, fmt.Sprintf("%s: %v", address, err), transport.Hint(err))
	case err != nil:
		f = finding(name, fusefs.Fail, fmt.Sprintf("%s: %v", address, err), transport.Hint(err))
	case found.Entries == 0:
		f = finding(name, fusefs.Warn, fmt.Sprintf("%s has no entries in the folder %q", address, src.Server.Folder), "check the folder's ID in #NAME=ID, unless the folder is new")
	case found.ReadOnly:
		f = finding(name, fusefs.Warn, fmt.Sprintf("%s allows this token only to read", address), address.WriteHint())
	default:
		f = finding(name, fusefs.OK, fmt.Sprintf("%s answers, with %d entries", address, found.Entries), "")
	}
	findings := []fusefs.Finding{f}
	if found.Warnings != nil {
		findings = append(findings, finding("token of "+src.Name, fusefs.Warn, found.Warnings.Error(), transport.Hint(found.Warnings)))
	}
	if len(found.Withheld) > 0 {
		findings = append(findings, finding("files of "+src.Name, fusefs.Warn, fmt.Sprintf("not shown: %q: %v", found.Withheld, found.Reason), transport.Hint(found.Reason)))
	}
	return findings
}
