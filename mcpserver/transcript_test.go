package mcpserver_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// A transcript is a txtar archive. Its files are the notes of the workspace, but for those below "later/", which the
// command person saves, and those below ".obsidian/", the configuration of each vault. Its comment holds the
// options of the workspace, a word each, and commands with what they print:
//
//	$ TOOL {"argument": ...}     calls a tool on the stream; {"repeat": ["x", 3]} stands for "xxx"
//	$ person PATH FILE           a person saves FILE at PATH
//	$ decide VERDICT PATH REASON a person decides on all that waits in PATH
//	$ bytes PATH BYTES           a person saves BYTES at PATH, written as in Go
//	$ odd PATH                   a person saves "A word of [[a]].\n" at PATH, written as in Go
//	$ raw PATH                   prints what is stored
//	$ session [ANSWER]           goes on as another client, whose user answers questions
//	                             with one of answers
//	$ offline FOLDER             the folder's source is away from now on
//	$ fail ERROR                 from now on changes fail with an error of failures
//
// go test -update writes the outputs anew.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	if need.Raced() { // a transcript waits for each answer
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		files = files[:len(files)/10]
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
	notes, later, config := make(map[string]string), make(map[string]string), make(map[string]string)
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "later/"); ok {
			later[name] = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, ".obsidian/"); ok {
			config[name] = string(f.Data)
		} else {
			notes[f.Name] = string(f.Data)
		}
	}
	head, commands, _ := strings.Cut(string(archive.Comment), "\n$ ")
	var fault error
	f := bridgetest.New(t, notes, func(o *bridge.Options) {
		setOptions(t, o, head)
		for i := range o.Roots {
			source := &failingSource{o.Roots[i].Source.(*bridgetest.Source), &fault}
			if o.Roots[i].Source = source; len(config) > 0 {
				o.Roots[i].Source = configuredSource{source, config}
			}
		}
	})
	so := serverOptions(t, head)
	if address := optionOf(head, "embeddings"); address != "" {
		e := &semantic.Endpoint{URL: address, Model: "m", Wait: time.Millisecond}
		so.Semantic = semantic.New(f.Workspace, semantic.Options{Embedder: e})
	}
	srv := mcpserver.New(f.Workspace, so)
	t.Cleanup(srv.Close)
	r := transcriptRun{t: t, f: f, srv: srv, later: later, client: connect(t, srv, "agent-1"), clients: 1, fault: &fault}
	var out strings.Builder
	out.WriteString(head)
	for _, c := range strings.Split(commands, "\n$ ") {
		command, _, _ := strings.Cut(c, "\n")
		out.WriteString("\n$ " + command + "\n")
		if text := r.named(r.run(command)); text != "" {
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
			case "structure=deny":
				o.Structure = bridge.StructureDeny
			case "mode=direct":
				o.Mode = bridge.Direct
			case "view=original":
				o.View = diffwrap.OriginalView
			case "read-only":
			default:
				if name, _, ok := strings.Cut(word, "="); !ok || !slices.Contains([]string{"toolsets", "approve", "embeddings"}, name) {
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

// optionOf is the value of a word NAME=VALUE in the head of a transcript.
func optionOf(head, name string) string {
	for word := range strings.FieldsSeq(head) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// answers are what the user of a client answers, by the word of a transcript.
var answers = map[string]map[string]any{
	"yes":    {"action": "accept", "content": map[string]any{"approve": true}},
	"always": {"action": "accept", "content": map[string]any{"approve": true, "remember": true}},
	"no":     {"action": "decline"},
	"cancel": {"action": "cancel"},
	"blank":  {"action": "accept"},
	"odd":    {"action": "accept", "content": map[string]any{"approve": "false"}},
}

var modified = regexp.MustCompile(`"modified":"[0-9T:-]*Z"`)

var suggestionID = regexp.MustCompile(`\[[0-9a-f]{10}\]`)

var repeated = regexp.MustCompile(`\{"repeat": \["([^"]*)", ([0-9]+)\]\}`)

// transcriptRun is one transcript under way.
type transcriptRun struct {
	t       *testing.T
	f       *bridgetest.Fixture
	srv     *mcpserver.Server
	later   map[string]string
	client  *rpc
	clients int
	fault   *error // of every change
}

// failures are what the command fail knows.
var failures = map[string]error{
	"no-space": model.ErrNoSpace, "permission": fs.ErrPermission, "conflict": model.ErrConflict, "closed": model.ErrClosed,
	"read-only-because": &model.ReadOnlyError{Reason: "ys://notes.example takes no changes: the token is for reading only; set RELAYFS_TOKEN to one that may write and start again, if that is wanted"},
	"not-fetched":       model.ErrNotFetched, "not-fetched-because": &model.NotFetchedError{Reason: "ys://notes.example: server refuses access; set RELAYFS_TOKEN to a token that is good for the folder"},
	"exists": fs.ErrExist, "not-a-folder": model.ErrNotDir, "in-the-way": model.ErrNameTaken, "none": nil,
}

// failingSource is a source whose changes fail once fault is set.
type failingSource struct {
	*bridgetest.Source
	fault *error
}

func (s *failingSource) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if *s.fault != nil {
		return model.Stamp{}, *s.fault
	}
	return s.Source.Replace(ctx, rel, r)
}

func (s *failingSource) Create(ctx context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	if *s.fault != nil {
		return model.Stamp{}, *s.fault
	}
	return s.Source.Create(ctx, rel, file)
}

// configuredSource is a vault with the configuration of Obsidian.
type configuredSource struct {
	*failingSource
	config map[string]string
}

func (s configuredSource) ReadConfig(name string) ([]byte, error) {
	text, ok := s.config[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (r *transcriptRun) decide(command string) {
	words := strings.SplitN(command, " ", 3)
	list, err := r.f.Suggestions(r.t.Context(), model.Path(words[1]))
	if err != nil {
		r.t.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	author := model.Author{Name: "person", Reason: words[2]}
	if out, err := r.f.Decide(r.t.Context(), ids, model.Verdict(words[0]), author); err != nil || len(out.Failed) > 0 {
		r.t.Fatalf("%s: %v, %v", command, err, out.Failed)
	}
}

// named gives the proposals in text, whose IDs are random, names by their order,
// and suggestions a common one.
func (r *transcriptRun) named(text string) string {
	list, err := r.f.Proposals(r.t.Context(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	for i, p := range list {
		text = strings.ReplaceAll(text, p.ID, fmt.Sprint("proposal ", i+1))
	}
	text = suggestionID.ReplaceAllString(text, "[ID]")
	return text
}

func (r *transcriptRun) run(command string) string {
	word, rest, _ := strings.Cut(command, " ")
	switch word {
	case "person":
		path, file, _ := strings.Cut(rest, " ")
		r.f.Person(path, r.later[file])
		return ""
	case "decide":
		r.decide(rest)
		return ""
	case "raw":
		return r.f.SourceText(rest)
	case "odd":
		name, err := strconv.Unquote(`"` + rest + `"`)
		if err != nil {
			r.t.Fatalf("%s: %v", command, err)
		}
		r.f.Person(name, "A word of [[a]].\n")
		return ""
	case "bytes":
		path, quoted, _ := strings.Cut(rest, " ")
		data, err := strconv.Unquote(`"` + quoted + `"`)
		if err != nil {
			r.t.Fatalf("%s: %v", command, err)
		}
		r.f.Person(path, data)
		return ""
	case "offline":
		r.f.SetOffline(rest, true)
		return ""
	case "fail":
		var ok bool
		if *r.fault, ok = failures[rest]; !ok {
			r.t.Fatalf("%s: no such failure", command)
		}
		return ""
	case "session":
		r.clients++
		r.client = connectWith(r.t, r.srv, "agent-"+string(rune('0'+r.clients)), mcpserver.Client{Name: "test"}, answers[rest])
		return ""
	}
	args := repeated.ReplaceAllStringFunc(rest, func(s string) string {
		found := repeated.FindStringSubmatch(s)
		n, err := strconv.Atoi(found[2])
		if err != nil {
			r.t.Fatal(err)
		}
		return `"` + strings.Repeat(found[1], n) + `"`
	})
	text, isError := r.client.callTool(word, json.RawMessage(args))
	text = modified.ReplaceAllString(text, `"modified":"TIME"`)
	for _, q := range slices.Backward(r.client.questions()) {
		text = "[asked] " + q + "\n" + text
	}
	if isError {
		return "[error] " + text
	}
	return text
}
