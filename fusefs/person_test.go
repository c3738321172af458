package fusefs_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
)

// agent is a Python process that lives on while a person changes the notes: a
// line on its standard input is a command, its answer is a line.
type agent struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Scanner
}

// agentProgram answers each line with the JSON of the expression it holds.
const agentProgram = `
import sys, os, json, mmap, subprocess
def read(name):
    with open(name, newline='') as f: return f.read()
def write(name, text):
    with open(name, 'w', newline='') as f: f.write(text)
def replace(name, text):
    tmp = name + '.tmp.%d.0123456789ab' % os.getpid()
    write(tmp, text); os.rename(tmp, name)
def over(name, text, flags=os.O_RDWR):
    with open(os.open(name, flags), 'r+' if flags == os.O_RDWR else 'w', newline='') as f: f.write(text); f.truncate()
def onlywrite(name, text): over(name, text, os.O_WRONLY)
def inparts(name, text):
    data = text.encode(); f = os.open(name, os.O_RDWR)
    for i in range(0, len(data), 7): os.write(f, data[i:i+7])
    os.ftruncate(f, len(data)); os.close(f)
def again(name, _):
    with open(name, 'r+', newline='') as f:
        text = f.read().replace('six', 'seven'); f.seek(0); f.write(text); f.truncate()
os.chdir(sys.argv[1]); held = {}
def keep(name, value): held[name] = value
for line in sys.stdin:
    try: answer = eval(line)
    except OSError as e: answer = e.strerror
    print(json.dumps(answer if isinstance(answer, (str, int, float, list)) else None), flush=True)
`

func (m *mounted) agent(t testing.TB, folder string) *agent { return m.start(t, folder, false) }

// session is an agent of a session of its own.
func (m *mounted) session(t testing.TB, folder string) *agent { return m.start(t, folder, true) }

func (m *mounted) start(t testing.TB, folder string, session bool) *agent {
	t.Helper()
	need.Programs(t, "python3")
	cmd := exec.Command("python3", "-c", agentProgram, m.path(folder))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &agent{t, in, bufio.NewScanner(out)}
}

// do evaluates a Python expression and returns its value as JSON.
func (a *agent) do(format string, args ...any) string {
	a.t.Helper()
	if _, err := fmt.Fprintf(a.in, format+"\n", args...); err != nil {
		a.t.Fatal(err)
	}
	done := make(chan bool, 1)
	go func() { done <- a.out.Scan() }()
	select {
	case ok := <-done:
		if !ok {
			a.t.Fatalf("the agent ended at "+format, args...)
		}
	case <-time.After(hangs):
		a.t.Fatalf("the agent hangs at "+format, args...)
	}
	return a.out.Text()
}

// A person writes between an agent's read and its write: both changes are there,
// however the agent writes.
func TestPersonBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"write", "replace", "over", "onlywrite", "inparts", "again"} {
		t.Run(how, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable})
			a := m.agent(t, "F")
			a.do(`keep("text", read("Note.md"))`)
			personal := strings.Replace(tideTable, "quiet", "loud", 1) + "A person's last line.\n"
			m.Person("F/Note.md", personal)
			a.do(`%s("Note.md", held["text"].replace("six", "seven"))`, how)
			want := strings.Replace(personal, "six", "seven", 1)
			m.checkSuggested(t, "F/Note.md", personal, want)
			eventually(t, func() error { return wants("Note.md", m.cat(t, "F/Note.md"), want) })
		})
	}
}

// A program that reads the beginning of a note and writes only that back deletes the rest
// that was there when it opened the note, and nothing that came since.
func TestReadingLessDeletesWhatWasThere(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"write", "replace"} {
		t.Run(how, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": "one\ntwo\nthree\nfour\n"})
			a := m.agent(t, "F")
			a.do(`keep("fd", os.open("Note.md", os.O_RDONLY))`)
			personal := "one\ntwo\nthree\nby a person\nfour\nand at the end\n"
			m.Person("F/Note.md", personal)
			eventually(t, func() error { return wants("Note.md", m.cat(t, "F/Note.md"), personal) })
			checkText(t, "the descriptor", a.do(`os.read(held["fd"], 8).decode()`), `"one\ntwo\n"`)
			a.do(`%s("Note.md", "one\ntwo\n")`, how)
			m.checkSuggested(t, "F/Note.md", personal, "one\ntwo\nby a person\nand at the end\n")
		})
	}
}

// Another process of the same session wrote what the first one read: cat, then
// a heredoc.
func TestPersonBetweenTwoProcesses(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	a := m.agent(t, "F")
	a.do(`keep("text", subprocess.check_output(["cat", "Note.md"]))`)
	personal := "A person's first line.\n" + tideTable
	m.Person("F/Note.md", personal)
	a.do(`subprocess.run(["sh", "-c", "cat > Note.md"], input=held["text"].replace(b"six", b"seven"))`)
	m.checkSuggested(t, "F/Note.md", personal, strings.Replace(personal, "six", "seven", 1))
}

// A line that a user deletes stays deleted, although a program changed it in the text that another process of its
// session had read.
func TestDeletedLineBetweenTwoProcesses(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\ntwo\nthree\n"})
	a := m.agent(t, "F")
	a.do(`keep("text", subprocess.check_output(["cat", "Note.md"]))`)
	m.Person("F/Note.md", "one\nthree\n")
	a.do(`subprocess.run(["sh", "-c", "cat > Note.md"], input=held["text"].replace(b"two", b"two more"))`)
	m.checkSuggested(t, "F/Note.md", "one\nthree\n", "one\n more\nthree\n")
}

// A program that writes what the note said before its own last write means it.
func TestWriteBackAndForth(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\n"})
	a := m.agent(t, "F")
	for _, text := range []string{"two\n", "one\n", "two\n", "one\n"} {
		a.do(`read("Note.md")`)
		a.do(`write("Note.md", %q)`, text)
		checkText(t, "Note.md", m.cat(t, "F/Note.md"), text)
	}
	checkText(t, "source", m.SourceText("F/Note.md"), "one\n")
	for _, text := range []string{"two\n", "one\n", "two\n"} { // a process each, which reads nothing
		m.sh(t, "F", "printf '"+strings.TrimSpace(text)+`\n' > x.tmp; cp x.tmp Note.md`)
		checkText(t, "Note.md", m.cat(t, "F/Note.md"), text)
	}
	m.checkSuggested(t, "F/Note.md", "one\n", "two\n")
}

// While a program that has written holds the note open it sees its own bytes;
// what a person writes meanwhile is merged and seen after.
func TestPersonWhileOpen(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	a := m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "r+b", 0))`)
	a.do(`held["f"].write(b"# TIDE")`)
	personal := tideTable + "A person's last line.\n"
	m.Person("F/Note.md", personal)
	mine := strings.Replace(tideTable, "# Tide", "# TIDE", 1)
	checkText(t, "Note.md while open", m.cat(t, "F/Note.md"), mine)
	a.do(`os.fsync(held["f"].fileno())`)
	checkText(t, "Note.md after fsync", m.cat(t, "F/Note.md"), mine)
	both := mine + "A person's last line.\n"
	m.checkSuggested(t, "F/Note.md", personal, both)

	a.do(`held["f"].seek(%d)`, strings.Index(tideTable, "six"))
	a.do(`held["f"].write(b"SIX")`)
	a.do(`held["f"].close()`)
	both = strings.Replace(both, "six", "SIX", 1)
	m.checkSuggested(t, "F/Note.md", personal, both)
	eventually(t, func() error { return wants("Note.md after close", m.cat(t, "F/Note.md"), both) })
}

// A program appends to a note that grew meanwhile: an append stays one.
func TestAppendAfterPerson(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Log.md": "one\n"})
	a := m.agent(t, "F")
	a.do(`keep("f", open("Log.md", "a"))`)
	a.do(`print("two", file=held["f"], flush=True) or os.fsync(held["f"].fileno())`)
	m.Person("F/Log.md", "zero\none\ntwo\nthree\n")
	a.do(`print("four", file=held["f"], flush=True) or os.fsync(held["f"].fileno())`)
	a.do(`held["f"].close()`)
	want := "zero\none\ntwo\nthree\nfour\n"
	checkText(t, "accepted view", diffwrap.Everything.Accepted(m.SourceText("F/Log.md")), want)
	eventually(t, func() error { return wants("Log.md", m.cat(t, "F/Log.md"), want) })
}

// A change shows on the mount in everything the kernel caches: content, size, time,
// names present and missing, listings. A descriptor goes on with what was opened.
func TestRemoteChangesShow(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\n", "F/Old.md": "old\n", "F/Gone.md": "gone\n", "F/sub/b.md": "b\n"})
	a := m.agent(t, "F")
	a.do(`keep("fd", os.open("Note.md", os.O_RDONLY))`)
	look := `[sorted(os.listdir(".")), read("Note.md"), os.stat("Note.md").st_size, os.pread(held["fd"], 99, 0).decode(), ` +
		`[n for n in ("New.md", "Old.md", "Gone.md", "Renamed.md", "sub/c.md", "sub2/b.md") if os.path.exists(n)]]`
	check := func(want string) {
		t.Helper()
		eventually(t, func() error { return wants("what the agent sees", a.do("%s", look), want) })
	}
	check(`[["Gone.md", "Note.md", "Old.md", "sub"], "one\n", 4, "one\n", ["Old.md", "Gone.md"]]`)
	m.Person("F/Note.md", "one two three\n")
	check(`[["Gone.md", "Note.md", "Old.md", "sub"], "one two three\n", 14, "one\n", ["Old.md", "Gone.md"]]`)
	m.Person("F/Note.md", "1\n")
	check(`[["Gone.md", "Note.md", "Old.md", "sub"], "1\n", 2, "one\n", ["Old.md", "Gone.md"]]`)
	m.Person("F/New.md", "new\n")
	m.Delete("F/Gone.md")
	m.Person("F/sub/c.md", "c\n")
	check(`[["New.md", "Note.md", "Old.md", "sub"], "1\n", 2, "one\n", ["New.md", "Old.md", "sub/c.md"]]`)
	m.Rename("F/Old.md", "F/Renamed.md")
	check(`[["New.md", "Note.md", "Renamed.md", "sub"], "1\n", 2, "one\n", ["New.md", "Renamed.md", "sub/c.md"]]`)
	m.Rename("F/sub", "F/sub2")
	check(`[["New.md", "Note.md", "Renamed.md", "sub2"], "1\n", 2, "one\n", ["New.md", "Renamed.md", "sub2/b.md"]]`)
	m.Delete("F/Note.md")
	checkText(t, "the open descriptor of a removed note", a.do(`os.pread(held["fd"], 99, 0).decode()`), `"one\n"`)
	m.Person("F/Note.md", "another note\n")
	check(`[["New.md", "Note.md", "Renamed.md", "sub2"], "another note\n", 13, "one\n", ["New.md", "Renamed.md", "sub2/b.md"]]`)
}

// The time that a writer sees right after close does not move later; a person's
// change moves it, by a whole millisecond at least.
func TestModTime(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\n"})
	a := m.agent(t, "F")
	for _, how := range []string{"write", "replace"} {
		a.do(`%s("Note.md", "by %s\n")`, how, how)
		after := a.do(`os.stat("Note.md").st_mtime_ns`)
		time.Sleep(1500 * time.Millisecond) // longer than any commit is put off
		checkText(t, "time after a "+how, a.do(`os.stat("Note.md").st_mtime_ns`), after)
		a.do(`%s("Note.md", "by %s\n")`, how, how)
		checkText(t, "time after the same "+how, a.do(`os.stat("Note.md").st_mtime_ns`), after)
	}
	ms := a.do(`os.stat("Note.md").st_mtime_ns // 1000000`)
	m.Person("F/Note.md", "by a person\n")
	eventually(t, func() error {
		if a.do(`os.stat("Note.md").st_mtime_ns // 1000000 > %s`, ms) != "1" && a.do(`int(os.stat("Note.md").st_mtime_ns // 1000000 > %s)`, ms) != "1" {
			return fmt.Errorf("time is still %s ms", ms)
		}
		return nil
	})
	a.do(`os.utime("Note.md", (1000000000, 1000000000))`)
	checkText(t, "time that was set", a.do(`int(os.stat("Note.md").st_mtime)`), "1000000000")
	m.Person("F/Note.md", "by a person again\n")
	eventually(t, func() error {
		if a.do(`int(os.stat("Note.md").st_mtime > 1000000000)`) != "1" {
			return fmt.Errorf("time is still the one that was set")
		}
		return nil
	})
}
