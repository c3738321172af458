package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// api is the review API as a program on this machine finds it: by the file in the state folder.
type api struct {
	t           *testing.T
	base, token string
	file        string // where they were found
	described   map[string]any
	schemas     *jsonschema.Compiler
}

func newAPI(t *testing.T, s *harness.Sandbox) *api {
	t.Helper()
	var found []string
	err := filepath.WalkDir(s.Path("xdg", "state_home"), func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "review-page" {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("files with the token: %q, %v; want one", found, err)
	}
	if st, err := os.Stat(found[0]); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v; want mode 0600", found[0], st.Mode(), err)
	}
	port, token, _ := strings.Cut(strings.TrimSpace(harness.ReadFile(t, found[0])), " ")
	a := &api{t: t, base: "http://127.0.0.1:" + port + "/api", token: token, file: found[0]}
	status, text := a.send(http.MethodGet, "/openapi.json", nil)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if status != http.StatusOK || err != nil {
		t.Fatalf("openapi.json: %d, %v: %s", status, err, text)
	}
	a.described = doc.(map[string]any)
	a.schemas = jsonschema.NewCompiler()
	if err := a.schemas.AddResource("relayfs:api", doc); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *api) send(method, path string, body any) (int, string) {
	a.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, bytes.NewReader(data))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// ask sends a request, and compares it and its answer with their schemas.
func (a *api) ask(method, path string, body, answer any) {
	a.t.Helper()
	route, _, _ := strings.Cut(path, "?")
	at := "relayfs:api#/paths/" + strings.ReplaceAll(route, "/", "~1") + "/" + strings.ToLower(method)
	if body != nil {
		data, _ := json.Marshal(body)
		a.conforms("the request of "+path, at+"/requestBody/content/application~1json/schema", string(data))
	}
	status, text := a.send(method, path, body)
	if status != http.StatusOK {
		a.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	a.conforms("the answer of "+path, at+"/responses/200/content/application~1json/schema", text)
	if err := json.Unmarshal([]byte(text), answer); err != nil {
		a.t.Fatalf("%s: %v", path, err)
	}
}

func (a *api) conforms(what, schema, text string) {
	a.t.Helper()
	s, err := a.schemas.Compile(schema)
	if err != nil {
		a.t.Fatalf("%s: %v", schema, err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		a.t.Errorf("%s: %v\n%s", what, err, text)
	}
}

type apiSuggestion struct {
	ID, Path, Kind, Old, New, Revision string
	Places                             []struct{ Start, End int }
}

type apiNote struct {
	Text, Revision string
	Suggestions    []apiSuggestion
	Threads        []struct {
		ID         string
		Start, End int
	}
}

// An editor's plugin lists, finds the places of suggestions, comments, decides and takes back; every request and every
// answer is as described.
func TestReviewAPI(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"a.md": "---\nt: 1\n---\nÖne two, and then once more three.\n", "sub/b.md": "Four {--five--}{++six++}.\n", "c.md": "Links to [[a]].\n"})
	for _, edit := range [][]string{{"two", "2"}, {"three", "3"}, {"t: 1", "t: 2"}} {
		if out := s.Run(t, "edit", "--author", "claude", "--source", vault, "Vault/a.md", "--old", edit[0], "--new", edit[1]); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	m := s.Mount(t, vault, "--author", "claude")
	if err := os.Rename(m.Path("a.md"), m.Path("d.md")); err != nil {
		t.Fatal(err)
	}
	reviewPage(t, s, vault)
	a := newAPI(t, s)
	var list []apiSuggestion
	a.ask("GET", "/suggestions", nil, &list)
	if len(list) != 5 {
		t.Fatalf("%d suggestions: %+v", len(list), list)
	}
	for query, want := range map[string]int{"?path=sub/**": 0, "?path=Vault/sub/**": 1, "?author=claude": 4, "?kind=rename": 1, "?author=claude&kind=replacement&context=1": 3} {
		if a.ask("GET", "/suggestions"+query, nil, &list); len(list) != want {
			t.Errorf("%s: %d suggestions, want %d", query, len(list), want)
		}
	}
	var n apiNote
	a.ask("GET", "/note?path=Vault/d.md", nil, &n)
	var marks []string
	for _, sg := range n.Suggestions {
		for _, at := range sg.Places {
			marks = append(marks, n.Text[at.Start:at.End])
		}
	}
	if got, want := fmt.Sprint(marks), "[{--two--}{++2++} {--three--}{++3++}]"; got != want {
		t.Errorf("at the places stand %s, want %s", got, want)
	}
	var document struct{ Path, Obsidian string }
	a.ask("GET", "/document?path=Vault/d.md", nil, &document)
	if want := "obsidian://open?vault=Vault&file=a.md"; document.Obsidian != want { // where the person has it
		t.Errorf("in Obsidian it is opened by %q, want %q", document.Obsidian, want)
	}

	var out struct {
		Batch string
		Notes int
	}
	end := strings.Index(n.Text, "Öne") + len("Öne")
	a.ask("POST", "/comment", map[string]any{"path": "Vault/d.md", "end": end, "revision": n.Revision, "text": "sure?"}, &out)
	if status, text := a.send("POST", "/comment", map[string]any{"path": "Vault/d.md", "end": end, "revision": n.Revision, "text": "again"}); status != http.StatusConflict {
		t.Errorf("offsets of a text that has changed: %d %s", status, text)
	}
	a.ask("POST", "/comment", map[string]any{"suggestion": n.Suggestions[0].ID, "text": "in words"}, &out)
	var threads []struct{ ID string }
	a.ask("GET", "/threads?path=d.md", nil, &threads)
	if len(threads) != 2 {
		t.Fatalf("threads %+v", threads)
	}
	a.ask("POST", "/comment", map[string]any{"thread": threads[0].ID, "text": "yes"}, &out)
	a.ask("POST", "/resolve", map[string]any{"threads": []string{threads[0].ID}}, &out)

	decide := func(sg apiSuggestion, verdict, text string) {
		t.Helper()
		a.ask("POST", "/decide", map[string]any{"shown": map[string]string{sg.ID: sg.Revision}, "verdict": verdict, "text": text, "reason": "so"}, &out)
		if out.Notes != 1 {
			t.Errorf("%s %+v: %+v", verdict, sg, out)
		}
	}
	if status, text := a.send("POST", "/decide", map[string]any{"shown": map[string]string{n.Suggestions[0].ID: n.Suggestions[0].Revision}, "verdict": "accepted"}); status != http.StatusConflict {
		t.Errorf("a suggestion that has a comment since: %d %s", status, text)
	}
	a.ask("GET", "/suggestions", nil, &list)
	for _, sg := range list {
		switch sg.New {
		case "2":
			decide(sg, "accepted", "")
			a.ask("POST", "/undo", map[string]any{"batch": out.Batch}, &out)
		case "3":
			decide(sg, "changed", "III")
		case "six":
			decide(sg, "rejected", "")
		}
	}
	var again []apiSuggestion
	a.ask("GET", "/suggestions?kind=replacement", nil, &again)
	if len(again) != 2 || again[1].ID != n.Suggestions[0].ID {
		t.Errorf("after an undo %+v, want %s again", again, n.Suggestions[0].ID)
	}
	var log []struct {
		Action      string
		Suggestions []struct{ New, Instead string }
	}
	a.ask("GET", "/journal?limit=50", nil, &log)
	if len(log) < 8 {
		t.Errorf("the journal has %+v", log)
	}
	for _, x := range log {
		if x.Action == "changed" && (x.Suggestions[0].New != "3" || x.Suggestions[0].Instead != "III") {
			t.Errorf("the journal has %+v, want III instead of 3", x)
		}
	}
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		want         string
	}{
		{"GET", "/suggestions?kind=odd", nil, http.StatusBadRequest, "is not one of"},
		{"GET", "/suggestions?path=[", nil, http.StatusBadRequest, "not a valid pattern"},
		{"GET", "/note?path=Vault/none.md", nil, http.StatusNotFound, "Vault/none.md"},
		{"GET", "/journal", nil, http.StatusBadRequest, "limit is not a number"},
		{"GET", "/note", nil, http.StatusUnprocessableEntity, "is a folder"},
		{"GET", "/note?path=Vault", nil, http.StatusUnprocessableEntity, "folder"},
		{"GET", "/note?path=../x", nil, http.StatusUnprocessableEntity, "../x"},
		{"POST", "/decide", "x", http.StatusBadRequest, "it must not be a JSON string"},
		{"POST", "/decide", map[string]any{"ids": "x"}, http.StatusBadRequest, `"ids" must not be a JSON string`},
		{"POST", "/decide", map[string]any{"verdict": "odd", "shown": map[string]string{"a": "b"}}, http.StatusBadRequest, "is not one of"},
		{"POST", "/decide", map[string]any{"verdict": "accepted"}, http.StatusBadRequest, "no suggestion is named"},
		{"POST", "/undo", map[string]any{"batch": "20200101T000000.000-abcd"}, http.StatusGone, "nothing to undo"},
		{"POST", "/comment", map[string]any{"path": "Vault/d.md", "quote": "nowhere", "text": "x"}, http.StatusUnprocessableEntity, "does not occur"},
		{"POST", "/comment", map[string]any{"text": "x"}, http.StatusBadRequest, "the comment has no target"},
		{"POST", "/resolve", map[string]any{}, http.StatusBadRequest, "name the threads"},
	} {
		if status, text := a.send(c.method, c.path, c.body); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s %v: %d %q, want %d %q", c.method, c.path, c.body, status, text, c.status, c.want)
		}
	}
	a.raceOfDecisions()
	a.token = "wrong wrong wrong wrong"
	if status, _ := a.send("GET", "/suggestions", nil); status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", status)
	}
}

// raceOfDecisions has two clients decide differently on all that both were shown: one of them does, the other does nothing.
func (a *api) raceOfDecisions() {
	a.t.Helper()
	var pending []apiSuggestion
	a.ask("GET", "/suggestions", nil, &pending)
	shown := make(map[string]string)
	for _, sg := range pending {
		shown[sg.ID] = sg.Revision
	}
	statuses := make(chan int)
	for _, verdict := range []string{"accepted", "rejected"} {
		go func() {
			status, _ := a.send("POST", "/decide", map[string]any{"shown": shown, "verdict": verdict})
			statuses <- status
		}()
	}
	got := []int{<-statuses, <-statuses}
	slices.Sort(got)
	if want := []int{http.StatusOK, http.StatusConflict}; len(pending) < 2 || !slices.Equal(got, want) {
		a.t.Errorf("two decisions on %d suggestions at once: statuses %v, want %v", len(pending), got, want)
	}
}

// The description is valid OpenAPI 3.1, as a validator of others reads it.
func TestDescriptionIsOpenAPI(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(harness.Repo("tests/review-api/node_modules/@seriousme")); err != nil {
		need.Missing(t, "tests/review-api is not installed: run npm ci there")
	}
	need.Programs(t, "node")
	s := harness.NewSandbox(t)
	reviewPage(t, s, s.Vault(t, "Vault", map[string]string{"a.md": "a\n"}))
	_, text := newAPI(t, s).send(http.MethodGet, "/openapi.json", nil)
	cmd := exec.CommandContext(t.Context(), "node", harness.Repo("tests/review-api/validate.mjs"))
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(text, `"openapi":"3.1.`) && !strings.Contains(text, `"openapi": "3.1.`) {
		t.Errorf("it is not OpenAPI 3.1: %.80s", text)
	}
}
