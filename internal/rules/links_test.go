package rules

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Links of a Markdown page, its headings, its code blocks, and the characters that the anchor of a heading does not
// have.
var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?s)\n```.*?\n```")
	anchor  = regexp.MustCompile(`[^\p{L}\p{N}\-_ ]`)
)

// deadLinks finds links of Markdown pages to files and headings that do not exist. exists reports whether a path exists
// that is not a text file.
func deadLinks(t *tree, exists func(path string) bool) []violation {
	var bad []violation
	for _, p := range t.files {
		if !strings.HasSuffix(p, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(t.text[p]), ""), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, ":") { // another site, or mail
				continue
			}
			file, fragment, _ := strings.Cut(target, "#")
			at := path.Join(path.Dir(p), file)
			if file == "" {
				at = p
			}
			text, ok := t.text[at]
			switch {
			case !ok && !exists(at):
				bad = append(bad, violation{path: p, text: fmt.Sprintf("links to %s, which is not there", target)})
			case ok && fragment != "" && !anchors(text)[fragment]:
				bad = append(bad, violation{path: p, text: fmt.Sprintf("links to %s, which has no such heading", target)})
			}
		}
	}
	return bad
}

// anchors returns the link targets of a page's headings.
func anchors(page []byte) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(page), ""), -1) {
		names[strings.ReplaceAll(anchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return names
}

func TestLinksLeadSomewhere(t *testing.T) {
	report(t, deadLinks(repository(t), func(p string) bool {
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(p)))
		return err == nil
	}))
}

func TestLinksLeadSomewhereFindsViolations(t *testing.T) {
	finds(t, deadLinks(made(t, map[string]string{
		"README.md":  "# Top\n[a](docs/a.md) [b](docs/a.md#two-words) [c](#top) [d](https://example.com) [e](docs)",
		"docs/a.md":  "## Two words\n[up](../README.md#top)\n```\n[no](link.md)\n```\n",
		"docs/b.md":  "[gone](c.md)",
		"docs/c2.md": "[gone](a.md#three)",
		"docs/d.md":  "<img src=\"gone.png\">",
	}), func(p string) bool { return p == "docs" }), "docs/b.md", "docs/c2.md", "docs/d.md")
}
