package page

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
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
