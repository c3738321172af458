// Package rule has what the rules of readability have in common.
package rule

// Rule is a row of a table of rules. What it does is in the fields that a table has besides.
type Rule struct {
	Name       string // by which the cases of testdata/put call it
	When, What string
	Example    string // a pending text that the rule makes what it is
}

// New is a rule.
func New(name, when, what, example string) Rule { return Rule{name, when, what, example} }
