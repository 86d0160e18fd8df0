package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 128 // runes

func badName(name string) string {
	switch {
	case name == "":
		return "the name of a server must not be empty"
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("the name of a server has at most %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "the name of a server must not hold control characters"
	}
	return ""
}

// quoteName shortens a bad name for a message; Problem.String quotes it.
func quoteName(name string) string {
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return name
}
