package toolset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words shows the words of a text in lower case: they end where a letter or a number does, and a name in camel case
// begins a new one with each capital. A name of several words is one of its own, too, so that who knows it finds it.
func words(text string, f func(word string) bool) {
	whole, parts := 0, 0
	from := -1
	end := func(to int) bool {
		if from < 0 {
			return true
		}
		word := stem(strings.ToLower(text[from:to]))
		from = -1
		parts++
		return f(word)
	}
	endWhole := func(to int) bool {
		several := parts > 1
		parts = 0
		return !several || f(strings.ToLower(text[whole:to]))
	}
	var before rune
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
		switch {
		case !letter:
			if !end(i) {
				return
			}
			if r != '_' && r != '-' && r != '.' {
				if !endWhole(i) {
					return
				}
				whole = i + utf8.RuneLen(r)
			}
		case from < 0:
			if parts == 0 {
				whole = i
			}
			from = i
		case alone(r) || alone(before):
			if !end(i) {
				return
			}
			from = i
		case unicode.IsUpper(r) && (!unicode.IsUpper(before) || lowerFollows(text[i+utf8.RuneLen(r):])):
			if !end(i) {
				return
			}
			from = i
		}
		before = r
	}
	if end(len(text)) {
		endWhole(len(text))
	}
}

// alone: scripts that are written without blanks are found by their characters.
func alone(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// lowerFollows finds the last capital of an abbreviation, which begins a word: the S of HTTPServer.
func lowerFollows(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(r)
}

// stem makes a plural of English a singular, about: "issues" and "issue" are one.
func stem(word string) string {
	switch n := len(word); {
	case n > 4 && strings.HasSuffix(word, "ies"):
		return word[:n-3] + "y"
	case n > 3 && word[n-1] == 's' && word[n-2] != 's' && word[n-2] != 'u' && word[n-2] != 'i':
		return word[:n-1]
	}
	return word
}
