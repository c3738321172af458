package markdown

// Rule has the fields that the rules of all tables share. Each table adds the fields that implement its rules.
type Rule struct {
	Name       string // name in the cases of testdata/put
	When, What string
	Example    string // a pending text that shows the effect of the rule
}

func NewRule(name, when, what, example string) Rule { return Rule{name, when, what, example} }
