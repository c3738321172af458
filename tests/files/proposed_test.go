package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

const oldBoard, newBoard = "{\"nodes\":[],\"edges\":[]}\n", "{\"nodes\":[],\"edges\" :[]}\n"

// onePNG writes an image of one grey pixel into a file, as Python writes one.
const onePNG = `import struct,sys,zlib
def chunk(kind,data):
    return struct.pack(">I",len(data))+kind+data+struct.pack(">I",zlib.crc32(kind+data))
open(sys.argv[1],"wb").write(b"\x89PNG\r\n\x1a\n"+chunk(b"IHDR",struct.pack(">IIBBBBB",1,1,8,0,0,0,0))+chunk(b"IDAT",zlib.compress(b"\0\0"))+chunk(b"IEND",b""))
`

// fileSaves are ways to write a file that is no note; each leaves the bytes of the file "want" in the file name.
var fileSaves = []struct{ what, name, script string }{
	{"cp, new", "new.png", "cp ../../want.png new.png"},
	{"cp, over", "old.png", "cp ../../want.png old.png"},
	{"cp -p", "kept.png", "cp -p ../../want.png kept.png"},
	{"cp --remove-destination", "old.png", "cp --remove-destination ../../want.png old.png"},
	{"mv from another disk", "moved.png", "cp ../../want.png ../../again.png; mv ../../again.png moved.png"},
	{"mv over, from another disk", "old.png", "cp ../../want.png ../../again.png; mv ../../again.png old.png"},
	{"a temporary file renamed", "named.png", "cp ../../want.png named.png.tmp.4711.9f3c; mv named.png.tmp.4711.9f3c named.png"},
	{"a temporary file renamed over", "old.png", "cp ../../want.png old.png.tmp.4711.9f3c; mv old.png.tmp.4711.9f3c old.png"},
	{"a file of any name renamed over", "old.png", "cp ../../want.png work; mv work old.png"},
	{"a new image renamed over", "old.png", "cp ../../want.png work.png; mv work.png old.png"},
	{"a new image renamed", "second.png", "cp ../../want.png first.png; mv first.png second.png"},
	{"dd in pieces", "pieces.pdf", "dd if=../../want.png of=pieces.pdf bs=7 2>/dev/null"},
	{"appended", "grown.bin", "head -c 10 ../../want.png > grown.bin; tail -c +11 ../../want.png >> grown.bin"},
	{"in place", "same.png", "cp ../../want.png same.png; printf X | dd of=same.png conv=notrunc 2>/dev/null; dd if=../../want.png of=same.png bs=1 count=1 conv=notrunc 2>/dev/null"},
	{"cut to size", "cut.png", "(cat ../../want.png; echo more) > cut.png; truncate -s \"$(stat -c %s ../../want.png)\" cut.png"},
	{"Python", "python.png", "python3 ../../png.py python.png"},
	{"made anew after rm", "old.png", "rm old.png; cp ../../want.png old.png"},
	{"renamed away and written", "old.png", "mv old.png old.png~; cp ../../want.png old.png; rm old.png~"},
}

// What programs make of canvases, bases and attachments on the mount is a proposal: they read it back byte for byte, over a
// kill too, and the vault has it once a user accepts.
func TestFilesAreProposed(t *testing.T) {
	t.Parallel()
	for _, tt := range fileSaves {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			harness.WriteFile(t, s.Path("png.py"), onePNG)
			if out, err := exec.Command("python3", s.Path("png.py"), s.Path("want.png")).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := harness.ReadFile(t, s.Path("want.png"))
			files := map[string]string{"old.png": "old", "note.md": "note\n"}
			vault := s.Vault(t, "Vault", files)
			m := s.Mount(t, vault)
			m.Shell(t, tt.script)
			harness.CheckText(t, "the file", harness.ReadFile(t, m.Path(tt.name)), want)
			names := harness.ListFiles(t, m.Path(""))
			checkFiles(t, vault, files)
			m.Kill(t)
			m = s.Mount(t, vault)
			harness.CheckText(t, "the file after a kill", harness.ReadFile(t, m.Path(tt.name)), want)
			if got := harness.ListFiles(t, m.Path("")); strings.Join(got, " ") != strings.Join(names, " ") {
				t.Errorf("the mount holds %q, and before the kill %q", got, names)
			}
			if list := s.Suggestions(t, vault); len(list) != 1 || list[0].Kind != string(model.ProposedFile) || list[0].Path != "Vault/"+tt.name {
				t.Fatalf("what waits is %v", list)
			}
			s.Decide(t, "accept", "--all", "--yes", vault)
			harness.CheckText(t, "the vault", harness.ReadFile(t, m.VaultPath(tt.name)), want)
			s.Decide(t, "undo", vault)
			checkFiles(t, vault, files)
			harness.CheckText(t, "the file after the undo", harness.ReadFile(t, m.Path(tt.name)), want)
			s.Decide(t, "reject", "--all", "--yes", vault)
			if tt.name == "old.png" {
				harness.FileBecomes(t, m.Path(tt.name), "old")
			} else if _, err := os.Stat(m.Path(tt.name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the rejected file: %v", err)
			}
		})
	}
}

// checkFiles compares all files of a vault.
func checkFiles(t *testing.T, vault string, files map[string]string) {
	t.Helper()
	harness.CheckNames(t, vault, files)
	for name, text := range files {
		harness.CheckText(t, name+" in the vault", harness.ReadFile(t, filepath.Join(vault, name)), text)
	}
}

// An editor saves a canvas as it saves a note; a canvas that is none is refused when the program closes it, and the name
// goes on with what it showed.
func TestCanvasOnTheMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"b.canvas": oldBoard, "note.md": "note\n"})
	m := s.Mount(t, vault)
	for _, script := range []string{
		`vim -es -u NONE -c 's/"edges"/"edges" /' -c wq b.canvas`,
		`vim -es -u NONE -c 'set backup backupcopy=no' -c 's/"edges" /"edges"/' -c 's/"edges"/"edges" /' -c wq b.canvas`,
		`sed -i.bak 's/"edges" /"edges"/' b.canvas; sed -i 's/"edges"/"edges" /' b.canvas; rm -f b.canvas.bak`,
	} {
		m.Shell(t, script)
		harness.CheckText(t, script, harness.ReadFile(t, m.Path("b.canvas")), newBoard)
	}
	harness.CheckText(t, "the vault", harness.ReadFile(t, m.VaultPath("b.canvas")), oldBoard)
	const node = `{"id":"a","type":"text","x":0,"y":0,"width":1,"height":1,"text":""}`
	for text, why := range map[string]string{
		"junk": "is not JSON",
		`{"nodes":[` + node + `],"edges":[{"id":"e","fromNode":"a","toNode":"b"}]}`:                       `the node "b", which does not exist`,
		`{"nodes":[{"id":"a","type":"file","x":0,"y":0,"width":1,"height":1,"file":"../../etc/passwd"}]}`: "outside of the vault",
	} {
		harness.CheckErrno(t, harness.WriteAll(m.Path("b.canvas"), []byte(text)), unix.EINVAL)
		harness.CheckErrno(t, harness.WriteAll(m.Path("new.canvas"), []byte(text)), unix.EINVAL)
		harness.WriteFile(t, m.Path("b.canvas.tmp"), text)
		harness.CheckErrno(t, os.Rename(m.Path("b.canvas.tmp"), m.Path("b.canvas")), unix.EINVAL)
		if err := os.Remove(m.Path("b.canvas.tmp")); err != nil {
			t.Error(err)
		}
		if out := s.Run(t, "why", m.Dir); strings.Count(out.Stdout, why) < 3 {
			t.Errorf("why says %s; want %s", out.Stdout, why)
		}
		harness.CheckText(t, "the canvas", harness.ReadFile(t, m.Path("b.canvas")), newBoard)
	}
	harness.CheckErrno(t, harness.WriteAll(m.Path("base.base"), []byte("- a\n")), unix.EINVAL)
	harness.CheckErrno(t, harness.WriteAll(m.Path("film.mp4"), make([]byte, 16<<20+1)), unix.EFBIG)
	if got := harness.ListFiles(t, m.Path("")); strings.Join(got, " ") != "b.canvas note.md" {
		t.Errorf("the mount holds %q", got)
	}
}

// A session takes away what it has proposed, without a trace. What another one writes over stays in the log.
func TestProposedFilesOfSessions(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"old.png": "old"})
	m := s.Mount(t, vault)
	m.Shell(t, "echo a > a.png; rm a.png; echo b > b.png; mv b.png c.png; rm c.png; touch empty; rm empty")
	if out := s.Run(t, "suggestions", "log", vault); len(s.Suggestions(t, vault)) != 0 || strings.Contains(out.Stdout, ".png") {
		t.Errorf("what waits is %v, and the log %s", s.Suggestions(t, vault), out.Stdout)
	}
	m.Shell(t, "echo first > old.png")
	first := s.Suggestions(t, vault)
	m.Shell(t, "echo second > old.png")
	second := s.Suggestions(t, vault)
	if len(first) != 1 || len(second) != 1 || first[0].ID == second[0].ID || second[0].New != "second\n" || second[0].Old != "old" {
		t.Fatalf("%v, then %v", first, second)
	}
	if out := s.Run(t, "suggestions", "log", vault); !strings.Contains(out.Stdout, first[0].ID) {
		t.Errorf("the log does not have the first: %s", out.Stdout)
	}
	m.Shell(t, "echo second > old.png")
	if again := s.Suggestions(t, vault); len(again) != 1 || again[0].ID != second[0].ID {
		t.Errorf("writing what is there made another proposal: %v", again)
	}
	m.Shell(t, "printf old > old.png")
	if list := s.Suggestions(t, vault); len(list) != 0 {
		t.Errorf("what the vault has is proposed: %v", list)
	}
}
