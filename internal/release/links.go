package main

import (
	"path"
	"regexp"
	"strings"
)

var (
	link    = regexp.MustCompile(`(\]\()([^)\s]+)(\))`)
	picture = regexp.MustCompile(`(\bsrc(?:set)?=")([^"\s]+)(")`)
)

// wholeLinks returns a Markdown text of a folder of the repository with links that lead somewhere from outside of it:
// an archive has none of what they name.
func wholeLinks(folder string, text []byte) []byte {
	whole := func(place string) func([]string) string {
		return func(m []string) string {
			if strings.Contains(m[2], "://") || strings.HasPrefix(m[2], "#") {
				return m[0]
			}
			return m[1] + repository + place + path.Join(folder, m[2]) + m[3]
		}
	}
	replaced := replace(link, string(text), whole("/blob/main/"))
	return []byte(replace(picture, replaced, whole("/raw/main/")))
}

func replace(find *regexp.Regexp, text string, by func(match []string) string) string {
	return find.ReplaceAllStringFunc(text, func(s string) string { return by(find.FindStringSubmatch(s)) })
}
