package rules

import (
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The longest line that is allowed. A tab counts as one column, as in other linters.
const (
	maxColumns         = 120
	maxMarkdownColumns = 160
)

// lineWidth finds lines that are too long to be read side by side. A line may be longer if a string crosses the last
// column: a string that is cut in two is harder to find.
func lineWidth(t *tree) []violation {
	var bad []violation
	for _, s := range t.code {
		if s.generated {
			continue
		}
		text := t.text[s.path]
		inText := textLines(text)
		for i, line := range strings.Split(string(text), "\n") {
			if utf8.RuneCountInString(line) > maxColumns && !inText[i+1] && !strings.HasPrefix(line, "//lint:") {
				bad = append(bad, violation{s.path, i + 1, "the line is over 120 columns: break it"})
			}
		}
	}
	return bad
}

// jsdocType matches a comment with a type. A type is code, and cannot always be broken.
var jsdocType = regexp.MustCompile(`@(param|property|returns|type|typedef)\b`)

// commentMarks returns how a comment begins in a source that is not Go, or nil for other files. The code of these
// sources has formatters of its own.
func commentMarks(path string) []string {
	switch ext := filepath.Ext(path); {
	case strings.Contains(path, "/gen/"):
		return nil
	case slices.Contains([]string{".proto", ".ts", ".js", ".mjs", ".css"}, ext):
		return []string{"//", "/*", "* "}
	case slices.Contains([]string{".sh", ".yml", ".yaml"}, ext), filepath.Base(path) == "Makefile", path == ".ci/run":
		return []string{"# "}
	}
	return nil
}

// commentWidth is lineWidth for the comments of other sources.
func commentWidth(t *tree) []violation {
	var bad []violation
	for _, path := range t.files {
		marks := commentMarks(path)
		if marks == nil {
			continue
		}
		for i, line := range strings.Split(string(t.text[path]), "\n") {
			start := strings.TrimLeft(line, " \t")
			comment := slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(start, mark) })
			if comment && utf8.RuneCountInString(line) > maxColumns && !jsdocType.MatchString(line) {
				bad = append(bad, violation{path, i + 1, "the comment is over 120 columns: break it"})
			}
		}
	}
	return bad
}

// markdownWidth is lineWidth for documents. Tables, code blocks and markup cannot be broken.
func markdownWidth(t *tree) []violation {
	var bad []violation
	for _, path := range t.files {
		if !strings.HasSuffix(path, ".md") {
			continue
		}
		block := false
		for i, line := range strings.Split(string(t.text[path]), "\n") {
			start := strings.TrimLeft(line, " >-")
			if strings.HasPrefix(start, "```") {
				block = !block
			}
			if utf8.RuneCountInString(line) <= maxMarkdownColumns || block || strings.IndexAny(start, "|<") == 0 {
				continue
			}
			bad = append(bad, violation{path, i + 1, "the line is over 160 columns: break it"})
		}
	}
	return bad
}

// textLines returns the lines in which a string, or a part of one, crosses the last column.
func textLines(src []byte) map[int]bool {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return lines
		case tok != token.STRING:
			continue
		}
		at := file.Position(pos)
		for i, part := range strings.Split(lit, "\n") {
			column := 0 // of the first byte of part; there are at least as many bytes as columns
			if i == 0 {
				column = at.Column - 1
			}
			if column+len(part)+2 > maxColumns { // two closing brackets may follow
				lines[at.Line+i] = true
			}
		}
	}
}

func TestLinesAreNotTooWide(t *testing.T) {
	report(t, lineWidth(repository(t)))
	report(t, commentWidth(repository(t)))
	report(t, markdownWidth(repository(t)))
}

func TestLinesAreNotTooWideFindsViolations(t *testing.T) {
	wide := strings.Repeat("x", 121)
	finds(t, lineWidth(made(t, map[string]string{
		"hub/a.go": "package hub\n\n// " + wide + "\nvar a = `\n" + wide + "\n`\n\nvar b = \"" + wide + "\"\n",
		"hub/b.go": "package hub\n\nvar " + wide + " = 1\n\n//lint:ignore SA1 " + wide + "\n",
	})), "hub/a.go:3", "hub/b.go:3")
	finds(t, commentWidth(made(t, map[string]string{
		"proto/a.proto":    "// " + wide + "\nstring " + wide + " = 1;\n",
		"Makefile":         "# " + wide + "\na: ## " + wide + "\n",
		"editors/a.ts":     "/** @param {" + wide + "} a */\n/**\n * " + wide + "\n */\n",
		"editors/gen/b.ts": "// " + wide + "\n",
	})), "Makefile:1", "editors/a.ts:3", "proto/a.proto:1")
	word := strings.Repeat("x ", 81)
	finds(t, markdownWidth(made(t, map[string]string{
		"docs/a.md": word + "\n\n| " + word + "|\n\n```\n" + word + "\n```\n\n- " + word + "\n",
	})), "docs/a.md:1", "docs/a.md:9")
}
