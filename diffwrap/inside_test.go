package diffwrap

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

// A comment inside a link or a like construct goes after it. Comments elsewhere stay, and those that were there.
func TestCommentsAfterConstructs(t *testing.T) {
	for _, tt := range []struct{ shown, written, want string }{
		{"see [a](A.md) b", "see [a{>>q<<}](A.md) b", "see [a](A.md){>>q<<} b"},
		{"see [[A|an a]] b", "see [[A|an{>>q<<} a]] b", "see [[A|an a]]{>>q<<} b"},
		{"see ![[A]] b", "see ![[A{>>q<<}]]{>>r<<} b", "see ![[A]]{>>q<<}{>>r<<} b"},
		{"see [[A]] b [[B]]\n[[C]]", "see {>>1<<}[[{>>2<<}A]{>>3<<}] b [[B]{>>4<<}]\n[[{>>5<<}C]]{>>6<<}", "see {>>1<<}[[A]]{>>2<<}{>>3<<} b [[B]]{>>4<<}\n[[C]]{>>5<<}{>>6<<}"},
		{"", "new [a{>>q<<}](A.md) #t{>>r<<}ag https://a.b/c{>>s<<}d.", "new [a](A.md){>>q<<} #tag{>>r<<} https://a.b/cd{>>s<<}."},
		{"**very good** word", "**very{>>q<<} good** wo{>>r<<}rd", "**very{>>q<<} good** wo{>>r<<}rd"},
		{"`a b` $x$", "`a {>>q<<}b` $x{>>r<<}$", "`a {>>q<<}b` $x{>>r<<}$"},
		{"[a{>>q<<}](A.md) [b](B.md)", "[a{>>q<<}](A.md) [b{>>q<<}](B.md)!", "[a{>>q<<}](A.md) [b](B.md){>>q<<}!"},
		{"[a](A.md){>>q<<}", "[a{>>q<<}](A.md) more", "[a](A.md){>>q<<} more"},
		{"---\na: '[[A]]'\n---\n", "---\na: '[[A{>>q<<}]]'\n---\n", "---\na: '[[A{>>q<<}]]'\n---\n"},
		{"x", "{>>q<<}", "{>>q<<}"},
		{"[a][r] [^1][^2]", "[a{>>q<<}][r] [^1{>>s<<}][^2]", "[a][r]{>>q<<} [^1]{>>s<<}[^2]"},
		{"ä [[Ö]]", "ä [[{>>ü<<}Ö]]", "ä [[Ö]]{>>ü<<}"},
	} {
		if got := CommentsAfterConstructs(tt.shown, tt.written); got != tt.want {
			t.Errorf("%q, shown %q: got %q, want %q", tt.written, tt.shown, got, tt.want)
		}
	}
	for _, part := range []string{"[a{>>q<<}](A.md) ", "{>>q<<}", "[[a{>>q<<}", "[a{>>q<<}](A.md)\n"} {
		need.Linear(t, part, 60_000, func(n int) string { return need.Repeat(part, n) }, func(text string) { CommentsAfterConstructs("", text) })
	}
}

func TestAfterConstruct(t *testing.T) {
	for _, tt := range []struct{ text, inside, after string }{
		{"See [[Plan|the plan]].", "the plan", "]]"},
		{"See [[Plan|the plan]].", "[[Plan|the plan]]", "]]"},
		{"a [md](Plan.md) b", "md", ")"},
		{"a [ref][r] b", "ref", "[r]"},
		{"`a b` c", "a", "`"},
		{"[[P|a {++new++} b]] c", "new", "]]"},
		{"One word", "wo", "wo"},
		{"One.\nTwo", "One.", "One."},
	} {
		at := strings.Index(tt.text, tt.inside) + len(tt.inside)
		want := strings.LastIndex(tt.text, tt.after) + len(tt.after)
		if got := afterConstruct(tt.text, at); got != want {
			t.Errorf("%q: after %q is %q, want %q", tt.text, tt.inside, tt.text[:got], tt.text[:want])
		}
	}
}

func TestCommentPlace(t *testing.T) {
	for _, tt := range []struct{ text, anchor, want string }{ // want is the text before the comment; "-" if it is refused
		{"Para one ^pid", "Para one ^pid", "Para one"},
		{"Para one ^pid\nb", "^pid\n", "Para one ^pid\n"},
		{"Para one ^pid \r\nb", "^pi", "Para one"},
		{"Para one ^pid", "one ", "Para one"},
		{"Para one ^pid", "Para", "Para"},
		{"- a ^pid\n- b", "a ^pid", "- a"},
		{"[[A]] ^pid", "[[A", "[[A]]"},
		{"x^2 and $a ^2$", "$a", "x^2 and $a ^2$"},
		{"- a\n\n^pid", "^pid", "-"},
		{"- ^pid", "^pid", "-"},
		{"> ^pid", "^pid", "-"},
		{"# Head", "Head", "# Head"},
		{"# Head", "#", "-"},
		{"[a]: http://x", "http://x", "-"},
		{"[a]: http://x", "[a]", "-"},
		{"> [a]: http://x", "http", "-"},
		{"[Note]: call him back", "back", "[Note]: call him back"},
		{"[^1]: In May.", "[^1]", "-"},
		{"[^1]: In May.", "[^1]:", "-"},
		{"[^1]: In May.", "May", "[^1]: In May"},
		{"| a |\n|---|\n| b |", "|---|", "-"},
		{"| a |\n|---|\n| b |", "b", "| a |\n|---|\n| b"},
		{"- [ ] do", "- [ ]", "-"},
		{"- [x] do", "[x", "-"},
		{"- [ ] do", "do", "- [ ] do"},
		{"- do", "-", "-"},
		{"1. do", "1.", "-"},
		{"> do", ">", "-"},
		{"> do", "do", "> do"},
		{"> [!tip]", "[!tip]", "-"},
		{"> [!tip] Title", "[!tip]", "-"},
		{"> [!tip] Title", "Title", "> [!tip] Title"},
		{"a\n\n***\n", "***", "-"},
		{"a\n===\n", "===", "-"},
		{"```go\nx\n```\n", "```go", "-"},
		{"```go\nx\n```\n", "x", "-"},
		{"```go\nx\n```\n", "x\n```", "-"},
		{"- a\n  ```\n  x\n  ```\n", "x", "-"},
		{"$$\nx\n$$\n", "x", "-"},
		{"$$\nx\n$$\n", "x\n$$", "-"},
		{"x\n\n    code", "code", "-"},
		{"x\n\n    code", "co", "-"},
		{"- x\n\n    more", "more", "- x\n\n    more"},
		{"---\na: b\n---\nc", "b", "-"},
		{"---\na: b\n---\nc", "c", "---\na: b\n---\nc"},
		{"a `b` c", "`b`", "a `b`"},
	} {
		place, ok := CommentPlace(tt.text, strings.Index(tt.text, tt.anchor)+len(tt.anchor))
		got := "-"
		if ok {
			got = tt.text[:place]
		}
		if got != tt.want {
			t.Errorf("%q: the comment on %q is after %q, want %q", tt.text, tt.anchor, got, tt.want)
		}
	}
}
