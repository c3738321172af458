package grep_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
)

// Classes and borders of words are Unicode's, as in ripgrep, and '$' stands before a CRLF.
func TestUnicodeAndCRLF(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		lines         []string
		only          []string
	}{
		{`\bcafé\b`, "un café noir\ncaféine\n", []string{"un café noir"}, []string{"café"}},
		{`\bпривет\b`, "привет, мир\nприветик\n", []string{"привет, мир"}, []string{"привет"}},
		{`\b日本語\b`, "日本語 x\n日本語x\n", []string{"日本語 x"}, []string{"日本語"}},
		{`\bnoir\b`, "noirâtre\nnoir\n", []string{"noir"}, []string{"noir"}},
		{`^\w+$`, "naïve\na b\ncafe\u0301\n", []string{"naïve", "cafe\u0301"}, []string{"naïve", "cafe\u0301"}},
		{`^\W+$`, "é\n--\n", []string{"--"}, []string{"--"}},
		{`^\d+$`, "١٢٣\nx1\n", []string{"١٢٣"}, []string{"١٢٣"}},
		{`a\sb`, "a\u00a0b\nab\n", []string{"a\u00a0b"}, []string{"a\u00a0b"}},
		{`^[\w-]+$`, "é-a\né a\n", []string{"é-a"}, []string{"é-a"}},
		{`^[^\W\d]+$`, "éa\né1\n", []string{"éa"}, []string{"éa"}},
		{`^[\D]+$`, "é\n١\n", []string{"é"}, []string{"é"}},
		{`\Q\w\E`, `\w` + "\né\n", []string{`\w`}, []string{`\w`}},
		{`milk$`, "milk\r\nmilky\r\nno milk\r\n", []string{"milk", "no milk"}, []string{"milk", "milk"}},
		{`^$`, "a\r\n\r\nb\r\n", []string{""}, nil},
		{`k\r`, "milk\r\nmilk\n", []string{"milk\r"}, []string{"k\r"}},
	} {
		p, err := grep.Compile(tt.pattern, grep.Options{})
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		texts := func(f grep.Format) (list []string) {
			for _, e := range p.Entries("", tt.text, f, -1) {
				list = append(list, e.Text[1:])
				if e.Start > e.End || e.End > len(tt.text) {
					t.Errorf("%q: %+v is not in the text", tt.pattern, e)
				}
			}
			return list
		}
		if got := texts(grep.Format{}); !slices.Equal(got, tt.lines) {
			t.Errorf("%q: lines %q, want %q", tt.pattern, got, tt.lines)
		}
		if got := texts(grep.Format{OnlyMatching: true}); !slices.Equal(got, tt.only) {
			t.Errorf("%q: matches %q, want %q", tt.pattern, got, tt.only)
		}
		if n := p.Count(tt.text, false); n != len(tt.lines) || p.Matches(tt.text) != (n > 0) {
			t.Errorf("%q: counts %d", tt.pattern, n)
		}
	}
}

// Places in a text with CRLF breaks are those of the text.
func TestEntriesOfCRLF(t *testing.T) {
	const text = "\ufeffone\r\ntwo\r\n\r\ntwo three\r\nfour\n"
	p, err := grep.Compile("two|four", grep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain := text[len("\ufeff"):]
	for _, f := range []grep.Format{{}, {Before: 1, After: 1}} {
		for _, e := range p.Entries("", text, f, -1) {
			if e.Text == grep.Separator {
				continue
			}
			if got := plain[e.Start:e.End]; got != e.Text[1:]+"\r\n" && got != e.Text[1:]+"\n" {
				t.Errorf("%+v is %q", e, got)
			}
		}
	}
	for _, e := range p.Entries("", text, grep.Format{OnlyMatching: true}, -1) {
		if got := plain[e.Start:e.End]; strings.TrimRight(got, "\r\n") != e.Text[1:] {
			t.Errorf("%+v is %q", e, got)
		}
	}
	if got := p.Entries("", text, grep.Format{From: len("one\r\ntwo\r\n")}, -1); len(got) != 2 || got[0].Line != 4 {
		t.Errorf("from the third line on: %+v", got)
	}
}

// Sets of sets are refused, and brackets that both read alike are not.
func TestSetOperations(t *testing.T) {
	for _, pattern := range []string{`[a-z&&[aeiou]]`, `[a-z--x]`, `[a~~b]`, `[a[bc]]`, `x[\w&&\d]`} {
		var syntax *grep.SyntaxError
		if _, err := grep.Compile(pattern, grep.Options{}); !errors.As(err, &syntax) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{`[[:alpha:]_]`, `[a\[b]`, `[a-]`, `[^a-z]`, `[]a]`, `[&a]`, `\[a&&b\]`, `\Q[a&&b]\E`, "[x[:digit:]]"} {
		if _, err := grep.Compile(pattern, grep.Options{}); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
