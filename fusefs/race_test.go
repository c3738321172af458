package fusefs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
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

// racer is a program that saves a note many times. After each save it reads the note, and checks that each word that it
// has saved and not removed is there. It removes only its own words.
const racer = `
import sys, os, json, time, random
folder, letter, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
random.seed(seed)
os.chdir(folder)
name, words, made, log, misses, reads, exact = "Note.md", [], 0, [], [], 0, 0

def say(*what): log.append([time.monotonic_ns(), letter] + list(what))
def new():
    global made
    made += 1
    return "%s%dz" % (letter, made)
def has(text, word):
    at = text.find(word)
    while at >= 0:
        if at == 0 or not text[at-1].isalnum(): return True
        at = text.find(word, at + 1)
    return False
def missing(text): return [w for w in words if not has(text, w)]
def readall(fd):
    data = b""
    while True:
        part = os.read(fd, 1 << 16)
        if not part: return data.decode()
        data += part
def read():
    try: fd = os.open(name, os.O_RDONLY)
    except OSError as e:
        misses.append(["error", ["read", e.strerror], ""])
        return read()
    text = readall(fd)
    os.close(fd)
    say("read", text)
    return text
def put(fd, text):
    data = text.encode()
    step = random.choice([7, 40, 4096, 1 << 20])
    for i in range(0, len(data), step): os.write(fd, data[i:i+step])
# edit returns the changed text, and the words that the program has after the save.
def edit(text):
    lost = missing(text)
    if lost: misses.append(["before an edit", lost, text])
    lines = text.split("\n")
    have = [w for w in words if w not in lost]
    kind = random.randrange(6)
    if kind == 0 and have:
        w = random.choice(have)
        for i, l in enumerate(lines):
            if l in (w, w + " app", w + " trunc"): del lines[i]; break
            if w in l.split(" "):
                lines[i] = " ".join(x for x in l.split(" ") if x != w); break
        return "\n".join(lines), [x for x in words if x != w]
    if kind == 1 and have:
        w, n = random.choice(have), new()
        for i, l in enumerate(lines):
            if w in l.split(" "):
                lines[i] = " ".join(n if x == w else x for x in l.split(" ")); break
        return "\n".join(lines), [n if x == w else x for x in words]
    n, at = new(), random.randrange(len(lines))
    if kind == 2 and lines[at]: lines[at] += " " + n
    else: lines.insert(at, n + random.choice(["", " app", " trunc"]))
    return "\n".join(lines), words + [n]

def append():
    n = new()
    fd = os.open(name, os.O_WRONLY | os.O_APPEND)
    say("opened to append")
    os.write(fd, (n + " app\n").encode())
    os.close(fd)
    return None, words + [n]
def rewrite():
    text, after = edit(read())
    fd = os.open(name, os.O_WRONLY | os.O_TRUNC)
    say("opened to rewrite", text)
    put(fd, text)
    os.close(fd)
    return text, after
def over():
    fd = os.open(name, os.O_RDWR)
    was = readall(fd)
    say("opened to write over", was)
    text, after = edit(was)
    say("writes", text)
    os.lseek(fd, 0, 0)
    put(fd, text)
    os.ftruncate(fd, len(text.encode()))
    os.close(fd)
    return text, after
def inplace():
    fd = os.open(name, os.O_RDWR)
    was = readall(fd)
    say("opened to write in place", was)
    lost = missing(was)
    if lost: misses.append(["before a write in place", lost, was])
    n = new()
    for w in words:
        at = was.find(w + "\n")
        if len(w) == len(n) and at >= 0 and (at == 0 or was[at-1] == "\n"):
            say("writes", n, "for", w)
            os.pwrite(fd, n.encode(), len(was[:at].encode()))
            os.close(fd)
            return was[:at] + n + was[at+len(w):], [n if x == w else x for x in words]
    end = len(was.encode())
    say("writes", n, "at the end")
    os.pwrite(fd, ("\n" + n + "\n").encode(), end)
    os.close(fd)
    return was + "\n" + n + "\n", words + [n]
def rename():
    text, after = edit(read())
    tmp = "%s.tmp.%d.%d" % (name, os.getpid(), len(log))
    fd = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    put(fd, text)
    os.close(fd)
    say("renames", text)
    os.rename(tmp, name)
    return text, after

refused = 0
for i in range(count):
    way = random.choice([append, rewrite, over, inplace, rename])
    say(way.__name__)
    try:
        saved, words = way()
    except OSError as e:
        say("refused", e.strerror)
        refused += 1
        if e.errno not in (16, 22): misses.append(["error", [way.__name__, e.strerror], ""])
        continue
    say("saved", way.__name__)
    got = read()
    reads += 1
    if saved is None or got == saved: exact += 1
    lost = missing(got)
    if lost:
        misses.append(["after " + way.__name__, lost, got])
        time.sleep(0.7)
        lost = missing(read())
        if lost:
            misses.append(["for good after " + way.__name__, lost, ""])
            words = [w for w in words if w not in lost]
    if random.randrange(3) == 0: time.sleep(random.random() * 0.01)
json.dump({"words": words, "misses": misses, "log": log, "reads": reads, "exact": exact, "refused": refused}, sys.stdout)
`

type racerResult struct {
	Words                 []string
	Misses                [][]any
	Log                   [][]any
	Reads, Exact, Refused int
}

var raceStats struct{ saves, exact, misses, refused, bad int }

func TestRacingSessions(t *testing.T) {
	need.Programs(t, "python3")
	randomtest.Check(t, 20, racingRound)
	t.Logf("%+v", raceStats)
}

var raceWord = regexp.MustCompile(`\b[a-z]\d+z\b`)

func racingRound(t testing.TB, r *rand.Rand) {
	m := mountWith(t, map[string]string{"F/Note.md": "base1 words here\nmore words\n"}, func(o *fusefs.Options) { o.SignAgents = true })
	saves := 25
	failed := false
	bad := func(format string, args ...any) {
		failed = true
		raceStats.bad++
		if os.Getenv("RACE_MEASURE") != "" {
			fmt.Printf(format+"\n", args...)
			return
		}
		t.Errorf(format, args...)
	}
	var cmds []*exec.Cmd
	var outs []*bytes.Buffer
	letters := "ab"
	if r.IntN(3) == 0 {
		letters = "abc"
	}
	for i, letter := range letters {
		cmd := exec.Command("python3", "-c", racer, m.path("F"), string(letter), fmt.Sprint(saves), fmt.Sprint(r.IntN(1<<30)))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = append(os.Environ(), []string{"CLAUDECODE=1", "CODEX_SANDBOX=1", "GEMINI_CLI=1"}[i])
		out := new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	done := make(chan bool)
	type personal struct {
		words []string
		log   [][]any
	}
	people := make(chan personal)
	pr := rand.New(rand.NewPCG(r.Uint64(), 0))
	withMCP := r.IntN(2) == 0
	go func() {
		var p personal
		made := 0
		for {
			select {
			case <-done:
				people <- p
				return
			case <-time.After(time.Duration(pr.IntN(50)) * time.Millisecond):
			}
			if made++; made > 60 {
				continue
			}
			if withMCP && pr.IntN(2) == 0 {
				v, err := m.Open(t.Context(), "F/Note.md")
				if err != nil {
					t.Error(err)
					continue
				}
				word := fmt.Sprintf("m%dz", made)
				lines := strings.Split(v.Text(), "\n")
				text := strings.Join(slices.Insert(lines, pr.IntN(len(lines)), word), "\n")
				if _, err := m.Write(t.Context(), "F/Note.md", bridge.Write{Base: v, Text: text, By: model.Author{Name: "goose", Session: "mcp-1"}}); err == nil {
					p.words = append(p.words, word)
				}
				continue
			}
			word := fmt.Sprintf("p%dz", made)
			m.Source("F").Person(t).Edit("Note.md", func(raw string) string {
				lines := strings.Split(raw, "\n")
				at := pr.IntN(len(lines))
				return strings.Join(slices.Insert(lines, at, word), "\n")
			})
			p.words = append(p.words, word)
		}
	}()
	var all []string
	var log [][]any
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		var res racerResult
		if err := json.NewDecoder(bufio.NewReader(outs[i])).Decode(&res); err != nil {
			t.Fatal(err)
		}
		raceStats.saves += res.Reads
		raceStats.exact += res.Exact
		raceStats.refused += res.Refused
		raceStats.misses += len(res.Misses)
		for _, miss := range res.Misses {
			bad("%c: %v", letters[i], miss)
		}
		all = append(all, res.Words...)
		log = append(log, res.Log...)
	}
	close(done)
	p := <-people
	all = append(all, p.words...)
	m.Person("F/Other.md", "settled\n")
	raw := m.SourceText("F/Note.md")
	count := make(map[string]int)
	for _, word := range raceWord.FindAllString(diffwrap.Everything.Accepted(raw), -1) {
		count[word]++
	}
	for _, word := range all {
		if count[word] != 1 {
			bad("the note has %q %d times", word, count[word])
		}
		delete(count, word)
	}
	for word, n := range count {
		bad("the note has %q %d times, want 0", word, n)
	}
	if t.Failed() || failed {
		slices.SortFunc(log, func(a, b []any) int { return int(a[0].(float64) - b[0].(float64)) })
		var b strings.Builder
		for _, l := range log {
			fmt.Fprintf(&b, "%.0f %q\n", l[0], l[1:])
		}
		name := fmt.Sprintf("%s/race-%d.log", os.TempDir(), time.Now().UnixNano())
		os.WriteFile(name, []byte(b.String()+"\nraw:\n"+raw), 0o644)
		fmt.Printf("log in %s\n", name)
	}
}
