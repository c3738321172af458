package fusefs_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/tests/need"
)

// syscallCase is one system call, or a few, and what comes of them: the case is a
// Python program in a folder of its own with a.md, which holds "hello\n", b.md, and
// sub/c.md. call(f, ...) gives "ok", the value of f, or the name of its error.
type syscallCase struct {
	name, script string
	// want is what a mount answers where that is not what a disk answers, and why
	// says why.
	want, why string
}

// syscallCases go by the chapters of pjdfstest, for what a directory of documents
// claims.
var syscallCases = []syscallCase{
	{name: "open missing", script: `call(os.open, "no.md", os.O_RDONLY)`},
	{name: "open missing folder", script: `call(os.open, "no/a.md", os.O_CREAT | os.O_WRONLY)`},
	{name: "open exclusively", script: `call(os.open, "a.md", os.O_CREAT | os.O_EXCL | os.O_WRONLY)`},
	{name: "open a folder for writing", script: `call(os.open, "sub", os.O_WRONLY)`},
	{name: "open a file as a folder", script: `call(os.open, "a.md", os.O_RDONLY | os.O_DIRECTORY)`},
	{name: "open below a file", script: `call(os.open, "a.md/x", os.O_RDONLY)`},
	{name: "open with a slash", script: `call(os.open, "a.md/", os.O_RDONLY)`},
	{name: "open a long name", script: `call(os.open, "x" * 252 + ".md", os.O_CREAT | os.O_WRONLY); call(os.open, "x" * 253 + ".md", os.O_CREAT | os.O_WRONLY)`,
		want: "ok ENAMETOOLONG"},
	{name: "open a long path", script: `call(os.open, "sub/" * 1100 + "a.md", os.O_RDONLY)`},
	{name: "open for appending", script: `fd = os.open("a.md", os.O_WRONLY | os.O_APPEND); os.lseek(fd, 0, 0); call(os.write, fd, b"more\n"); os.close(fd); text("a.md")`},
	{name: "open truncates", script: `os.close(os.open("a.md", os.O_WRONLY | os.O_TRUNC)); size("a.md")`},
	{name: "open read-only refuses writes", script: `fd = os.open("a.md", os.O_RDONLY); call(os.write, fd, b"x"); call(os.ftruncate, fd, 0)`},
	{name: "open write-only refuses reads", script: `fd = os.open("a.md", os.O_WRONLY); call(os.read, fd, 1)`},
	{name: "open does not follow", script: `call(os.open, "a.md", os.O_RDONLY | os.O_NOFOLLOW)`},
	{name: "open the mode of a new note", script: `os.umask(0o027); os.close(os.open("n.md", os.O_CREAT | os.O_WRONLY, 0o666)); mode("n.md")`},

	{name: "read past the end", script: `fd = os.open("a.md", os.O_RDONLY); call(os.pread, fd, 10, 100); call(os.pread, fd, 10, 4)`},
	{name: "read a folder", script: `fd = os.open("sub", os.O_RDONLY); call(os.read, fd, 1)`},
	{name: "write a hole", script: `fd = os.open("a.md", os.O_RDWR); call(os.pwrite, fd, b"x", 10); call(os.pread, fd, 20, 0); os.close(fd)`},
	{name: "write to a closed descriptor", script: `fd = os.open("a.md", os.O_RDWR); os.close(fd); call(os.write, fd, b"x")`},
	{name: "lseek", script: `fd = os.open("a.md", os.O_RDWR); call(os.lseek, fd, 0, 2); call(os.lseek, fd, -1, 0); call(os.lseek, fd, 100, 0)`},

	{name: "truncate shorter", script: `call(os.truncate, "a.md", 2); text("a.md")`},
	{name: "truncate longer", script: `call(os.truncate, "a.md", 9); text("a.md"); os.truncate("a.md", 6)`},
	{name: "truncate missing", script: `call(os.truncate, "no.md", 0)`},
	{name: "truncate a folder", script: `call(os.truncate, "sub", 0)`},
	{name: "truncate below a file", script: `call(os.truncate, "a.md/x", 0)`},
	{name: "truncate to less than nothing", script: `call(os.truncate, "a.md", -1)`},
	{name: "truncate beyond the largest note", script: `call(os.truncate, "a.md", 1 << 40)`, want: "EFBIG", why: "a note has at most 16 MiB"},
	{name: "ftruncate", script: `fd = os.open("a.md", os.O_RDWR); call(os.ftruncate, fd, 3); call(os.pread, fd, 9, 0); os.close(fd)`},

	{name: "unlink", script: `call(os.unlink, "a.md"); call(os.stat, "a.md"); names(".")`},
	{name: "unlink missing", script: `call(os.unlink, "no.md")`},
	{name: "unlink a folder", script: `call(os.unlink, "sub")`},
	{name: "unlink below a file", script: `call(os.unlink, "a.md/x")`},
	{name: "unlink while open", script: `fd = os.open("a.md", os.O_RDWR); os.unlink("a.md"); call(os.write, fd, b"HE"); call(os.pread, fd, 9, 0); R.append(os.fstat(fd).st_nlink)`},

	{name: "rename", script: `call(os.rename, "a.md", "n.md"); text("n.md"); names(".")`},
	{name: "rename over", script: `call(os.rename, "a.md", "b.md"); text("b.md"); names(".")`},
	{name: "rename onto itself", script: `call(os.rename, "a.md", "a.md"); names(".")`},
	{name: "rename into a folder", script: `call(os.rename, "a.md", "sub/a.md"); names("."); names("sub")`},
	{name: "rename a folder", script: `call(os.rename, "sub", "new"); text("new/c.md"); names(".")`},
	{name: "rename a folder into itself", script: `call(os.rename, "sub", "sub/in")`},
	{name: "rename a file over a folder", script: `call(os.rename, "a.md", "sub")`},
	{name: "rename a folder over a file", script: `call(os.rename, "sub", "a.md")`},
	{name: "rename a folder over a full one", script: `os.mkdir("o"); open("o/x.md", "w").write("x"); call(os.rename, "sub", "o")`},
	{name: "rename a folder over an empty one", script: `os.mkdir("o"); call(os.rename, "sub", "o"); names("o")`},
	{name: "rename missing", script: `call(os.rename, "no.md", "n.md")`},
	{name: "rename to a missing folder", script: `call(os.rename, "a.md", "no/a.md")`},
	{name: "rename to a long name", script: `call(os.rename, "a.md", "x" * 253 + ".md")`},
	{name: "rename while open", script: `fd = os.open("a.md", os.O_RDWR); os.rename("a.md", "n.md"); call(os.write, fd, b"HELLO"); os.close(fd); text("n.md")`},

	{name: "mkdir", script: `call(os.mkdir, "new"); call(os.mkdir, "new"); names("new"); R.append(stat.S_ISDIR(os.stat("new").st_mode))`},
	{name: "mkdir over a file", script: `call(os.mkdir, "a.md")`},
	{name: "mkdir in a missing folder", script: `call(os.mkdir, "no/new")`},
	{name: "mkdir below a file", script: `call(os.mkdir, "a.md/new")`},
	{name: "mkdir a long name", script: `call(os.mkdir, "x" * 256)`},
	{name: "rmdir", script: `os.mkdir("new"); call(os.rmdir, "new"); call(os.stat, "new")`},
	{name: "rmdir a full folder", script: `call(os.rmdir, "sub")`},
	{name: "rmdir a file", script: `call(os.rmdir, "a.md")`},
	{name: "rmdir missing", script: `call(os.rmdir, "no")`},
	{name: "rmdir of .", script: `call(os.rmdir, "sub/.")`},
	{name: "rmdir of ..", script: `call(os.rmdir, "sub/..")`},

	{name: "chmod", script: `call(os.chmod, "a.md", 0o600); mode("a.md"); os.chmod("a.md", 0o4755); mode("a.md")`},
	{name: "chmod missing", script: `call(os.chmod, "no.md", 0o600)`},
	{name: "chmod below a file", script: `call(os.chmod, "a.md/x", 0o600)`},
	{name: "chmod a folder", script: `call(os.chmod, "sub", 0o700); mode("sub")`},
	{name: "chown to oneself", script: `call(os.chown, "a.md", os.getuid(), os.getgid())`},
	{name: "utimensat", script: `call(os.utime, "a.md", ns=(1000000001, 2000000002)); s = os.stat("a.md"); R.append([s.st_atime_ns, s.st_mtime_ns])`},
	{name: "utimensat keeps the content's time until it changes", script: `os.utime("a.md", ns=(1, 1)); open("a.md", "a").write("x\n"); R.append(os.stat("a.md").st_mtime > 1e9)`},
	{name: "utimensat missing", script: `call(os.utime, "no.md")`},
	{name: "utimensat of a folder", script: `call(os.utime, "sub", ns=(5, 7)); R.append(os.stat("sub").st_mtime_ns)`},

	{name: "symlink to a note's name", script: `call(os.symlink, "a.md", "l.md")`, want: "EPERM", why: "a document is no link"},
	{name: "symlink over something", script: `call(os.symlink, "x", "a.md")`, want: "EEXIST"},
	{name: "link", script: `call(os.link, "a.md", "l.md")`, want: "EPERM", why: "a document has one name"},
	{name: "mkfifo", script: `call(os.mkfifo, "p.md")`, want: "EPERM", why: "a document is no device"},
	{name: "mknod", script: `call(os.mknod, "d.md", 0o600 | stat.S_IFCHR, 0)`, want: "EPERM", why: "a document is no device"},
	{name: "readlink of a note", script: `call(os.readlink, "a.md")`},
	{name: "setxattr", script: `call(os.setxattr, "a.md", "user.x", b"1")`, want: "ENOTSUP", why: "extended attributes cost a round trip for each file that ls lists"},
	{name: "fallocate", script: `fd = os.open("a.md", os.O_RDWR); call(os.posix_fallocate, fd, 0, 4); os.close(fd)`},
	{name: "statvfs has room", script: `s = os.statvfs("."); R.append(s.f_bavail > 0 and s.f_favail > 0 and s.f_namemax == 255)`},
	{name: "access", script: `R.append([os.access("a.md", m) for m in (os.R_OK, os.W_OK)]); R.append(os.access("no.md", os.F_OK))`},
	{name: "flock", script: `a = os.open("a.md", os.O_RDWR); b = os.open("a.md", os.O_RDWR); call(fcntl.flock, a, fcntl.LOCK_EX | fcntl.LOCK_NB); call(fcntl.flock, b, fcntl.LOCK_EX | fcntl.LOCK_NB)`},
	{name: "scandir after changes", script: `d = os.scandir("."); os.rename("a.md", "z.md"); call(lambda: sorted(e.name for e in d if e.name in ("b.md", "sub")))`},
}

const syscallProgram = `
import errno, fcntl, json, os, stat, sys
cases, out = json.load(sys.stdin), {}
os.chdir(sys.argv[1]); top = os.getcwd()
def call(f, *a, **k):
    try: v = f(*a, **k)
    except OSError as e: R.append(errno.errorcode.get(e.errno, e.errno)); return
    if f is os.open: os.close(v); v = None
    R.append("ok" if v is None else v.decode("latin-1") if isinstance(v, bytes) else v)
def text(p): R.append(open(p).read())
def size(p): R.append(os.stat(p).st_size)
def mode(p): R.append(oct(os.stat(p).st_mode & 0o7777))
def names(p): R.append(sorted(os.listdir(p)))
for i, script in enumerate(cases):
    os.chdir(top); os.umask(0o022); d = "c%d" % i
    os.mkdir(d); os.chdir(d); os.mkdir("sub"); R = []
    for p, t in (("a.md", "hello\n"), ("b.md", "other\n"), ("sub/c.md", "below\n")):
        with open(p, "w") as f: f.write(t)
    try: exec(script)
    except OSError as e: R.append("failed: %r" % e)
    out[i] = " ".join(str(r) for r in R)
json.dump(out, sys.stdout)
`

// TestSystemCalls makes system calls on a plain folder and on a mount in direct
// mode: values and errors are the same, but where a case says why not.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	m := mount(t, map[string]string{"F/Note.md": tideTable}, direct, func(o *bridge.Options) { o.Mode = bridge.Direct })
	plain, mounted := runSyscallCases(t, t.TempDir()), runSyscallCases(t, m.path("F"))
	for i, c := range syscallCases {
		t.Run(c.name, func(t *testing.T) {
			key := fmt.Sprint(i)
			want := c.want
			if want == "" {
				want = plain[key]
			}
			if mounted[key] != want || want == "" {
				t.Errorf("a mount gives %q, want %q; a disk gives %q", mounted[key], want, plain[key])
			}
		})
	}
}

func runSyscallCases(t *testing.T, dir string) map[string]string {
	t.Helper()
	var scripts []string
	for _, c := range syscallCases {
		scripts = append(scripts, c.script)
	}
	in, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	res := run(t, dir, string(in), "python3", "-c", syscallProgram, dir)
	var out map[string]string
	if err := json.Unmarshal([]byte(res.stdout), &out); err != nil || len(out) != len(syscallCases) {
		t.Fatalf("%d results of %d, %v: %s", len(out), len(syscallCases), err, res.stderr)
	}
	return out
}

// On a read-only mount everything that changes something is EROFS.
func TestSystemCallsReadOnly(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	m := mount(t, map[string]string{"F/a.md": "hello\n", "F/sub/c.md": "x\n"}, readOnly)
	a := m.agent(t, "F")
	for what, call := range map[string]string{
		"open":     `os.open("a.md", os.O_RDWR)`,
		"create":   `os.open("n.md", os.O_CREAT | os.O_WRONLY)`,
		"truncate": `os.truncate("a.md", 0)`,
		"unlink":   `os.unlink("a.md")`,
		"rename":   `os.rename("a.md", "n.md")`,
		"mkdir":    `os.mkdir("n")`,
		"rmdir":    `os.rmdir("sub")`,
		"chmod":    `os.chmod("a.md", 0o600)`,
		"utime":    `os.utime("a.md")`,
		"symlink":  `os.symlink("a.md", "l")`,
		"link":     `os.link("a.md", "l.md")`,
		"mkfifo":   `os.mkfifo("p")`,
	} {
		checkText(t, what, a.do(call), `"Read-only file system"`)
	}
	checkText(t, "a.md", m.cat(t, "F/a.md"), "hello\n")
}
