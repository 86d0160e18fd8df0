package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
)

// lines asks in plain lines, for a terminal that takes no escape sequences and for a screen reader.
type lines struct {
	env environment
	ask func(question string, secret bool) (string, error) // a typed line
}

// choose lists names with numbers and takes a number, a name, or a part of names, which narrows the list; a part of one
// name alone is that name.
func (l *lines) choose(what string, names, abouts []string) (string, error) {
	all := make([]int, len(names))
	for i := range names {
		all[i] = i
	}
	l.list(names, abouts, all)
	for {
		typed, err := l.ask(what+" (number, name or part of it):", false)
		if err != nil {
			return "", err
		}
		typed = strings.TrimSpace(typed)
		if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(names) {
			return names[n-1], nil
		}
		if slices.Contains(names, typed) {
			return typed, nil
		}
		var fit []int
		for i, n := range names {
			if strings.Contains(strings.ToLower(n), strings.ToLower(typed)) {
				fit = append(fit, i)
			}
		}
		switch {
		case len(fit) == 1 && typed != "":
			l.env.say("  %s", escape(shortName(names[fit[0]])))
			return names[fit[0]], nil
		case len(fit) > 0:
			l.list(names, abouts, fit)
		default:
			l.env.say("  %s", escape("there is no "+strconv.Quote(typed)+nearmiss.Hint(typed, names)))
		}
	}
}

// list shows the names at these places, each with its number.
func (l *lines) list(names, abouts []string, places []int) {
	width := helpWidth(l.env.stderr)
	shown := places[:min(len(places), maxChoices)]
	column := 0
	for _, i := range shown {
		column = max(column, cellsOf(escape(shortName(names[i]))))
	}
	column = min(column, width/2)
	for _, i := range shown {
		line := fmt.Sprintf("%4d  %-*s", i+1, column, escape(shortName(names[i])))
		if abouts != nil {
			line += "  " + escape(abouts[i])
		}
		l.env.say("%s", strings.TrimRight(cutCells(line, width-1), " "))
	}
	if n := len(places) - len(shown); n > 0 {
		l.env.say("      and %d more: type a part of the name", n)
	}
}

// value asks for an argument until what is typed fits.
func (l *lines) value(a *argument, name string) (string, error) {
	if about := a.about(); about != "" {
		l.env.tell("  %s", about)
	}
	choices := a.choices()
	for i, c := range choices[:min(len(choices), maxChoices)] {
		l.env.say("%4d  %s", i+1, escape(cut(c, 100)))
	}
	wants := a.wants()
	if len(choices) > 0 {
		wants = "number or value"
	}
	for {
		typed, err := l.ask(a.question(name, wants)+":", a.secret)
		if err != nil {
			return "", err
		}
		if a.secret {
			l.env.say("") // the end of the line was not shown either
		}
		typed = a.choice(typed)
		if _, _, err := a.settle(typed); err != nil {
			l.env.tell("  %s", escape(err.Error()))
			continue
		}
		return typed, nil
	}
}

// choice gives the value that a number stands for; what is a value itself stays.
func (a *argument) choice(typed string) string {
	choices := a.choices()
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(choices) && !slices.Contains(choices, typed) {
		return choices[n-1]
	}
	return typed
}
