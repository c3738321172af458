package diffwrap

import "fmt"

// String returns "direct" or "refuse".
func (p FrontMatterPolicy) String() string {
	if p == FrontMatterRefuse {
		return "refuse"
	}
	return "direct"
}

// ParseFrontMatterPolicy is the inverse of FrontMatterPolicy.String.
func ParseFrontMatterPolicy(s string) (FrontMatterPolicy, error) {
	for _, p := range []FrontMatterPolicy{FrontMatterDirect, FrontMatterRefuse} {
		if s == p.String() {
			return p, nil
		}
	}
	return FrontMatterDirect, fmt.Errorf("front matter policy %q: must be direct or refuse", s)
}
