package markdown

// Rule is what the rows of the tables of rules of readability have in common. What it does is in the fields that a table has besides.
type Rule struct {
	Name       string // by which the cases of testdata/put call it
	When, What string
	Example    string // a pending text that the rule makes what it is
}

// NewRule is a rule.
func NewRule(name, when, what, example string) Rule { return Rule{name, when, what, example} }
