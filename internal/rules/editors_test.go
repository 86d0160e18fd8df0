package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// script reports whether a file is hand-written TypeScript or JavaScript of the editors part, and whether it is a test.
func script(p string) (ours, test bool) {
	if !strings.HasPrefix(p, "editors/") || strings.Contains(p, "/gen/") ||
		!slices.Contains([]string{".ts", ".js", ".mjs", ".cjs"}, path.Ext(p)) {
		return false, false
	}
	return true, strings.Contains(p, ".test.") || strings.Contains(p, "/test/") || strings.Contains(p, "/e2e/")
}

// loose are ways around the type checker, and ways to insert text as markup.
var loose = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"an any: say which type it is, or unknown",
		regexp.MustCompile(`(?:[:<|]\s*any\b|\bas any\b|\{any\}|@ts-(?:ignore|nocheck))`)},
	{"text of a server is text: build elements",
		regexp.MustCompile(`\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b`)},
}

func scriptFaults(t *tree) []violation {
	var bad []violation
	for _, p := range t.files {
		ours, test := script(p)
		if !ours {
			continue
		}
		lines := strings.Split(string(t.text[p]), "\n")
		stem, _, _ := strings.Cut(path.Base(p), ".")
		if slices.Contains(emptyNames, stem) {
			bad = append(bad, violation{path: p, text: "name the file after its concept"})
		}
		if test {
			continue
		}
		for i, line := range lines {
			for _, l := range loose {
				if l.pattern.MatchString(line) {
					bad = append(bad, violation{p, i + 1, l.what})
				}
			}
		}
	}
	return bad
}

func TestScriptsAreStrict(t *testing.T) {
	report(t, scriptFaults(repository(t)))
}

func TestScriptsAreStrictFindsViolations(t *testing.T) {
	finds(t, scriptFaults(made(t, map[string]string{
		"editors/host/src/hub.ts":         "const a: any = 1;\nconst company = 'many';\nlet x = y as any;",
		"editors/host/src/gen/x_pb.ts":    "const a: any = 1;",
		"editors/host/dist/x.js":          "const a: any = 1;",
		"editors/host/src/util.ts":        "",
		"editors/page/cards.js":           "e.textContent = t;\ne.innerHTML = t;",
		"editors/page/test/a.test.js":     "assert(!/innerHTML/.test(text));",
		"editors/node_modules/a/index.js": "x.innerHTML = 1",
	})), "editors/host/src/hub.ts:1", "editors/host/src/hub.ts:3", "editors/host/src/util.ts",
		"editors/page/cards.js:2")
}

// sample matches a code block of the documentation that names a file. The block must be part of that file, so that it
// is compiled.
var sample = regexp.MustCompile("(?s)<!-- ([a-zA-Z0-9/._-]+) -->\n```[a-z]*\n(.*?)\n```")

// quoting are the pages that must have such blocks, and no others.
var quoting = []string{"docs/embedding.md", "docs/cancellation.md", "docs/migrating.md"}

func strayBlocks(t *tree) []violation {
	flat := func(text string) string {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return "\n" + strings.Join(lines, "\n") + "\n"
	}
	var bad []violation
	for _, page := range quoting {
		text, ok := t.text[page]
		if !ok {
			continue // the trees of the test below have only one page
		}
		blocks := sample.FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			bad = append(bad, violation{path: page, text: "quotes no file"})
		}
		for _, b := range blocks {
			if !strings.Contains(flat(string(t.text[b[1]])), flat(b[2])) {
				bad = append(bad, violation{path: page, text: fmt.Sprintf("has a block that is not in %s as it stands there",
					b[1])})
			}
		}
	}
	return bad
}

func TestSamplesAreCompiled(t *testing.T) {
	report(t, strayBlocks(repository(t)))
	report(t, without(repository(t), quoting))
}

func TestSamplesAreCompiledFindsViolations(t *testing.T) {
	page := func(file, block string) map[string]string {
		return map[string]string{"docs/embedding.md": "text\n<!-- " + file + " -->\n```go\n" + block +
			"\n```\n", "x_test.go": "package x\n\nfunc f() {\n\tg()\n\th()\n}\n"}
	}
	finds(t, strayBlocks(made(t, page("x_test.go", "g()\nh()"))))
	finds(t, strayBlocks(made(t, page("x_test.go", "g()\n// more\nh()"))), "docs/embedding.md")
	finds(t, strayBlocks(made(t, page("gone_test.go", "g()"))), "docs/embedding.md")
	finds(t, strayBlocks(made(t, map[string]string{"docs/embedding.md": "nothing"})), "docs/embedding.md")
}
