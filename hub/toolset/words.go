package toolset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words calls f with the words of a text in lower case. A word consists of letters and digits, and in a name in camel
// case each capital starts a new word. A name of several words is also passed as a whole, so that a query for the name
// finds it.
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

// alone reports whether a character is a word of its own, as in scripts that are written without spaces.
func alone(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// lowerFollows reports whether the character before rest, a capital after capitals, starts a word: the S of HTTPServer.
func lowerFollows(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(r)
}

// stem turns most English plurals into the singular: "issues" and "issue" are the same word.
func stem(word string) string {
	switch n := len(word); {
	case n > 4 && strings.HasSuffix(word, "ies"):
		return word[:n-3] + "y"
	case n > 3 && word[n-1] == 's' && word[n-2] != 's' && word[n-2] != 'u' && word[n-2] != 'i':
		return word[:n-1]
	}
	return word
}
