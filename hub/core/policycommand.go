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
		named := strings.ToLower(w)
		if i == 0 {
			named = programName(w)
		}
		if !slices.ContainsFunc(l.all, func(word string) bool {
			return word == named || i == 0 && programName(word) == named
		}) {
			return false
		}
	}
	return len(want) > 0
}

// launchWords are the words of a launch, in lower case: the program as it is spelled and found, each argument, what is
// around it, and each part of it that a shell might take for a word.
type launchWords struct {
	all []string
	// is what the launch surely runs, if known says so; besides are all words but that one, with escapes replaced, too.
	is      event.LaunchPackageName
	known   bool
	besides []string
}

func wordsOf(id *event.LaunchIdentity) (w launchWords) {
	w.all = split(slices.Concat([]string{id.Command, id.Program, id.Target}, id.Args, id.Around))
	w.besides = w.all
	at := 0
	if w.is, at, w.known = packageOf(id); w.known {
		w.besides = split(slices.Concat(id.Args[:at], id.Args[at+1:], id.Around))
	}
	for _, word := range w.besides {
		if plain := unescaped(word); plain != word {
			w.besides = append(w.besides, plain)
		}
	}
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
