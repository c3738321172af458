package semantic

// Terms are the terms of a text.
func Terms(text string) []string {
	var terms []string
	stemmer{}.terms(text, func(t string) { terms = append(terms, t) })
	return terms
}
