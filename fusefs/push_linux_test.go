package fusefs_test

import (
	"fmt"
	"hash/crc32"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/fusefs"
)

// glance is a program that reads a note without asking for its size, as dd does.
const glance = `(lambda fd: [os.read(fd, 9999).decode(), os.close(fd)][0])(os.open("Note.md", os.O_RDONLY))`

// The first program that opens a note reads it, whatever its length and however it
// is read, without a READ.
func TestFirstOpenBringsContent(t *testing.T) {
	t.Parallel()
	const seen = `(lambda fd, n: [n, __import__("zlib").crc32(%s), os.close(fd)][:2])(os.open("%s", os.O_RDONLY), os.stat("%s").st_size)`
	for how, expr := range map[string]string{
		"read":  `os.read(fd, 1 << 20)`,
		"pread": `b"".join(os.pread(fd, 1000, i) for i in range(0, n + 1000, 1000))`,
		"mmap":  `mmap.mmap(fd, n, prot=mmap.PROT_READ)[:]`,
	} {
		t.Run(how, func(t *testing.T) {
			texts := make(map[string]string)
			for _, n := range []int{1, 2, 4095, 4096, 4097, 8192, 9000, 131071, 131072} {
				texts[fmt.Sprintf("F/n%d.md", n)] = strings.Repeat("0123456\n", n/8+1)[:n-1] + "\n"
			}
			requests := new(syncBuffer)
			m := mountWith(t, texts, func(o *fusefs.Options) {
				o.Debug, o.Logger = true, slog.New(slog.NewTextHandler(requests, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			a := m.agent(t, "F")
			for p, text := range texts {
				name := strings.TrimPrefix(p, "F/")
				checkText(t, p, a.do(seen, expr, name, name), fmt.Sprintf("[%d, %d]", len(text), crc32.ChecksumIEEE([]byte(text))))
			}
			log := requests.String()
			if opens, reads := strings.Count(log, ": OPEN "), strings.Count(log, ": READ "); opens == 0 || reads > 2 { // it may have dropped a page
				t.Errorf("%d OPEN and %d READ for %d notes", opens, reads, len(texts))
			}
		})
	}
}

// A folder that was listed is listed again without a request.
func TestFoldersAreListedFromTheCache(t *testing.T) {
	t.Parallel()
	requests := new(syncBuffer)
	m := mountWith(t, map[string]string{"F/Note.md": "x\n", "F/G/Note.md": "x\n"}, func(o *fusefs.Options) {
		o.Debug, o.Logger = true, slog.New(slog.NewTextHandler(requests, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	first, before := m.sh(t, "", "ls -R"), len(requests.String())
	checkText(t, "listing", m.sh(t, "", "ls -R"), first)
	if log := requests.String()[before:]; before == 0 || strings.Contains(log, "DIR") {
		t.Errorf("a second listing sends requests:\n%s", log)
	}
}

// A note that differs from what was saved in line ends only stays as it is, and the mount goes on showing the saved bytes, also
// to who opens it again.
func TestOpenedAfterSaveOfOtherLineEnds(t *testing.T) {
	t.Parallel()
	const note, saved = "one\ntwo\n", `one\r\ntwo\r\n`
	m := mount(t, map[string]string{"F/Note.md": note})
	a, b := m.agent(t, "F"), m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "wb", 0))`)
	a.do(`held["f"].write(b"%s")`, saved)
	a.do(`os.fsync(held["f"].fileno())`)
	eventually(t, func() error { return wants("the note while it is open", b.do("%s", glance), `"`+saved+`"`) })
	a.do(`held["f"].close()`)
	for range 10 {
		checkText(t, "the note after it", b.do("%s", glance), `"`+saved+`"`)
		time.Sleep(100 * time.Millisecond)
	}
	checkText(t, "source", m.SourceText("F/Note.md"), note)
}
