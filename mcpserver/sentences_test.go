package mcpserver_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// untold are the sentences that no transcript can show, with the test that does.
var untold = map[string]string{
	"The argument %q cannot be read: %v.":                        "TestDecodeArgs: mcp-go refuses the request before",
	"%s ... [cut here]":                                          "TestMCPAnswersAreBounded in tests: its sentence is as long as an answer may be",
	"%q is read-only here. Tell the user what you would change.": "it needs a disk that is mounted read-only",
	"The search was stopped after 20 seconds: the pattern takes too long over these documents. Use one that repeats less, or search in one folder with path.": "TestSearchThatEnds of refusal: a transcript does not take that long",
	"%q exists already. Read it and use replace_content, or choose another path.":                                                                             "replace_content replaces what exists, unless that was made while it looked",
	"Resource %q is not an address like note:///Folder/Name.md.":                                                                                              "TestRefusedRequests: it refuses no tool call",
	"The argument %q has a number that is too large.":                                                                                                         "TestDecodeArgs: mcp-go refuses the request before",
	"%s is an image of more than %d MiB, which is too large for an answer. Tell the user, who can open it.":                                                   "TestReadImages",
	"The call was cancelled.": "TestCancelledSearch: a transcript waits for each answer",
}

// Every sentence with which a tool refuses is shown by a transcript. The sentences
// are taken from the source: the formats given to ErrorResult and InvalidArgument, those
// of tool.Phrases and of the table with it, and those of errors that are sentences themselves.
func TestEverySentenceHasATranscript(t *testing.T) {
	told := refusals(t)
	for place, format := range sentences(t) {
		want := sentencePattern(format)
		if _, ok := untold[format]; ok || want == nil {
			continue
		}
		if !slices.ContainsFunc(told, want.MatchString) {
			t.Errorf("%s: no transcript shows %q", place, format)
		}
	}
}

// refusals are the error results of the transcripts.
func refusals(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range ofItem.FindAllStringSubmatch(string(data), -1) {
			text, err := strconv.Unquote(`"` + item[2] + `"`)
			if item[1] != "" || err != nil {
				text = item[1]
			}
			told = append(told, text)
		}
		for _, part := range strings.Split(string(data), "\n[error] ")[1:] {
			text, _, _ := strings.Cut(part, "\n$ ")
			text, _, _ = strings.Cut(text, "\n-- ")
			text = asked.ReplaceAllString(text, "")
			var structured struct{ Error string }
			if json.Unmarshal([]byte(text), &structured) == nil {
				text = structured.Error
			}
			told = append(told, strings.TrimSpace(text))
		}
	}
	return told
}

// ofItem finds the refusals of single items in answers to calls for several, in lines and in JSON.
var ofItem = regexp.MustCompile(`(?m)^\d+\. \[error\] (.*)$|"error":"((?:[^"\\]|\\.)*)"`)

var asked = regexp.MustCompile(`(?m)^\[asked\] .*\n`)

var verb = regexp.MustCompile(`%[a-z]`)

// sentencePattern matches what format prints; nil if it has no words of its own.
func sentencePattern(format string) *regexp.Regexp {
	words := verb.Split(format, -1)
	if strings.TrimSpace(strings.Join(words, "")) == "" {
		return nil
	}
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(words, `.*`) + `$`)
}

// sentences are the formats of refusals, by their places in the source.
func sentences(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	fset := gotoken.NewFileSet()
	for _, name := range sources(t) {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, e := range sentencesAt(n) {
				if format, ok := constant(e); ok {
					found[fset.Position(e.Pos()).String()] = format
				}
			}
			return true
		})
	}
	if len(found) < 50 {
		t.Fatalf("only %d sentences are found in the source", len(found))
	}
	return found
}

// libraries have errors that are no sentences: tools quote them in their own.
var libraries = []string{"internal/document/canvas.go", "internal/document/type.go", "internal/grep"}

// sources are the files of the packages whose errors are sentences.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(libraries, filepath.ToSlash(path)):
			if e.IsDir() {
				return filepath.SkipDir
			}
		case filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sentencesAt are the expressions at n that are formats of refusals.
func sentencesAt(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if name := called(n); name == "ErrorResult" || name == "InvalidArgument" {
			return n.Args[:1]
		}
	case *ast.FuncDecl:
		if n.Name.Name == "Error" && n.Recv != nil {
			return formatsIn(n.Body)
		}
	case *ast.CompositeLit:
		return sayings(n)
	}
	return nil
}

// called is the name of the function that is called, without its package.
func called(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		return fn.Sel.Name
	}
	return ""
}

// formatsIn are the formats of the calls of Sprintf in body.
func formatsIn(body *ast.BlockStmt) (formats []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
				formats = append(formats, call.Args[0])
			}
		}
		return true
	})
	return formats
}

// sayings are the sentences of a literal of tool.Phrases, or of the table of them.
func sayings(lit *ast.CompositeLit) (formats []ast.Expr) {
	switch t := lit.Type.(type) {
	case *ast.SelectorExpr:
		if t.Sel.Name == "Phrases" {
			for _, field := range lit.Elts {
				formats = append(formats, field.(*ast.KeyValueExpr).Value)
			}
		}
	case *ast.ArrayType:
		if of, ok := t.Elt.(*ast.Ident); ok && of.Name == "sentence" {
			for _, row := range lit.Elts {
				formats = append(formats, row.(*ast.CompositeLit).Elts[1])
			}
		}
	}
	return formats
}

// constant is the text of a literal, or of several with '+' between.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, ok2 := constant(e.Y)
		return left + right, ok && ok2
	}
	return "", false
}
