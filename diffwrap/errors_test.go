package diffwrap

import (
	"errors"
	"strings"
	"testing"
)

// A refusal quotes the start of a long text, in whole characters.
func TestRefusalQuotesAStart(t *testing.T) {
	err := &RefusedError{Line: 3, Literal: strings.Repeat("é", 61), Err: errors.New("is a mark"), advice: "leave it out"}
	want := `line 3, "` + strings.Repeat("é", 60) + `"...: is a mark; leave it out`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
