package fusefs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

const allowConfig = "/etc/fuse.conf"

// Diagnose checks everything that mounting depends on. It changes nothing. Its only request to a mounted relayfs asks
// whether the server is alive.
func Diagnose() []Finding {
	return []Finding{
		finding("/dev/fuse", "can be opened", Fail, checkDevice()),
		finding("capability to mount", "is available", Fail, checkPrivilege(ownStatus)),
		diagnoseHelper(),
		diagnosePrivileges(ownStatus),
		diagnoseAllowOther(allowConfig),
		diagnoseDeadMounts(),
	}
}

// diagnoseHelper looks for fusermount3, which all users except root need.
func diagnoseHelper() Finding {
	needed := Fail
	if os.Geteuid() == 0 {
		needed = Warn
	}
	const install = "install the package fuse3 (apt install fuse3, dnf install fuse3)"
	path, err := exec.LookPath(helper)
	if err != nil {
		return Finding{helper, needed, "is not in PATH; users other than root need it to mount", install}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Finding{helper, needed, err.Error(), install}
	case info.Mode()&fs.ModeSetuid == 0:
		return Finding{helper, needed, path + " is not setuid root; users other than root need it to mount", "chown root " + path + " && chmod u+s " + path}
	}
	return Finding{Name: helper, Severity: OK, Detail: path}
}

// diagnosePrivileges reports a restriction under which setuid programs, such as fusermount3, gain no privileges:
// systemd's NoNewPrivileges, or no-new-privileges of containers.
func diagnosePrivileges(status string) Finding {
	const name = "new privileges"
	text, err := os.ReadFile(status)
	switch {
	case err != nil:
		return Finding{Name: name, Severity: Warn, Detail: err.Error()}
	case !bytes.Contains(text, []byte("NoNewPrivs:\t1")):
		return Finding{Name: name, Severity: OK, Detail: "setuid programs work"}
	case os.Geteuid() == 0:
		return Finding{Name: name, Severity: OK, Detail: "not allowed; root does not need them to mount"}
	}
	return Finding{
		name, Fail, "not allowed for this process (no_new_privs), so " + helper + " cannot mount",
		"set NoNewPrivileges=no in the systemd unit, or start the container without --security-opt no-new-privileges",
	}
}

func diagnoseAllowOther(conf string) Finding {
	detail := "user_allow_other is set in " + conf
	if os.Geteuid() == 0 {
		detail = "root may use allow-other"
	}
	return finding("allow other users", detail, Warn, checkAllowOther(conf))
}

func checkAllowOther(conf string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	text, err := os.ReadFile(conf)
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "user_allow_other" {
			return nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &SetupError{
		Problem: "allow-other is refused: there is no user_allow_other in " + conf,
		Hint:    "add a line user_allow_other to " + conf + " to let other users use your mounts", Err: err,
	}
}

func diagnoseDeadMounts() Finding {
	const name = "mounts"
	mounts, err := mountTable()
	if err != nil {
		return Finding{Name: name, Severity: Warn, Detail: err.Error()}
	}
	var wrong, mends []string
	mounts = slices.DeleteFunc(mounts, func(m mountEntry) bool { return m.fstype != mountType })
	for _, m := range mounts {
		if m.isServerKilled() {
			wrong = append(wrong, "server killed, programs that use the mount hang: "+m.dir)
			mends = append(mends, "relayfs unmount "+m.dir)
			continue
		}
		switch err := probe(m.dir); {
		case errors.Is(err, syscall.ENOTCONN):
			wrong = append(wrong, "dead: "+m.dir)
			mends = append(mends, "relayfs unmount "+m.dir)
		case errors.Is(err, os.ErrDeadlineExceeded):
			wrong = append(wrong, "no answer from: "+m.dir)
			mends = append(mends, "continue the process that serves "+m.dir+" if it is stopped (Ctrl-Z)")
		}
	}
	if len(wrong) > 0 {
		return Finding{name, Warn, strings.Join(wrong, ", "), strings.Join(mends, "; ")}
	}
	return Finding{Name: name, Severity: OK, Detail: fmt.Sprintf("%d relayfs mounts, none dead", len(mounts))}
}
