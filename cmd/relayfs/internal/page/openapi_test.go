package page

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// Every route of the API is described, and nothing else is.
func TestDescribedRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	described := make(map[string]bool)
	for path, methods := range doc.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	want := append(api.ReviewRoutes(), "GET "+documentPath, "GET /openapi.json")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(described)); !slices.Equal(got, want) {
		t.Errorf("openapi.json describes %q, served are %q", got, want)
	}
}

// The description has every field of the requests and answers.
func TestDescribedFields(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"Suggestion": reviewqueue.Suggestion{}, "Rejection": reviewqueue.Rejection{}, "Thread": reviewqueue.Thread{}, "Remark": reviewqueue.ThreadComment{},
		"Note": reviewqueue.Note{}, "Outcome": reviewqueue.Outcome{}, "LogEntry": reviewqueue.LogEntry{}, "Decided": reviewqueue.LogItem{},
		"Decide": reviewqueue.DecideRequest{}, "Undo": reviewqueue.UndoRequest{}, "Comment": reviewqueue.CommentRequest{},
		"Resolve": reviewqueue.ResolveRequest{}, "Change": reviewqueue.Change{}, "Pending": reviewqueue.Pending{}, "Document": document{},
	} {
		var want []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" && tag != "-" {
				want = append(want, tag)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties)); !slices.Equal(got, want) {
			t.Errorf("openapi.json describes %s with %q, its fields are %q", name, got, want)
		}
	}
}
