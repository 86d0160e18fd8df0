package core

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// isCommand reports whether a launch is that of a program with its arguments. A program that is named by a path is the
// file that would be executed. One that is named without is found where the hub finds programs, and nowhere that the
// entry or a folder chooses.
func isCommand(want []string, id *event.LaunchIdentity) bool {
	if len(want) == 0 || len(id.Loading) > 0 {
		return false
	}
	if strings.ContainsAny(want[0], `/\`) {
		if id.Program != want[0] {
			return false
		}
	} else if id.Command != want[0] || id.Nearby != "" {
		return false
	}
	args := want[1:]
	if n := len(args); n > 0 && args[n-1] == "*" {
		args = args[:n-1]
		return len(id.Args) >= len(args) && slices.Equal(args, id.Args[:len(args)])
	}
	return slices.Equal(args, id.Args)
}

// mayBeCommand reports whether a launch mentions a program and all of its arguments anywhere: a shell or another
// program may start it.
func (l *launchWords) mayBeCommand(want []string) bool {
	for i, w := range want {
		if i > 0 && w == "*" && i == len(want)-1 {
			break
		}
		if i == 0 && !l.programs[programName(w)] || i > 0 && !l.words[strings.ToLower(w)] {
			return false
		}
	}
	return len(want) > 0
}

// launchWords are the words of a launch, in lower case: the program as it is spelled and found, each argument, what is
// around it, and each part of it that a shell might take for a word. They are made once, since whoever writes an entry
// chooses how many there are, and many rules may be compared with them.
type launchWords struct {
	words     map[string]bool
	programs  map[string]bool // what each word is called as a program
	addresses []spelledWord   // each word, which may be an address
	// is what the launch surely runs, if known says so.
	is    event.LaunchPackageName
	known bool
	// besides has all words but that one, one a line, and what they are without escapes. inPyPI is the same in the
	// normal form of the names of PyPI.
	besides, inPyPI string
}

// spelledWord is a word, and what it is without escapes.
type spelledWord struct{ text, plain string }

func wordsOf(id *event.LaunchIdentity) (w launchWords) {
	all := split(slices.Concat([]string{id.Command, id.Program, id.Target}, id.Args, id.Around))
	w.words, w.programs = make(map[string]bool, len(all)), make(map[string]bool, len(all))
	for _, word := range all {
		if !w.words[word] {
			w.words[word], w.programs[programName(word)] = true, true
			w.addresses = append(w.addresses, spelledWord{word, unescaped(word)})
		}
	}
	besides, at := all, 0
	if w.is, at, w.known = packageOf(id); w.known {
		besides = split(slices.Concat(id.Args[:at], id.Args[at+1:], id.Around))
	}
	for _, word := range besides {
		if plain := unescaped(word); plain != word {
			besides = append(besides, plain)
		}
	}
	w.besides = strings.Join(besides, "\n")
	w.inPyPI = normalPyPI(w.besides)
	return w
}

func split(texts []string) (words []string) {
	for _, text := range texts {
		text = strings.ToLower(text)
		words = append(words, strings.TrimSpace(text))
		words = append(words, strings.FieldsFunc(text, func(r rune) bool {
			return strings.ContainsRune(" \t\r\n\v\f'\"`;&|<>(){}$=,^", r)
		})...)
		// A shell takes quotes and escapes out of the middle of a word.
		words = append(words, strings.Fields(unquoted.Replace(text))...)
	}
	return words
}

var unquoted = strings.NewReplacer(`'`, "", `"`, "", `\`, "", "^", "", "`", "")

// programName returns the name of a program in lower case, without its folder and the extensions of Windows.
func programName(path string) string {
	name := strings.ToLower(strings.TrimSpace(path))
	name = strings.TrimRight(name[strings.LastIndexAny(name, `/\`)+1:], ". ")
	for _, ext := range []string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		if short, ok := strings.CutSuffix(name, ext); ok {
			return short
		}
	}
	return name
}
