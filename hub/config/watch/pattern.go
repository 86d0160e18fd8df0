package watch

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is one pattern of a glob, split where its wildcards begin.
type pattern struct {
	base    string // absolute; the folder that the pattern is relative to
	rest    string // slash separated, below base
	literal bool   // rest has no wildcards: it names a file, or a folder with everything below it
}

var errPattern = errors.New("no valid pattern")

// newPattern parses a pattern without its leading "!". The pattern may be absolute, or lead out of folder.
func newPattern(folder, text string) (pattern, error) {
	text = strings.TrimSuffix(filepath.ToSlash(text), "/")
	if text == "" || !doublestar.ValidatePattern(text) {
		return pattern{}, errPattern
	}
	base, rest := doublestar.SplitPattern(text)
	base = filepath.FromSlash(base)
	if !filepath.IsAbs(base) {
		base = filepath.Join(folder, base)
	}
	p := pattern{base: filepath.Clean(base), rest: rest, literal: !strings.ContainsAny(rest, `*?[{\`)}
	switch rest {
	case ".":
		p.rest, p.literal = "**", false
	case "..":
		p.base, p.rest, p.literal = filepath.Dir(p.base), "**", false
	}
	return p, nil
}

// match reports whether the pattern matches the file at path.
func (p pattern) match(path string) bool {
	rel, ok := p.below(path)
	if !ok {
		return false
	}
	rest := fold(p.rest)
	return doublestar.MatchUnvalidated(rest, rel) || p.literal && strings.HasPrefix(rel, rest+"/")
}

// descends reports whether the pattern may match a file below the folder at path.
func (p pattern) descends(path string) bool {
	rel, ok := p.below(path)
	if !ok {
		return false
	}
	if rel == "." || strings.Contains(p.rest, "{") { // an alternative may hold slashes
		return true
	}
	folders, parts := strings.Split(rel, "/"), strings.Split(fold(p.rest), "/")
	for i, name := range folders {
		switch {
		case i >= len(parts):
			return p.literal
		case parts[i] == "**":
			return true
		case !doublestar.MatchUnvalidated(parts[i], name):
			return false
		}
	}
	return p.literal || len(parts) > len(folders)
}

// excludes reports whether the pattern matches everything below the folder at path.
func (p pattern) excludes(path string) bool {
	rel, ok := p.below(path)
	if !ok {
		return false
	}
	rest := fold(p.rest)
	if p.literal {
		return rel == rest || strings.HasPrefix(rel, rest+"/")
	}
	whole, ok := strings.CutSuffix(rest, "/**")
	return rest == "**" || ok && doublestar.MatchUnvalidated(whole, rel)
}

// below returns path relative to the pattern's base, folded and with slashes.
func (p pattern) below(path string) (string, bool) {
	if path != p.base && !within(path, p.base) {
		return "", false
	}
	rel, err := filepath.Rel(p.base, path)
	return fold(filepath.ToSlash(rel)), err == nil
}

// within reports whether path is below folder.
func within(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// fold maps names to one spelling if the usual file system of this system treats them as equal.
func fold(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}

// patterns are the patterns of one glob.
type patterns struct{ include, exclude []pattern }

func newPatterns(g Glob) (ps patterns, bad []string) {
	for _, text := range g.Patterns {
		body, not := strings.CutPrefix(text, "!")
		p, err := newPattern(g.Folder, body)
		switch {
		case err != nil:
			bad = append(bad, text)
		case not:
			ps.exclude = append(ps.exclude, p)
		default:
			ps.include = append(ps.include, p)
		}
	}
	return ps, bad
}

func (ps patterns) match(path string) bool {
	means := func(p pattern) bool { return p.match(path) }
	return slices.ContainsFunc(ps.include, means) && !slices.ContainsFunc(ps.exclude, means)
}

func (ps patterns) descends(path string) bool {
	return slices.ContainsFunc(ps.include, func(p pattern) bool { return p.descends(path) }) &&
		!slices.ContainsFunc(ps.exclude, func(p pattern) bool { return p.excludes(path) })
}
