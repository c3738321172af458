package frontmatter

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A merge of deep mappings, or of long lists, that both writers have changed takes no long time.
func TestMergeOfLargeValues(t *testing.T) {
	nested := func(leaf string) string {
		return "---\n" + strings.Repeat("{a: ", maxDepth-5) + leaf + strings.Repeat("}", maxDepth-5) + "\n---\n"
	}
	list := func(item string) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "- %d\n", i)
		}
		return "---\na:\n" + b.String() + item + "---\n"
	}
	start := time.Now()
	if err := CheckMerge(nested("1"), nested("2"), nested("3"), nested("23")); err != ErrChanged {
		t.Errorf("two values of one property: got %v", err)
	}
	if err := CheckMerge(nested("[1]"), nested("[1, 2]"), nested("[1, 3]"), nested("[1, 2, 3]")); err != nil {
		t.Errorf("two items: %v", err)
	}
	if err := CheckMerge(list(""), list("- x\n"), list("- y\n"), list("- x\n- y\n")); err != nil {
		t.Errorf("two items of a long list: %v", err)
	}
	if err := CheckMerge(list(""), list("- x\n"), list("- x\n- y\n"), list("- x\n- x\n- y\n")); err != ErrChanged {
		t.Errorf("an item twice: got %v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}
