//go:build !windows

package fusefs

import "path/filepath"

// fsName is the mount's source.
const fsName = "relayfs"

// mountEntry is one line of the kernel's table of mounts.
type mountEntry struct {
	fstype string
	minor  string // device number, which for FUSE is the connection's name
}

// mountedAt returns the type of the file system mounted at dir, "" if none is.
// It asks the kernel's table and never touches dir, which may be a dead mount.
func mountedAt(dir string) (fstype string, err error) {
	m, err := mountOf(dir)
	return m.fstype, err
}

// realDir resolves the symbolic links of dir's parent, but not dir itself.
func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(dir)), nil
}
