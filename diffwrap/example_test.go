package diffwrap_test

import (
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/diffwrap"
)

func ExamplePut() {
	raw := "I {--teh--}{++the++} best fox.\n"
	edits, err := diffwrap.Put(raw, "I the best red fox.\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", edits)
	fmt.Print(diffwrap.Apply(raw, edits))
	// Output:
	// [{Off:26 Len:0 New:{++red ++}}]
	// I {--teh--}{++the++} best {++red ++}fox.
}

func ExampleOptions_Put() {
	options := diffwrap.Options{FrontMatter: diffwrap.FrontMatterRefuse}
	_, err := options.Put("---\nstatus: draft\n---\nText.\n", "---\nstatus: done\n---\nText.\n")
	fmt.Println(errors.Is(err, diffwrap.ErrFrontMatterRefused))
	fmt.Println(err)
	// Output:
	// true
	// line 1, "---": front matter must not be changed here; leave the properties as they are
}

func ExampleSuggestions() {
	raw := "A {--red--}{++blue++} fox{>>why?<<} {++{\"author\":\"Ada\"}@@quietly ++}jumps.\n"
	for _, s := range diffwrap.Suggestions(raw) {
		fmt.Printf("L%d %v %q -> %q by %q\n", s.Line, s.Kind, s.Old, s.New, s.Author)
	}
	first := diffwrap.Suggestions(raw)[0]
	fmt.Print(diffwrap.Apply(raw, (diffwrap.Known{}).Decide(raw, false, nil, first)))
	// Output:
	// L1 replacement "red" -> "blue" by ""
	// L1 addition "" -> "quietly " by "Ada"
	// A red fox{>>why?<<} {++{"author":"Ada"}@@quietly ++}jumps.
}

func ExampleDiff() {
	fmt.Printf("%+v\n", diffwrap.Diff("I teh best\n", "I the best\n"))
	// Output:
	// [{Off:3 Len:2 New:he}]
}
