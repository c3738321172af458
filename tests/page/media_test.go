package page

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const hostileSVG = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" onload="document.title='taken'">
<script>document.title = "taken"; fetch("http://example.org/x")</script>
<image href="http://example.org/y.png" width="10" height="10"/><rect width="200" height="100"/></svg>
`

// Images of the vault are shown, as large as the note says; those elsewhere are not loaded. Formulas are drawn, those that
// are none stay source, and callouts have the colour of their kind.
func TestReviewPageShowsImagesAndFormulas(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"Sub/Note.md": `{++New.++}

![[plan.svg|400]] and ![a map|50x20](../img/the%20map.png) and {--![[old.png]]--}{++![[../img/the map.png]]++}

![[wide.png|the wide {--one--}{++road++}|200]] ![far](http://example.org/x.png) ![[gone.png]] ![[fake.png]] ![[Other]] ![[paper.pdf|480]]

Say $x_1^2$ and {--$a + b$--}{++$a - b$++}, \$5 and $6, $\frac{$ and $$\sum_i i$$.

$$
\begin{aligned}
a &= b \\
c &= d
\end{aligned}
$$

> [!Warning]- Mind the *gap*
> It is deep.

> [!{--note--}{++tip++}] Changed

> [!unknown]
> Text
`,
		"files/plan.svg": hostileSVG, "img/the map.png": pngOf(t, 100, 40), "old.png": pngOf(t, 10, 10), "wide.png": pngOf(t, 3000, 30),
		"fake.png": "<script>alert(1)</script>", "Other.md": "other\n", "paper.pdf": "%PDF-1.4",
	})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 5 pending suggestions")
	var p shownPage
	harness.Eventually(t, harness.StartTimeout, func() error {
		p = b.do(t, "wait New.")
		if len(p.Images) < 5 || len(p.Formulas) < 5 {
			return fmt.Errorf("images %q, formulas %q", p.Images, p.Formulas)
		}
		return nil
	})
	if want := []string{"plan.svg 200 400", "a map 100 50", "old.png 10 10", "../img/the map.png 100 100", "the wide road 3000 200"}; !slices.Equal(p.Images, want) {
		t.Errorf("images %q, want %q", p.Images, want)
	}
	if want := []string{"x_1^2", "a + b", "a - b", `block \sum_i i`, "block \\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n"}; !slices.Equal(p.Formulas, want) {
		t.Errorf("formulas %q, want %q", p.Formulas, want)
	}
	if want := []string{"bad: Mind the gap", "good: [!{--note--}{++tip++}] Changed", "plain: Unknown"}; !slices.Equal(p.Callouts, want) {
		t.Errorf("callouts %q, want %q", p.Callouts, want)
	}
	text := strings.Join(p.Suggestions, "\n")
	for _, want := range []string{"the wide {--one--}{++road++}|200", "far", "gone.png", "fake.png", "Other", "paper.pdf", "$5 and $6", `\frac{`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown: %s", want, text)
		}
	}
	if p.Active != 0 {
		t.Errorf("%d active elements came in with the note", p.Active)
	}
}

// Images are served to the page alone, and nothing that is no image.
func TestImagesOfTheAPI(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"Note.md": "a\n", "a.svg": hostileSVG, "b.png": pngOf(t, 1, 1), "c.png": "text", "d.svg": "\x00\x01", "secret.txt": "x", "big.png": pngOf(t, 1, 1) + strings.Repeat("x", 10<<20),
		"wide.gif": "GIF89a\xff\xff\xff\xff\x00\x00\x00",
	})
	harness.WriteFile(t, filepath.Join(filepath.Dir(vault), "outside.png"), pngOf(t, 1, 1))
	reviewPage(t, s, vault)
	a := newAPI(t, s)
	for target, want := range map[string]int{
		"a.svg": 200, "b.png": 200, "./b.png": 200, "b.png#x": 200, "c.png": 400, "d.svg": 400, "secret.txt": 400, "big.png": 400, "wide.gif": 400, "Note": 404, "none.png": 404,
		"../outside.png": 404, "/etc/passwd": 404, "..%2Foutside.png": 404, "": 404,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+"/image?note=Vault/Note.md&target="+strings.ReplaceAll(strings.ReplaceAll(target, "%", "%25"), "#", "%23"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{"", a.token} {
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			status := want
			if token == "" {
				status = 401
			}
			if resp.StatusCode != status || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%q with the token %q: %s, want %d; policy %q", target, token, resp.Status, status, resp.Header.Get("Content-Security-Policy"))
			}
			if resp.StatusCode == 200 && !strings.HasPrefix(resp.Header.Get("Content-Type"), "image/") {
				t.Errorf("%q is served as %q", target, resp.Header.Get("Content-Type"))
			}
		}
		req.Header.Set("Origin", "http://example.org")
		if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 403 {
			t.Errorf("%q to another origin: %v, %v; want 403", target, resp, err)
		} else {
			resp.Body.Close()
		}
	}
}

// On a phone of 360 pixels nothing is wider than the window, no number is divided, all can be decided with a finger, and
// the list does not cover the note.
func TestReviewPageOnAPhone(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	row := "| " + strings.Repeat("1987-1991 | 12,345,678.90 | ", 4) + "long words in cells |\n"
	vault := s.Vault(t, "Vault", map[string]string{
		"A.md": "---\nstatus: draft\nsince: 2026-01-31\n---\n# Years {++1987++}\n\n" + "|" + strings.Repeat(" a |", 9) + "\n|" + strings.Repeat("---|", 9) + "\n" + row +
			"| {--2024--}{++2025++}" + strings.Repeat(" | 1987", 8) + " |\n\nFrom 1987 to {--1,000,000--}{++1,000,001++} on 2026-01-31 at 18:45 with +49 30 901820 and " + strings.Repeat("Donaudampfschiff", 8) +
			".\n\n![[wide.png]]\n\n$$\\sum_{i=1}^{1000000} x_{1987} + x_{1988} + x_{1989} + x_{1990} + x_{1991} + x_{1992}$$\n\n> [!tip] 1987\n> See https://example.org/" + strings.Repeat("long/", 20) +
			"\n\n```go\nvar x = []int{1987, 1988, 1989, 1990, 1991, 1992, 1993, 1994, 1995, 1996}\n```\n",
		"B.md": "One {--1987--}{++1988++} more.\n", "wide.png": pngOf(t, 2000, 500),
	})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "look 360 740 light")
	b.do(t, "reload")
	p := b.do(t, "wait 4 pending suggestions")
	harness.Eventually(t, harness.StartTimeout, func() error {
		if p = b.do(t, "numbers"); len(p.Images) == 0 || len(p.Formulas) == 0 {
			return fmt.Errorf("images %q, formulas %q", p.Images, p.Formulas)
		}
		return nil
	})
	check := func(where string) {
		t.Helper()
		if p := b.do(t, "numbers"); p.Overflow > 0 || len(p.Broken) > 0 || len(p.Small) > 0 || len(p.Errors) > 0 {
			t.Errorf("%s: %v pixels too wide, divided %q, too small for a finger %q", where, p.Overflow, p.Broken, p.Small)
		}
	}
	check("the note")
	if p.NoteAt.Bottom-p.NoteAt.Top < p.Height/2 {
		t.Errorf("of a window of %v the note has %v", p.Height, p.NoteAt)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.do(t, "look 360 740 "+scheme)
		if p := b.do(t, "axe"); len(p.Findings) > 0 {
			t.Errorf("%s: axe finds %q", scheme, p.Findings)
		}
	}
	b.do(t, "click Notes and filter")
	check("the list")
	b.do(t, "click B")
	b.do(t, "wait One ")
	check("the other note")
	b.do(t, "click Edit")
	check("the form")
	b.do(t, "click Cancel")
	b.do(t, "click Ask")
	check("the dialog")
	b.do(t, "click Cancel")
	b.do(t, "click Accept")
	b.do(t, "wait 1 suggestion accepted")
	check("what was decided")
	b.do(t, "click History")
	b.do(t, "wait accepted · ")
	check("the history")
	harness.FileBecomes(t, filepath.Join(vault, "B.md"), "One 1988 more.\n")
}
