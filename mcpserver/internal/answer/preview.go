package answer

import "strings"

// LeftOut stands for what a preview leaves out.
const LeftOut = "[...]"

// maxSide is how many words of a suggestion's old and new text are shown.
const maxSide = 10

// OneLine shows s without line breaks; the middle of a long text is left out.
func OneLine(s string) string {
	words := strings.SplitAfter(s, " ")
	if len(words) > maxSide {
		s = strings.Join(words[:maxSide/2], "") + LeftOut + " " + strings.Join(words[len(words)-maxSide/2:], "")
	}
	if runes := []rune(s); len(runes) > 40*maxSide {
		s = string(runes[:20*maxSide]) + LeftOut + string(runes[len(runes)-20*maxSide:])
	}
	return Unbroken(s)
}

// Unbroken shows s without line breaks.
func Unbroken(s string) string { return strings.NewReplacer("\r\n", `\n`, "\n", `\n`).Replace(s) }
