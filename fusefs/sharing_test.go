package fusefs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// The law of a note that several sessions write at the same time:
//
//   - What a program has read is the text that its descriptor returned. What it changes is the difference between that
//     text and the text that it writes. A program that appends changes only the end.
//   - A save takes effect when close, fsync or rename returns. The note then has every change of every save once: added
//     words are there once, deleted words are not there, and all other words are untouched. Sessions that delete the same
//     words delete them once. Sessions that add equal words add them twice. The line breaks are as each session wrote
//     them, except where one session deletes a line that another one replaces.
//   - Each added word is a suggestion of the session that wrote it, and no save fails because of another session.
//   - A descriptor returns the same text as long as its own session does not write. A descriptor that is open for writing
//     belongs to the note, also after another session has saved the note by rename.

// sharingAgents are processes that the test only names as callers: for each agent, the processes that it has started.
func sharingAgents(t testing.TB) map[string][]uint32 {
	t.Helper()
	need.Programs(t, "sh", "sleep")
	agents := make(map[string][]uint32)
	dir := t.TempDir()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex", "goose"} {
		if err := os.Symlink(sh, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(dir, name), "-c", `for i in 1 2 3 4; do sleep 3600 & echo $!; done; echo; wait`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
		for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != ""; {
			pid, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			agents[name] = append(agents[name], uint32(pid))
		}
	}
	return agents
}

// sharedKernel is what the kernel has in its caches, and what it does with answers.
type sharedKernel struct {
	tr       *tree
	dir      *Dir
	entries  map[string]*gofs.Inode
	sizes    map[*gofs.Inode]int64
	releases []func()
}

// settle carries out some of what the kernel does later than the calls that cause it.
func (k *sharedKernel) settle(share func() bool) {
	for range len(k.releases) {
		if share() {
			k.releases[0]()
			k.releases = k.releases[1:]
		}
	}
	for share() {
		s, ok, _ := k.tr.inval.next()
		switch {
		case !ok:
			return
		case s.name == "":
			delete(k.sizes, s.inode)
		case s.inode == k.dir.EmbeddedInode():
			delete(k.entries, s.name)
		}
	}
}

// sharedProcess is a process that makes system calls. Others run when it pauses, which it does before each request.
type sharedProcess struct {
	k   *sharedKernel
	ctx context.Context
	// sibling is the context of another process of the agent, which reads nothing.
	sibling context.Context
	name    string
	agent   string
	pause   func()
	failed  func(format string, args ...any)

	// A program may not change what another agent suggests. If two agents change the same place, the second may be refused.
	mayBeRefused func() bool
	refused      func() // takes back what the model has of the save
}

type sharedFD struct {
	p       *sharedProcess
	h       *Handle
	inode   *gofs.Inode
	pos     int64
	appends bool
}

func (p *sharedProcess) lookup(name string) (*gofs.Inode, syscall.Errno) {
	p.pause()
	var out fuse.EntryOut
	inode, errno := p.k.dir.Lookup(p.ctx, name, &out)
	if errno == 0 {
		p.k.entries[name], p.k.sizes[inode] = inode, int64(out.Size)
	} else {
		delete(p.k.entries, name)
	}
	return inode, errno
}

func (p *sharedProcess) open(name string, flags uint32) *sharedFD {
	inode := p.k.entries[name]
	for try := 0; ; try++ {
		errno := syscall.Errno(0)
		if inode == nil || try > 0 {
			inode, errno = p.lookup(name)
		}
		p.pause()
		var h gofs.FileHandle
		switch {
		case errno == syscall.ENOENT && flags&syscall.O_CREAT != 0:
			var out fuse.EntryOut
			if inode, h, _, errno = p.k.dir.Create(p.ctx, name, flags, 0o644, &out); errno == 0 {
				p.k.entries[name], p.k.sizes[inode] = inode, int64(out.Size)
			}
		case errno == 0:
			f := inode.Operations().(*File)
			f.update(func(s *fileState) { s.pagesStored = true }) // there is no kernel to give pages to
			if h, _, errno = f.Open(p.ctx, flags&^syscall.O_CREAT); errno == 0 && flags&syscall.O_TRUNC != 0 {
				p.k.sizes[inode] = 0
			}
		}
		if errno == syscall.ESTALE && try == 0 {
			continue
		}
		if errno != 0 {
			p.failed("open %s with flags %#x: %v", name, flags, errno)
			return nil
		}
		return &sharedFD{p: p, h: h.(*Handle), inode: inode, appends: flags&syscall.O_APPEND != 0}
	}
}

func (d *sharedFD) size() int64 {
	if _, ok := d.p.k.sizes[d.inode]; !ok {
		var out fuse.AttrOut
		if errno := d.h.f.Getattr(d.p.ctx, nil, &out); errno != 0 {
			d.p.failed("getattr: %v", errno)
		}
		d.p.k.sizes[d.inode] = int64(out.Size)
	}
	return d.p.k.sizes[d.inode]
}

func (d *sharedFD) read() string {
	var text []byte
	for {
		d.p.pause()
		buf := make([]byte, 40)
		res, errno := d.h.Read(d.p.ctx, buf, int64(len(text)))
		if errno != 0 {
			d.p.failed("read: %v", errno)
			return ""
		}
		part, _ := res.Bytes(nil)
		if len(part) == 0 {
			return string(text)
		}
		text = append(text, part...)
	}
}

func (d *sharedFD) write(text string) {
	d.p.pause()
	if text == "" {
		return // the kernel sends no request
	}
	if d.appends {
		d.pos = d.size()
	}
	if _, errno := d.h.Write(d.p.ctx, []byte(text), d.pos); errno != 0 {
		d.p.failed("write: %v", errno)
	}
	d.pos += int64(len(text))
	d.p.k.sizes[d.inode] = max(d.size(), d.pos)
}

func (d *sharedFD) truncate(size int64) {
	d.p.pause()
	in := &fuse.SetAttrIn{}
	in.Valid, in.Size = fuse.FATTR_SIZE|fuse.FATTR_FH, uint64(size)
	if errno := d.h.f.Setattr(d.p.ctx, d.h, in, new(fuse.AttrOut)); errno != 0 {
		d.p.failed("ftruncate: %v", errno)
	}
	d.p.k.sizes[d.inode] = size
}

func (d *sharedFD) fsync() {
	d.p.pause()
	if errno := d.h.Fsync(d.p.ctx, 0); errno != 0 {
		d.p.saveFailed("fsync", errno, d)
	}
}

func (d *sharedFD) close() {
	d.p.pause()
	if d.h.writes {
		if errno := d.h.Flush(d.p.ctx); errno != 0 {
			d.p.saveFailed("close", errno, d)
		}
	}
	d.release()
}

// saveFailed ends the program.
func (p *sharedProcess) saveFailed(call string, errno syscall.Errno, d *sharedFD) {
	if errno != syscall.EINVAL || p.refused == nil || !p.mayBeRefused() {
		p.failed("%s: %v", call, errno)
	}
	p.refused()
	if d != nil {
		d.release()
	}
	panic(errEnded)
}

func (d *sharedFD) release() {
	d.p.k.releases = append(d.p.k.releases, func() { d.h.Release(context.Background()) })
}

func (p *sharedProcess) rename(from, to string) {
	p.pause()
	if errno := p.k.dir.Rename(p.ctx, from, p.k.dir, to, 0); errno != 0 {
		p.saveFailed("rename", errno, nil)
	}
	p.k.entries[to] = p.k.entries[from]
	delete(p.k.entries, from)
}

// sharedNote is what the note must become.
type sharedNote struct {
	r       *rand.Rand
	words   int
	by      map[string]string          // the author of each word, "" for the user
	deleted map[string]map[string]bool // the agents that have deleted a word
	touched map[string]map[string]bool // the agents that have changed something at a word
	log     []string
}

var sharedWord = regexp.MustCompile(`[a-z]\d+[a-z]`)

func (n *sharedNote) word(author string) string {
	n.words++
	word := fmt.Sprintf("%c%d%c", 'a'+n.r.IntN(26), n.words, 'a'+n.r.IntN(26))
	n.by[word] = author
	return word
}

// edit changes a text that p has read.
func (n *sharedNote) edit(p *sharedProcess, text string) string {
	n.checkOwn(p, text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	before := strings.Fields(text + " .")
	at := n.r.IntN(len(lines) + 1)
	author := func(i int) string { return n.by[strings.TrimSpace(lines[i])] }
	for at > 0 && at < len(lines) && author(at) == author(at-1) && author(at) != "" && author(at) != p.agent {
		at-- // a program may not change what another agent suggests
	}
	word := ""
	if at < len(lines) {
		word = strings.TrimSpace(lines[at])
	}
	kind := n.r.IntN(4)
	if by, ok := n.by[word]; !ok || by != "" && by != p.agent || len(lines) == 1 { // an empty note is saved later
		kind = 0
	}
	isDeleted := kind > 1 && !n.deleted[word][p.agent]
	if isDeleted {
		if n.deleted[word] == nil {
			n.deleted[word] = make(map[string]bool)
		}
		n.deleted[word][p.agent] = true
	}
	added := ""
	switch kind {
	case 0, 1:
		added = n.word(p.agent)
		lines = slices.Insert(lines, at, added+"\n")
	case 2:
		added = n.word(p.agent)
		lines[at] = added + "\n"
	case 3:
		lines = slices.Delete(lines, at, at+1)
	}
	for i := max(at-1, 0); i <= at && i < len(before); i++ {
		n.touch(before[i], p.agent)
	}
	p.mayBeRefused = func() bool {
		return kind == 3 || slices.ContainsFunc(before[max(at-1, 0):min(at+2, len(before))], func(word string) bool {
			by := n.by[word]
			return by != "" && by != p.agent || len(n.touched[word]) > 1 || len(n.touched[word]) == 1 && !n.touched[word][p.agent]
		})
	}
	p.refused = func() {
		delete(n.by, added)
		if isDeleted {
			if delete(n.deleted[word], p.agent); len(n.deleted[word]) == 0 {
				delete(n.deleted, word)
			}
		}
	}
	n.say(p, "%d at %d of %q: %q", kind, at, text, added)
	return strings.Join(lines, "")
}

// checkOwn checks that p sees what its session has saved.
func (n *sharedNote) checkOwn(p *sharedProcess, text string) {
	for word, by := range n.by {
		if by == p.agent && n.deleted[word] == nil && !strings.Contains(text, word) {
			p.failed("%q, which its session has saved, is not in %q", word, text)
		}
	}
}

func (n *sharedNote) touch(word, agent string) {
	if n.touched[word] == nil {
		n.touched[word] = make(map[string]bool)
	}
	n.touched[word][agent] = true
}

func (n *sharedNote) say(p *sharedProcess, format string, args ...any) {
	n.log = append(n.log, p.name+" "+fmt.Sprintf(format, args...))
}

const sharedName = "Note.md"

// sharedPrograms are the ways to change the note.
var sharedPrograms = map[string]func(n *sharedNote, p *sharedProcess){
	"append": func(n *sharedNote, p *sharedProcess) {
		fd := p.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT)
		for range 1 + n.r.IntN(3) {
			word := n.word(p.agent)
			n.say(p, "appends %q", word)
			fd.write(word + "\n")
			if n.r.IntN(4) == 0 {
				fd.fsync()
			}
		}
		fd.close()
	},
	"rewrite": func(n *sharedNote, p *sharedProcess) {
		text := n.edit(p, p.readNote())
		fd := p.open(sharedName, syscall.O_WRONLY|syscall.O_TRUNC|syscall.O_CREAT)
		half := n.r.IntN(len(text) + 1)
		fd.write(text[:half])
		fd.write(text[half:])
		fd.close()
	},
	// One process of a shell reads the note, and another one writes it: s=$(cat Note.md); printf ... "$s" > Note.md
	"shell": func(n *sharedNote, p *sharedProcess) {
		text := n.edit(p, p.readNote())
		p.ctx = p.sibling
		fd := p.open(sharedName, syscall.O_WRONLY|syscall.O_TRUNC|syscall.O_CREAT)
		fd.write(text)
		fd.close()
	},
	"shell, by rename": func(n *sharedNote, p *sharedProcess) {
		text := n.edit(p, p.readNote())
		p.ctx = p.sibling
		tmp := "tmp" + n.word("")
		delete(n.by, tmp[3:])
		out := p.open(tmp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL)
		out.write(text)
		out.close()
		p.rename(tmp, sharedName)
	},
	"overwrite": func(n *sharedNote, p *sharedProcess) {
		fd := p.open(sharedName, syscall.O_RDWR)
		text := n.edit(p, fd.read())
		fd.write(text)
		fd.truncate(int64(len(text)))
		if n.r.IntN(2) == 0 {
			fd.fsync()
		}
		fd.close()
	},
	"rename": func(n *sharedNote, p *sharedProcess) {
		in := p.open(sharedName, syscall.O_RDONLY)
		text := n.edit(p, in.read())
		tmp := "sed" + n.word("")
		delete(n.by, tmp[3:])
		out := p.open(tmp, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL)
		out.write(text)
		if n.r.IntN(2) == 0 {
			in.close()
			out.close()
			p.rename(tmp, sharedName)
			return
		}
		out.close()
		p.rename(tmp, sharedName)
		in.close()
	},
	"look": func(n *sharedNote, p *sharedProcess) {
		fd := p.open(sharedName, syscall.O_RDONLY)
		text := fd.read()
		if again := fd.read(); again != text {
			p.failed("the descriptor returns %q, and before that %q", again, text)
		}
		n.checkOwn(p, text)
		fd.close()
	},
}

func (p *sharedProcess) readNote() string {
	fd := p.open(sharedName, syscall.O_RDONLY)
	defer fd.close()
	return fd.read()
}

// TestSharedNote runs programs of several sessions on one note, in random orders of their system calls and with random
// pauses, and compares the note with the law. The clock stands still between the pauses, so a seed is always the same
// run.
func TestSharedNote(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	randomtest.Check(t, 400, func(t testing.TB, r *rand.Rand) {
		randomtest.Bubble(t, func(t testing.TB) { sharedNoteRound(t, r, agents) })
	})
}

func sharedNoteRound(t testing.TB, r *rand.Rand, agents map[string][]uint32) {
	n := &sharedNote{r: r, by: make(map[string]string), deleted: make(map[string]map[string]bool), touched: make(map[string]map[string]bool)}
	var first strings.Builder
	for range r.IntN(5) {
		first.WriteString(n.word("") + "\n")
	}
	ws, k := newSharedKernel(t, first.String())
	n.run(t, k, agents)
	k.settle(func() bool { return true })
	for x := range k.tr.dirtyFiles.Range {
		t.Errorf("not saved: %v", x)
	}
	n.check(t, ws)
	if t.Failed() {
		t.Logf("begins as %q\n%s", first.String(), strings.Join(n.log, "\n"))
	}
}

// newSharedKernel serves a workspace with one note.
func newSharedKernel(t testing.TB, text string) (*bridgetest.Fixture, *sharedKernel) {
	ws, k := newUninformedKernel(t, text)
	t.Cleanup(ws.Subscribe(k.tr.changed))
	return ws, k
}

// newUninformedKernel is newSharedKernel, but the events of the workspace do not arrive.
func newUninformedKernel(t testing.TB, text string) (*bridgetest.Fixture, *sharedKernel) {
	ws := bridgetest.New(t, map[string]string{"F/" + sharedName: text})
	tr := newTree(ws.Workspace, Options{Author: "user", Agents: DefaultAgents, SignAgents: true, Refused: func(r model.Refusal) { t.Log(r) }})
	gofs.NewNodeFS(tr.root, nodeOptions())
	folder, _, err := tr.lookup(t.Context(), "F")
	if err != nil {
		t.Fatal(err)
	}
	return ws, &sharedKernel{tr: tr, dir: folder.(*Dir), entries: make(map[string]*gofs.Inode), sizes: make(map[*gofs.Inode]int64)}
}

// A program that opens a note sees the newest text even if the event of that text comes later, and the name is held for
// another session.
func TestOpenBeforeTheEvent(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	ws, k := newUninformedKernel(t, "one\n")
	first, second := newSharedProcess(t, k, agents, "claude", 0), newSharedProcess(t, k, agents, "codex", 0)
	fd := second.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND)
	fd.write("two\n")
	fd.close()
	k.settle(func() bool { return true })
	v, err := ws.Open(t.Context(), "F/"+sharedName)
	if err == nil {
		_, err = ws.Write(t.Context(), "F/"+sharedName, bridge.Write{Base: v, Text: "one\ntwo\nthree\n"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := first.readNote(); got != "one\ntwo\nthree\n" {
		t.Errorf("the program reads %q", got)
	}
}

// An open whose repetition fails, because a user has moved the note meanwhile, has no effect on the next open of the
// thread. That open is not the repeated one, and must fail with ESTALE again if the inode has lost its text.
func TestOpenAfterAFailedRepetition(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	ws, k := newSharedKernel(t, "one\n")
	reader, other := newSharedProcess(t, k, agents, "claude", 0), newSharedProcess(t, k, agents, "codex", 0)
	lookup := func(p *sharedProcess, name string, want syscall.Errno) *File {
		t.Helper()
		inode, errno := p.lookup(name)
		if errno != want {
			t.Fatalf("the lookup of %s returns %v, want %v", name, errno, want)
		}
		if errno != 0 {
			return nil
		}
		return inode.Operations().(*File)
	}
	open := func(f *File) {
		t.Helper()
		if _, _, errno := f.Open(reader.ctx, syscall.O_RDONLY); errno != syscall.ESTALE {
			t.Errorf("the open of an inode without text returns %v, want ESTALE", errno)
		}
	}
	f := lookup(reader, sharedName, 0)
	ws.Person("F/"+sharedName, "one\ntwo\n")
	open(f)
	lookup(reader, sharedName, 0) // the kernel finds that its entry has another inode, and looks up again
	ws.Rename("F/"+sharedName, "F/New.md")
	lookup(reader, sharedName, syscall.ENOENT)
	lookup(other, "New.md", 0)
	ws.Person("F/New.md", "three\n")
	f = lookup(other, "New.md", 0)
	ws.Person("F/New.md", "four\n")
	open(f)
}

// TestRewriteBesideAppend runs two programs of two sessions in all orders of their system calls: one process of a shell
// reads the note and another one writes the text with one more line, while a program appends a line. The two lines are
// alike, so the rewritten text resembles the text that it lacks a line of.
func TestRewriteBesideAppend(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	for _, byRename := range []bool{false, true} {
		for _, order := range orders("rrrrr", "aaa") {
			t.Run(fmt.Sprintf("%s, by rename: %v", order, byRename), func(t *testing.T) { rewriteBesideAppend(t, agents, order, byRename) })
		}
	}
}

// orders returns all ways to interleave two sequences.
func orders(a, b string) (list []string) {
	if a == "" || b == "" {
		return []string{a + b}
	}
	for _, rest := range orders(a[1:], b) {
		list = append(list, a[:1]+rest)
	}
	for _, rest := range orders(a, b[1:]) {
		list = append(list, b[:1]+rest)
	}
	return list
}

func rewriteBesideAppend(t *testing.T, agents map[string][]uint32, order string, byRename bool) {
	const base, rewritten, appended = "# Log\n\nline words here\n", "C13Z trunc\n", "X13Z app\n"
	ws, k := newSharedKernel(t, base)
	process := func(agent string, i int) *sharedProcess { return newSharedProcess(t, k, agents, agent, i) }
	cat, shell, echo := process("claude", 0), process("claude", 1), process("codex", 0)
	var text string
	var in, out, end *sharedFD
	name := sharedName
	if byRename {
		name = "tmp"
	}
	steps := map[byte][]func(){
		'r': {
			func() { in = cat.open(sharedName, syscall.O_RDONLY) },
			func() { text = in.read(); in.close() },
			func() { out = shell.open(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC) },
			func() { out.write(text + rewritten) },
			func() {
				if out.close(); byRename {
					shell.rename(name, sharedName)
				}
			},
		},
		'a': {
			func() { end = echo.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND) },
			func() { end.write(appended) },
			func() { end.close() },
		},
	}
	for _, who := range []byte(order) {
		steps[who][0]()
		steps[who] = steps[who][1:]
		k.settle(func() bool { return true })
	}
	k.settle(func() bool { return true })
	raw := ws.SourceText("F/" + sharedName)
	switch got := diffwrap.Everything.Accepted(raw); got {
	case base + rewritten + appended, base + appended + rewritten:
	default:
		t.Errorf("the note is %q", got)
	}
	if got := diffwrap.Everything.Original(raw); got != base {
		t.Errorf("without suggestions the note is %q", got)
	}
}

// TestAppendsToAnEmptyNote runs two programs of two sessions that append to an empty note, in all orders of their system
// calls. Neither has read the note, and all lines are new to the one that opened it first.
func TestAppendsToAnEmptyNote(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	for _, order := range orders("aaa", "bbb") {
		t.Run(order, func(t *testing.T) {
			ws, k := newSharedKernel(t, "")
			steps := make(map[rune][]func())
			for who, agent := range map[rune]string{'a': "claude", 'b': "codex"} {
				p := newSharedProcess(t, k, agents, agent, 0)
				var fd *sharedFD
				steps[who] = []func(){
					func() { fd = p.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT) },
					func() { fd.write(agent + "\n") },
					func() { fd.close() },
				}
			}
			for _, who := range order {
				steps[who][0]()
				steps[who] = steps[who][1:]
				k.settle(func() bool { return true })
			}
			switch got := diffwrap.Everything.Accepted(ws.SourceText("F/" + sharedName)); got {
			case "claude\ncodex\n", "codex\nclaude\n":
			default:
				t.Errorf("the note is %q", got)
			}
		})
	}
}

// TestOpenBetweenLookupAndOpen runs a program whose open the kernel repeats. Between the new lookup and the repeated open,
// a program of another session opens the note, and makes some steps of a save. It makes the other steps after the first
// program has read the note, before or after that program saves.
func TestOpenBetweenLookupAndOpen(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	for _, flags := range []uint32{syscall.O_RDWR, syscall.O_WRONLY | syscall.O_TRUNC} {
		for early := range 5 {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("flags %#x, %d steps, late: %v", flags, early, late), func(t *testing.T) {
					openBetweenLookupAndOpen(t, agents, flags, early, late)
				})
			}
		}
	}
}

func openBetweenLookupAndOpen(t *testing.T, agents map[string][]uint32, flags uint32, early int, late bool) {
	const base = "# Log\n\nline words here\n"
	ws, k := newSharedKernel(t, base)
	process := func(agent string) *sharedProcess { return newSharedProcess(t, k, agents, agent, 0) }
	first, second, third := process("claude"), process("codex"), process("goose")

	text := second.readNote() + "c2c app\n"
	held := third.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND)
	own := first.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND)
	own.write("a1a app\n")
	own.close()

	var fd *sharedFD
	steps := []func(){
		func() {
			if fd = second.open(sharedName, flags); flags == syscall.O_RDWR {
				text = fd.read() + "c2c app\n"
			}
		},
		func() { fd.write(text[:len(text)/2]) },
		func() { fd.write(text[len(text)/2:]) },
		func() { fd.close() },
	}
	run := func(n int) {
		for _, step := range steps[:n] {
			step()
		}
		steps = steps[n:]
	}
	pauses := 0
	first.pause = func() {
		if pauses++; pauses == 3 { // before the first open, before the lookup, and before the repeated open
			run(early)
		}
	}
	k.settle(func() bool { return true })
	k.entries[sharedName] = held.inode // as if the kernel had not processed the notification
	in := first.open(sharedName, syscall.O_RDWR)
	got := in.read()
	if want := base + "a1a app\n"; got != want && got != want+"c2c app\n" {
		t.Errorf("the program reads %q, want %q", got, want)
	}
	if !late {
		run(len(steps))
	}
	in.write(got + "a3a app\n")
	in.close()
	run(len(steps))
	held.close()
	k.settle(func() bool { return true })
	got = diffwrap.Everything.Accepted(ws.SourceText("F/" + sharedName))
	for _, line := range []string{base, "a1a app\n", "c2c app\n", "a3a app\n"} {
		if strings.Count(got, line) != 1 {
			t.Errorf("the note is %q, want %q once", got, line)
		}
	}
}

func newSharedProcess(t *testing.T, k *sharedKernel, agents map[string][]uint32, agent string, i int) *sharedProcess {
	return &sharedProcess{
		k: k, ctx: fuse.NewContext(t.Context(), &fuse.Caller{Pid: agents[agent][i]}), agent: agent, name: agent,
		pause: func() {}, failed: t.Fatalf,
	}
}

// errEnded ends a program.
var errEnded = errors.New("ended")

func (p *sharedProcess) run(program func()) {
	defer func() {
		if r := recover(); r != nil && r != errEnded {
			panic(r)
		}
	}()
	program()
}

// run runs some programs of each session, those of one session one after another.
func (n *sharedNote) run(t testing.TB, k *sharedKernel, agents map[string][]uint32) {
	type running struct {
		resume, paused chan struct{}
	}
	kinds := slices.Sorted(maps.Keys(sharedPrograms))
	var list []*running
	for _, agent := range slices.Sorted(maps.Keys(agents))[:2+n.r.IntN(2)] {
		s := &running{resume: make(chan struct{}), paused: make(chan struct{})}
		list = append(list, s)
		var jobs []string
		for range 1 + n.r.IntN(3) {
			jobs = append(jobs, kinds[n.r.IntN(len(kinds))])
		}
		go func() {
			defer close(s.paused)
			<-s.resume
			for i, job := range jobs {
				p := &sharedProcess{k: k, agent: agent, name: fmt.Sprintf("%s %d %s", agent, i, job)}
				p.ctx = fuse.NewContext(context.Background(), &fuse.Caller{Pid: agents[agent][i]})
				p.sibling = fuse.NewContext(context.Background(), &fuse.Caller{Pid: agents[agent][3]})
				p.pause = func() {
					s.paused <- struct{}{}
					<-s.resume
				}
				p.failed = func(format string, args ...any) {
					t.Errorf(p.name+": "+format, args...)
					panic(errEnded)
				}
				p.run(func() { sharedPrograms[job](n, p) })
			}
		}()
	}
	left := 4 * time.Second // less than the time after which a half-written text is committed
	for len(list) > 0 {
		i := n.r.IntN(len(list))
		list[i].resume <- struct{}{}
		if _, runs := <-list[i].paused; !runs {
			list = slices.Delete(list, i, i+1)
		}
		k.settle(func() bool { return n.r.IntN(3) == 0 })
		pause := time.Microsecond // two records of a real process have different times
		if n.r.IntN(8) == 0 {
			pause = min(randomtest.Pick(n.r, time.Millisecond, 50*time.Millisecond, saveHold+time.Millisecond, content.WritebackDelay+time.Millisecond), left)
		}
		left -= pause
		time.Sleep(pause)
	}
}

func (n *sharedNote) check(t testing.TB, ws *bridgetest.Fixture) {
	raw := ws.SourceText("F/" + sharedName)
	count := make(map[string]int)
	for _, word := range sharedWord.FindAllString(diffwrap.Everything.Accepted(raw), -1) {
		count[word]++
	}
	for word := range n.by {
		want := 1
		if n.deleted[word] != nil {
			want = 0
		}
		if count[word] != want {
			t.Errorf("the note has %q, of %q, %d times, want %d", word, n.by[word], count[word], want)
		}
		delete(count, word)
	}
	for word := range count {
		t.Errorf("the note has %q, which nobody wrote", word)
	}
	list, err := ws.Suggestions(t.Context(), "F")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		for _, word := range sharedWord.FindAllString(x.New, -1) {
			if n.by[word] != x.Author {
				t.Errorf("%q has added %q, which %q wrote", x.Author, word, n.by[word])
			}
		}
		for _, word := range sharedWord.FindAllString(x.Old, -1) {
			if n.by[word] != "" || !n.deleted[word][x.Author] {
				t.Errorf("%q has deleted %q, of %q, which %v deleted", x.Author, word, n.by[word], n.deleted[word])
			}
		}
	}
	if t.Failed() {
		t.Logf("the vault has %q", raw)
	}
}

// The kernel repeats an open once only. If another process of the agent then fails to save through the inode, the open fails
// with the error of a file that others have changed, and the program's next open succeeds.
func TestRepeatedOpenOfAFailedSave(t *testing.T) {
	t.Parallel()
	agents := sharingAgents(t)
	const base = "# Log\n\nline words here\n"
	for _, flags := range []uint32{syscall.O_RDONLY, syscall.O_RDWR, syscall.O_WRONLY | syscall.O_TRUNC} {
		_, k := newSharedKernel(t, base)
		process := func(agent string, i int) *sharedProcess { return newSharedProcess(t, k, agents, agent, i) }
		first, sibling, other := process("claude", 0), process("claude", 1), process("codex", 0)
		held := other.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND)
		pauses := 0
		first.pause = func() {
			if pauses++; pauses != 3 { // before the first open, before the lookup, and before the repeated open
				return
			}
			fd := sibling.open(sharedName, syscall.O_WRONLY|syscall.O_APPEND)
			fd.write("{++refused++}\n")
			if errno := fd.h.Flush(sibling.ctx); errno != syscall.EINVAL {
				t.Errorf("the sibling's save: %v", errno)
			}
			fd.release()
			k.settle(func() bool { return true })
		}
		var failure string
		first.failed = func(format string, args ...any) { failure = fmt.Sprintf(format, args...) }
		if fd := first.open(sharedName, flags); fd != nil {
			t.Errorf("flags %#x: opened %q", flags, fd.read())
		}
		if want := fmt.Sprintf("open %s with flags %#x: %v", sharedName, flags, syscall.EBUSY); failure != want {
			t.Errorf("%s, want %s", failure, want)
		}
		failure, first.pause = "", func() {}
		if got := first.readNote(); failure != "" || got != base {
			t.Errorf("flags %#x: then %q, %s", flags, got, failure)
		}
		held.close()
	}
}
