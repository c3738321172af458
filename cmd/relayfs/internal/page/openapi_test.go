package page

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// routes collects what a server answers.
type routes map[string]bool

func (r routes) HandleFunc(route string, _ func(http.ResponseWriter, *http.Request)) { r[route] = true }

// Every route of the API is described, and nothing else is.
func TestDescribedRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	described, served := make(routes), make(routes)
	for path, methods := range doc.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	handle(served, pageQueue{})
	if got, want := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(served)); !slices.Equal(got, want) {
		t.Errorf("openapi.json describes %q, served are %q", got, want)
	}
}
