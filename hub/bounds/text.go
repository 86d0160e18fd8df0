package bounds

import "unicode/utf8"

// Cut gives at most n bytes of a text, whole code points of it, and says at its end that it was cut.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "... (cut)"
	end := max(n-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
