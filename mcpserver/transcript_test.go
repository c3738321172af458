package mcpserver_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver"
)

// A transcript is a txtar archive. Its files are the notes of the workspace, but
// for those below "later/", which the command person saves. Its comment holds the
// options of the workspace, a word each, and commands with what they print:
//
//	$ TOOL {"argument": ...}     calls a tool on the stream
//	$ person PATH FILE           a person saves FILE at PATH
//	$ raw PATH                   prints what is stored
//	$ session [ANSWER]           goes on as another client, whose user answers questions
//	                             with yes, always or no
//
// go test -update writes the outputs anew.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runTranscript(t, file) })
	}
}

func runTranscript(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	notes, later := make(map[string]string), make(map[string]string)
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "later/"); ok {
			later[name] = string(f.Data)
		} else {
			notes[f.Name] = string(f.Data)
		}
	}
	head, commands, _ := strings.Cut(string(archive.Comment), "\n$ ")
	f := bridgetest.New(t, notes, func(o *bridge.Options) { setOptions(t, o, head) })
	srv := mcpserver.New(f.Workspace, serverOptions(t, head))
	t.Cleanup(srv.Close)
	r := transcriptRun{t: t, f: f, srv: srv, later: later, client: connect(t, srv, "agent-1"), clients: 1}
	var out strings.Builder
	out.WriteString(head)
	for _, c := range strings.Split(commands, "\n$ ") {
		command, _, _ := strings.Cut(c, "\n")
		out.WriteString("\n$ " + command + "\n")
		if text := r.run(command); text != "" {
			out.WriteString(strings.TrimSuffix(text, "\n") + "\n")
		}
	}
	got := strings.TrimSuffix(out.String(), "\n") + "\n"
	if flag.Lookup("update").Value.String() == "true" {
		archive.Comment = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(archive.Comment); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func setOptions(t *testing.T, o *bridge.Options, head string) {
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			switch word {
			case "structure=direct":
				o.Structure = bridge.StructureDirect
			case "mode=direct":
				o.Mode = bridge.Direct
			case "read-only":
			default:
				if !strings.HasPrefix(word, "toolsets=") && !strings.HasPrefix(word, "approve=") {
					t.Fatalf("unknown option %q", word)
				}
			}
		}
	}
}

func serverOptions(t *testing.T, head string) mcpserver.Options {
	o := mcpserver.Options{Version: "1.0"}
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "read-only":
				o.ReadOnly = true
			case "toolsets":
				o.Toolsets = strings.Split(value, ",")
			case "approve":
				var err error
				if o.Approve, err = mcpserver.ParseApprovals(strings.Split(value, ",")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return o
}

// answers are what the user of a client answers, by the word of a transcript.
var answers = map[string]map[string]any{
	"yes":    {"action": "accept", "content": map[string]any{"approve": true}},
	"always": {"action": "accept", "content": map[string]any{"approve": true, "remember": true}},
	"no":     {"action": "decline"},
}

var modified = regexp.MustCompile(`"modified":"[0-9T:-]*Z"`)

// transcriptRun is one transcript under way.
type transcriptRun struct {
	t       *testing.T
	f       *bridgetest.Fixture
	srv     *mcpserver.Server
	later   map[string]string
	client  *rpc
	clients int
}

func (r *transcriptRun) run(command string) string {
	word, rest, _ := strings.Cut(command, " ")
	switch word {
	case "person":
		path, file, _ := strings.Cut(rest, " ")
		r.f.Person(path, r.later[file])
		return ""
	case "raw":
		return r.f.SourceText(rest)
	case "session":
		r.clients++
		r.client = connectWith(r.t, r.srv, "agent-"+string(rune('0'+r.clients)), answers[rest])
		return ""
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(rest), &args); err != nil {
		r.t.Fatalf("%s: %v", command, err)
	}
	text, isError := r.client.callTool(word, args)
	text = modified.ReplaceAllString(text, `"modified":"TIME"`)
	for _, q := range slices.Backward(r.client.questions()) {
		text = "[asked] " + q + "\n" + text
	}
	if isError {
		return "[error] " + text
	}
	return text
}
