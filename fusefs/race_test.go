package fusefs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/fusefs"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// racer is a program that saves a note in random ways. Whenever it reads the note, each word must be there that it has
// saved and not removed. It removes only its own words.
const racer = `
import sys, os, json, time, random, errno, subprocess
os.chdir(sys.argv[1]); letter = sys.argv[2]; random.seed(sys.argv[4])
name, words, made, log = "Note.md", [], 0, []

def say(*what): log.append([time.monotonic_ns(), letter, *what])
def end(failure=""):
    json.dump({"words": words, "failure": failure, "log": log}, sys.stdout)
    sys.exit()
def check(text):
    say("sees", text)
    there = set(text.split())
    for word in words:
        if word not in there: end(word + " is missing")
    return text
def readall(fd):
    data = b""
    while part := os.read(fd, 1 << 16): data += part
    return data.decode()
def read():
    fd = os.open(name, os.O_RDONLY)
    text = readall(fd)
    os.close(fd)
    return check(text)
def put(fd, text):
    data, n = text.encode(), random.choice([7, 40, 1 << 20])
    for i in range(0, len(data), n): os.write(fd, data[i:i+n])
def word():
    global made
    made += 1
    return "%s%dz" % (letter, made)
# edit returns the changed text, and the words that the program has after the save.
def edit(text):
    lines, new, own = text.split("\n"), word(), random.choice(words or [""])
    kind, at = random.randrange(6), random.randrange(len(lines))
    if kind < 2 and own: # remove or replace a word
        for i, line in enumerate(lines):
            if own in (there := line.split(" ")):
                there[there.index(own):there.index(own)+1] = [new] * kind
                lines[i:i+1] = [" ".join(there)] if there else []
                return "\n".join(lines), [w for w in words if w != own] + [new] * kind
    if kind == 2 and lines[at]: lines[at] += " " + new
    else: lines.insert(at, new)
    return "\n".join(lines), words + [new]

def append():
    new = word()
    fd = os.open(name, os.O_WRONLY | os.O_APPEND)
    os.write(fd, (new + "\n").encode())
    os.close(fd)
    return words + [new]
def rewrite():
    text, after = edit(read())
    fd = os.open(name, os.O_WRONLY | os.O_TRUNC)
    put(fd, text)
    os.close(fd)
    return after
def shell():
    text, after = edit(read())
    if subprocess.run("cat > " + name, shell=True, input=text.encode(), stderr=subprocess.DEVNULL).returncode:
        raise OSError(errno.EINVAL, "refused")
    return after
def over():
    fd = os.open(name, os.O_RDWR)
    text, after = edit(check(readall(fd)))
    os.lseek(fd, 0, 0)
    put(fd, text)
    os.ftruncate(fd, len(text.encode()))
    os.close(fd)
    return after
def inplace():
    fd = os.open(name, os.O_RDWR)
    text, new = check(readall(fd)), word()
    for own in words:
        if len(own) == len(new) and own in text.split("\n"):
            os.pwrite(fd, new.encode(), len(text[:("\n" + text).index("\n" + own + "\n")].encode()))
            os.close(fd)
            return [w for w in words if w != own] + [new]
    os.pwrite(fd, ("\n" + new + "\n").encode(), len(text.encode()))
    os.close(fd)
    return words + [new]
def rename():
    text, after = edit(read())
    tmp = "%s.tmp.%d.%d" % (name, os.getpid(), len(log))
    fd = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    put(fd, text)
    os.close(fd)
    os.rename(tmp, name)
    return after

for i in range(int(sys.argv[3])):
    way = random.choice([append, rewrite, shell, over, inplace, rename])
    say(way.__name__)
    try: words = way()
    except OSError as e: # EINVAL: another session has changed the same place; EBUSY: a user saves all the time
        if e.errno not in (errno.EINVAL, errno.EBUSY): end("%s: %s" % (way.__name__, e.strerror))
        say("is refused")
    read()
    if random.randrange(3) == 0: time.sleep(random.random() * 0.01)
end()
`

type racing struct {
	Words   []string
	Failure string
	Log     [][]any
}

var racersWord = regexp.MustCompile(`\b[a-z]\d+z\b`)

// TestRacingSessions runs programs of several sessions that save one note at the same time, while a user and an MCP
// client change it, too. Each program always sees its own saves, and in the end the note has all words.
func TestRacingSessions(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	need.Programs(t, "python3")
	randomtest.Check(t, 20, racingSessions)
}

func racingSessions(t testing.TB, r *rand.Rand) {
	m := mountWith(t, map[string]string{"F/Note.md": "first words here\nmore words\n"}, func(o *fusefs.Options) { o.Agents, o.SignAgents = fusefs.DefaultAgents, true })
	var programs []*exec.Cmd
	for _, agent := range []string{"CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI"}[:2+r.IntN(2)] {
		letter := string("abc"[len(programs)])
		cmd := exec.Command("python3", "-c", racer, m.path("F"), letter, "25", fmt.Sprint(r.Uint64()))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = append(os.Environ(), agent+"=1")
		cmd.Stdout, cmd.Stderr = new(bytes.Buffer), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		programs = append(programs, cmd)
	}
	stop, others := make(chan bool), make(chan []string)
	person := rand.New(rand.NewPCG(r.Uint64(), 0))
	go func() { others <- m.changeOften(t, person, stop) }()

	var words []string
	var log [][]any
	for _, cmd := range programs {
		var result racing
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		} else if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &result); err != nil {
			t.Error(err)
		} else if result.Failure != "" {
			t.Error(result.Failure)
		}
		words, log = append(words, result.Words...), append(log, result.Log...)
	}
	close(stop)
	words = append(words, <-others...)

	raw := m.SourceText("F/Note.md")
	count := make(map[string]int)
	for _, word := range racersWord.FindAllString(diffwrap.Everything.Accepted(raw), -1) {
		count[word]++
	}
	for _, word := range words {
		if count[word] != 1 {
			t.Errorf("the note has %q %d times, want once", word, count[word])
		}
		delete(count, word)
	}
	for word := range count {
		t.Errorf("the note has %q, which is not there any more", word)
	}
	if t.Failed() {
		slices.SortFunc(log, func(a, b []any) int { return int(a[0].(float64) - b[0].(float64)) })
		for _, entry := range log {
			t.Logf("%q", entry[1:])
		}
		t.Logf("the vault has %q", raw)
	}
}

// changeOften adds words to the note, as a user and as an MCP client, and returns them.
func (m *mounted) changeOften(t testing.TB, r *rand.Rand, stop <-chan bool) (words []string) {
	insert := func(text, word string) string { // not within a mark, whose line breaks may be another writer's
		lines := strings.SplitAfter(text, "\n")
		for {
			at := r.IntN(len(lines))
			if before := strings.Join(lines[:at], ""); strings.Count(before, "{") == strings.Count(before, "}") {
				return strings.Join(slices.Insert(lines, at, word+"\n"), "")
			}
		}
	}
	for i := range 60 {
		select {
		case <-stop:
			return words
		case <-time.After(time.Duration(r.IntN(50)) * time.Millisecond):
		}
		if i%3 > 0 {
			word := fmt.Sprintf("p%dz", i)
			m.Source("F").Person(t).Edit("Note.md", func(raw string) string { return insert(raw, word) })
			words = append(words, word)
			continue
		}
		v, err := m.Open(t.Context(), "F/Note.md")
		if err != nil {
			t.Error(err)
			continue
		}
		word := fmt.Sprintf("m%dz", i)
		write := bridge.Write{Base: v, Text: insert(v.Text(), word), By: model.Author{Name: "goose", Session: "mcp-1"}}
		if _, err := m.Write(t.Context(), "F/Note.md", write); err == nil {
			words = append(words, word)
		}
	}
	<-stop
	return words
}

// A shell closes a descriptor again after its child has reported that the text could not be saved. That must not save the
// text, even if it could be saved by then.
func TestARefusedSaveIsNotRepeatedByClose(t *testing.T) {
	t.Parallel()
	m := mountWith(t, map[string]string{"F/Note.md": "one\n"})
	v, err := m.Open(t.Context(), "F/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Write(t.Context(), "F/Note.md", bridge.Write{Base: v, Text: "one two three\n", By: model.Author{Name: "goose", Session: "mcp-1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(m.path("F/Note.md")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(m.path("F/Note.md"), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("one tXo three\n"); err != nil {
		t.Fatal(err)
	}
	childs, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Close(childs); err != syscall.EINVAL {
		t.Fatalf("the first close: %v", err)
	}
	list, err := m.Suggestions(t.Context(), "F/Note.md")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if _, err := m.Decide(t.Context(), []string{list[0].ID}, model.Accepted, model.Author{Name: "user"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the second close: %v", err)
	}
	if got := m.SourceText("F/Note.md"); got != "one two three\n" {
		t.Errorf("the vault has %q", got)
	}
}
