package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A line that is too long for one answer is shown in parts, by every tool that
// reads; none cuts it without a word, and the parts are the line.
func TestMCPLongLineIsReadInParts(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("0123456789 ünï <b>", 8000) // 160 KB
	text := "first\n" + line + "\nlast\n"
	for _, tool := range partReaders {
		t.Run(tool.name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			c := s.MCP(t, "--toolsets", "claude,notes,content", s.Vault(t, "Vault", map[string]string{"note.md": text}))
			if got := readAll(t, c, tool, "Vault/note.md"); got != text {
				t.Errorf("%d bytes come back, want %d", len(got), len(text))
			}
		})
	}
}

// A session that has been shown a part of a document does not replace the rest,
// whatever the tool; an edit of the part that it was shown is made.
func TestMCPUnseenIsNotOverwritten(t *testing.T) {
	t.Parallel()
	long := "start\n" + strings.Repeat("x", 128<<10) + "\n" + strings.Repeat("a line of many\n", 3000) + "the end\n"
	canvas := "{\"nodes\":[],\"edges\":[],\n\"long\":\"" + strings.Repeat("x", 128<<10) + "\"}\n"
	files := map[string]string{"note.md": long, "board.canvas": canvas, "books.base": "a: 1\nb: " + strings.Repeat("y", 128<<10) + "\n", "unread.md": "Never read.\n", "unread.canvas": "{}\n", "front.md": "---\nkey: value\n---\nText.\n"}
	content := func(tool, kind, path, text string) []any {
		return []any{tool, "entity_type", kind, "path", "Vault/" + path, "content", text}
	}
	for _, mode := range []string{"suggest", "direct"} {
		for _, tt := range []struct {
			name        string
			read, write []any
			file        string
		}{
			{"write after read", []any{"read", "file_path", "Vault/note.md"}, []any{"write", "file_path", "Vault/note.md", "content", "start\n"}, "note.md"},
			{"write after read of some lines", []any{"read", "file_path", "Vault/note.md", "offset", 3, "limit", 5}, []any{"write", "file_path", "Vault/note.md", "content", "start\n"}, "note.md"},
			{"replace all", []any{"read", "file_path", "Vault/note.md", "offset", 3, "limit", 5}, []any{"edit", "file_path", "Vault/note.md", "old_string", "of many", "new_string", "of few", "replace_all", true}, "note.md"},
			{"update_note after read_note", []any{"read_note", "path", "Vault/note.md"}, []any{"update_note", "path", "Vault/note.md", "content", "start\n"}, "note.md"},
			{"update_note after some lines", []any{"read_note", "path", "Vault/note.md", "start_line", 3, "end_line", 9}, []any{"update_note", "path", "Vault/note.md", "content", "start\n"}, "note.md"},
			{"properties", []any{"read_note", "path", "Vault/front.md", "start_line", 4}, []any{"update_note", "path", "Vault/front.md", "frontmatter", map[string]any{"other": 1}}, "front.md"},
			{"replace_content after get_content", []any{"get_content", "entity_type", "note", "path", "Vault/note.md"}, content("replace_content", "note", "note.md", "start\n"), "note.md"},
			{"replace_content after some lines", []any{"read_content_lines", "entity_type", "note", "path", "Vault/note.md"}, content("replace_content", "note", "note.md", "start\n"), "note.md"},
			{"replace_content of an unread note", nil, content("replace_content", "note", "unread.md", "start\n"), "unread.md"},
			{"write of an unread note", nil, []any{"write", "file_path", "Vault/unread.md", "content", "x\n"}, "unread.md"},
			{"canvas", []any{"get_content", "entity_type", "canvas", "path", "Vault/board.canvas"}, content("replace_content", "canvas", "board.canvas", "{}"), "board.canvas"},
			{"unread canvas", nil, content("replace_content", "canvas", "unread.canvas", `{"nodes":[]}`), "unread.canvas"},
			{"base", []any{"read_content_lines", "entity_type", "base", "path", "Vault/books.base", "end_line", 1}, content("replace_content", "base", "books.base", "a: 2\n"), "books.base"},
		} {
			t.Run(mode+", "+tt.name, func(t *testing.T) {
				s := harness.NewSandbox(t)
				vault := s.Vault(t, "Vault", files)
				c := s.MCP(t, "--mode", mode, "--approve", "auto", "--toolsets", "claude,notes,content", vault)
				if tt.read != nil {
					c.MustCall(t, tt.read[0].(string), tt.read[1:]...)
				}
				got := c.Call(t, tt.write[0].(string), tt.write[1:]...)
				if !got.IsError || !regexp.MustCompile(`Call the (read|read_note|get_content|read_content_lines) tool with .*Vault/`).MatchString(got.Text) {
					t.Errorf("error %v: %.300s", got.IsError, got.Text)
				}
				if waiting := waitingList(t, c); waiting != "No pending suggestions" {
					t.Errorf("proposed: %.200s", waiting)
				}
				if harness.ReadFile(t, filepath.Join(vault, tt.file)) != files[tt.file] {
					t.Error("the file has changed")
				}
			})
		}
	}
	t.Run("an edit of what was shown", func(t *testing.T) {
		s := harness.NewSandbox(t)
		vault := s.Vault(t, "Vault", files)
		c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes,content", vault)
		c.MustCall(t, "read", "file_path", "Vault/note.md", "limit", 1)
		c.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "start", "new_string", "begin")
		harness.CheckText(t, "note", harness.ReadFile(t, filepath.Join(vault, "note.md")), strings.Replace(long, "start", "begin", 1))
	})
	t.Run("a rewrite of a note that was read in parts", func(t *testing.T) {
		s := harness.NewSandbox(t)
		vault := s.Vault(t, "Vault", files)
		c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes,content", vault)
		readAll(t, c, partReaders[0], "Vault/note.md")
		c.MustCall(t, "write", "file_path", "Vault/note.md", "content", "all new\n")
		harness.CheckText(t, "note", harness.ReadFile(t, filepath.Join(vault, "note.md")), "all new\n")
	})
}

// partReader is a tool that reads a part of a note.
type partReader struct {
	name   string
	args   func(path string, line, column, lines int) []any
	layout *regexp.Regexp // what is before each line
	next   *regexp.Regexp // how it says where the rest begins
}

var partReaders = []partReader{
	{"read", func(path string, line, column, lines int) []any {
		return withLines([]any{"file_path", path, "offset", line, "column", column}, "limit", lines)
	}, regexp.MustCompile(`(?m)^ *\d+\t`), regexp.MustCompile(`Call read with offset: (\d+)(?:, column: (\d+))? to see more`)},
	{"read_note", func(path string, line, column, lines int) []any {
		return withLines([]any{"path", path, "start_line", line, "column", column}, "end_line", lines-1, line)
	}, nil, regexp.MustCompile(`Call read_note with start_line: (\d+)(?:, column: (\d+))? to see more`)},
	{"read_content_lines", func(path string, line, column, lines int) []any {
		return withLines([]any{"entity_type", "note", "path", path, "start_line", line, "column", column}, "end_line", lines-1, line)
	}, regexp.MustCompile(`(?m)^\d+: `), regexp.MustCompile(`Call read_content_lines with start_line: (\d+)(?:, column: (\d+))? to see more`)},
}

// withLines adds an argument that says how many lines are wanted, if they are not
// all; more is what is added to their number.
func withLines(args []any, name string, lines int, more ...int) []any {
	if lines < 1 && len(more) == 0 || len(more) > 0 && lines < 0 {
		return args
	}
	for _, n := range more {
		lines += n
	}
	return append(args, name, lines)
}

// readPart returns what a call of a reader shows of a note, without its layout,
// and where the rest begins; 0 if there is none.
func readPart(t *testing.T, c *harness.MCPClient, tool partReader, path string, line, column, lines int) (text string, nextLine, nextColumn int, ok bool) {
	t.Helper()
	got := c.Call(t, tool.name, tool.args(path, line, column, lines)...)
	if got.IsError {
		return got.Text, 0, 0, false
	}
	if got.Size > maxAnswer {
		t.Errorf("%s: an answer of %d characters", tool.name, got.Size)
	}
	if m := tool.next.FindStringSubmatch(got.Text); m != nil {
		nextLine, _ = strconv.Atoi(m[1])
		nextColumn, _ = strconv.Atoi("0" + m[2])
		nextColumn = max(nextColumn, 1)
	}
	text = got.Text
	if got.Structured != nil {
		var res struct {
			Content    string
			TotalLines int `json:"total_lines"`
			EndLine    int `json:"end_line"`
		}
		if err := json.Unmarshal(got.Structured, &res); err != nil {
			t.Fatal(err)
		}
		if text = res.Content; nextLine == 0 && tool.name == "read_content_lines" && res.EndLine < res.TotalLines {
			nextLine, nextColumn = res.EndLine+1, 1
		}
	} else {
		text, _, _ = strings.Cut(text, "\n[Showing ")
		text, _, _ = strings.Cut(text, "\n[Pending ")
		if strings.HasPrefix(text, "<system-reminder>") {
			text = ""
		}
	}
	if tool.layout != nil {
		text = tool.layout.ReplaceAllString(text, "")
	}
	return text, nextLine, nextColumn, true
}

// readAll reads a note part by part and puts the parts together. A final line break
// is added where the tool shows lines and not a text.
func readAll(t *testing.T, c *harness.MCPClient, tool partReader, path string) string {
	t.Helper()
	var b strings.Builder
	for line, column := 1, 1; line > 0; {
		text, nextLine, nextColumn, ok := readPart(t, c, tool, path, line, column, 0)
		if !ok {
			t.Fatal(text)
		}
		if b.WriteString(text); nextLine > 0 && nextColumn == 1 {
			b.WriteByte('\n')
		}
		if nextLine > 0 && nextLine == line && nextColumn <= column {
			t.Fatalf("%s does not go on after line %d, character %d", tool.name, line, column)
		}
		line, column = nextLine, nextColumn
	}
	if tool.layout != nil {
		b.WriteByte('\n')
	}
	return b.String()
}

// shownModel is what the test knows of a note: its text, and which of its bytes the
// session was shown.
type shownModel struct {
	text  string
	shown []bool
}

// lines is how many lines the text has.
func (m *shownModel) lines() int {
	n := strings.Count(m.text, "\n")
	if m.text != "" && !strings.HasSuffix(m.text, "\n") {
		n++
	}
	return n
}

// offset is where a character of a line is, both counted from 1; the end of the text
// for the line behind the last one.
func (m *shownModel) offset(line, column int) int {
	off := 0
	for range line - 1 {
		i := strings.IndexByte(m.text[off:], '\n')
		if i < 0 {
			return len(m.text)
		}
		off += i + 1
	}
	for range column - 1 {
		for off++; off < len(m.text) && m.text[off]&0xc0 == 0x80; off++ {
		}
	}
	return off
}

func (m *shownModel) show(from, to int) {
	for i := from; i < min(to, len(m.text)); i++ {
		m.shown[i] = true
	}
}

// unseen is the first part between two bytes that was not shown.
func (m *shownModel) unseen(from, to int) string {
	for from < to && m.shown[from] {
		from++
	}
	end := from
	for end < to && !m.shown[end] {
		end++
	}
	return m.text[from:end]
}

// changed is what of the text between two bytes goes when with takes its place: not what begins or ends both.
func (m *shownModel) changed(from, to int, with string) (start, end int) {
	start, end = from, to
	for start < end && with != "" && m.text[start] == with[0] {
		start, with = start+1, with[1:]
	}
	for end > start && with != "" && m.text[end-1] == with[len(with)-1] {
		end, with = end-1, with[:len(with)-1]
	}
	return start, end
}

// replace puts with between two bytes of the text.
func (m *shownModel) replace(from, to int, with string) {
	shown := make([]bool, len(with))
	for i := range shown {
		shown[i] = true
	}
	m.shown = slices.Concat(m.shown[:from:from], shown, m.shown[to:])
	m.text = m.text[:from] + with + m.text[to:]
}

// randomNote has lines of all lengths, some beyond an answer.
func randomNote(rnd *rand.Rand) string {
	pieces := []string{"word ", "ünïcode ", "日本語", "👩‍👩‍👧 ", "\\", "\"quoted\" ", "<b>", "e\u0301", "\t", "12: "}
	var b strings.Builder
	for n := 1 + rnd.IntN(40); n > 0; n-- {
		length := rnd.IntN(60)
		switch rnd.IntN(12) {
		case 0:
			length = rnd.IntN(3000)
		case 1:
			length = 0
		}
		fmt.Fprintf(&b, "%d|", rnd.IntN(1_000_000))
		for range length {
			// No two are the same, so that there is one answer to what a write has kept.
			fmt.Fprintf(&b, "%s%06d ", pieces[rnd.IntN(len(pieces))], rnd.IntN(1_000_000))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Random reads and writes of random notes: the parts that are read put together are
// the text, and no write that is accepted takes away what was not shown or quoted.
func TestMCPShownModel(t *testing.T) {
	t.Parallel()
	rnd := randomtest.New(t)
	const notes, steps = 24, 25
	files := make(map[string]string)
	for i := range notes {
		text := randomNote(rnd)
		if i%4 == 3 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		files[fmt.Sprintf("note %d.md", i)] = text
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	reading := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes,content", vault)
	for i := range notes {
		file := fmt.Sprintf("note %d.md", i)
		for _, tool := range partReaders {
			want := strings.ReplaceAll(files[file], "\r\n", "\n")
			if got := readAll(t, reading, tool, "Vault/"+file); got != want {
				t.Fatalf("%s, %s: the parts are %d bytes, the text %d", file, tool.name, len(got), len(want))
			}
		}
	}
	reading.Close(t)

	c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes,content", vault)
	accepted, refused := 0, 0
	for i := range notes {
		file := fmt.Sprintf("note %d.md", i)
		crlf := i%4 == 3
		m := &shownModel{text: strings.ReplaceAll(files[file], "\r\n", "\n")}
		m.shown = make([]bool, len(m.text))
		for range steps {
			if rnd.IntN(2) == 0 {
				m.read(t, c, rnd, "Vault/"+file)
				continue
			}
			done, after, from, to := m.write(t, c, rnd, "Vault/"+file)
			now := harness.ReadFile(t, filepath.Join(vault, file))
			if crlf {
				if n := strings.Count(now, "\r\n"); n > 0 && n != strings.Count(now, "\n") {
					t.Fatalf("%s: line breaks of two kinds: %.300q", file, now)
				}
				now = strings.ReplaceAll(now, "\r\n", "\n")
			}
			if !done {
				refused++
				after = m.text
			} else {
				accepted++
			}
			if now != after {
				t.Fatalf("%s: after a write, accepted %v, the text is\n%.300q\nwant\n%.300q", file, done, now, after)
			}
			if done {
				m.replace(from, to, after[from:len(after)-(len(m.text)-to)])
			}
		}
	}
	t.Logf("%d writes accepted, %d refused", accepted, refused)
	if accepted < 20 || refused < 20 {
		t.Error("the test does not test much")
	}
}

// read shows a random part of the note.
func (m *shownModel) read(t *testing.T, c *harness.MCPClient, rnd *rand.Rand, path string) {
	t.Helper()
	total := m.lines()
	tool := partReaders[rnd.IntN(len(partReaders))]
	line, column, lines := 1+rnd.IntN(max(total, 1)), 1, 1+rnd.IntN(6)
	if rnd.IntN(4) == 0 {
		column = 1 + rnd.IntN(40)
	}
	text, nextLine, nextColumn, ok := readPart(t, c, tool, path, line, column, lines)
	if !ok {
		if column == 1 && total > 0 {
			t.Fatalf("%s: %s", tool.name, text)
		}
		return
	}
	from := m.offset(line, column)
	to := m.offset(min(line+lines, total+1), 1)
	if nextLine > 0 {
		to = min(to, m.offset(nextLine, nextColumn))
	}
	if want := m.text[from:to]; text != want && text+"\n" != want {
		t.Fatalf("%s of line %d, character %d, %d lines: got\n%.200q\nwant\n%.200q", tool.name, line, column, lines, text, want)
	}
	m.show(from, to)
}

// write makes a random change, and says whether it was accepted, what the text is
// then to be, and what of it was replaced.
func (m *shownModel) write(t *testing.T, c *harness.MCPClient, rnd *rand.Rand, path string) (done bool, after string, from, to int) {
	t.Helper()
	from = rnd.IntN(len(m.text) + 1)
	to = min(len(m.text), from+rnd.IntN(200))
	for from > 0 && from < len(m.text) && m.text[from-1] != '\n' && m.text[from-1] != ' ' {
		from--
	}
	for to > 0 && to < len(m.text) && m.text[to-1] != '\n' && m.text[to-1] != ' ' {
		to++
	}
	with := fmt.Sprintf("new%06d ", rnd.IntN(1_000_000))
	if from < to && m.text[to-1] == '\n' {
		with += "\n"
	}
	kind := rnd.IntN(5)
	if kind < 3 && rnd.IntN(4) == 0 {
		from, to, with = 0, len(m.text), with+"\n"
	}
	after = m.text[:from] + with + m.text[to:]
	quoted := ""
	var got harness.ToolResult
	switch kind {
	case 0:
		got = c.Call(t, "write", "file_path", path, "content", after)
	case 1:
		got = c.Call(t, "update_note", "path", path, "content", after)
	case 2:
		got = c.Call(t, "replace_content", "entity_type", "note", "path", path, "content", after)
	default:
		if quoted = m.text[from:to]; quoted == "" || quoted == with {
			return false, "", 0, 0
		}
		tool, args := "edit", []any{"file_path", path}
		if rnd.IntN(2) == 0 {
			tool, args = "patch_content", []any{"entity_type", "note", "path", path}
		}
		got = c.Call(t, tool, append(args, "old_string", quoted, "new_string", with)...)
	}
	if got.IsError {
		if !strings.Contains(got.Text, "Call the read") && !strings.Contains(got.Text, "not unique") && !strings.Contains(got.Text, "Call the get_content") {
			t.Fatalf("refused: %.300s", got.Text)
		}
		return false, "", 0, 0
	}
	if lost := m.unseen(m.changed(from, to, with)); quoted == "" && lost != "" {
		t.Fatalf("%s: a write of %.100q for %.100q is accepted that takes away what was not shown: %.300q", path, with, m.text[from:to], lost)
	}
	return true, after, from, to
}
