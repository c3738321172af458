package queue

import (
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// ManyAtOnce is how many suggestions are decided at once without asking.
const ManyAtOnce = 10

// MaxReason bounds a reason, which every note's entry in the journal has.
const MaxReason = 1000 // bytes

// TidyReason is a reason that was typed or pasted, as it is kept.
func TidyReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

// Imperative is how a question about a verdict starts.
func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// Reviewer is the name of who decides: the user's, whatever name agents were given.
func Reviewer() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
