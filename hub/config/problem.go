package config

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

// Problem is something in a config that a person should look at.
type Problem struct {
	File string
	// Line and Column are the place, both from 1; Column counts characters. 0 means that the problem has no place in the
	// file.
	Line, Column int
	Server, Key  string // empty if the problem is not about one
	Message      string
	// Fatal says that the server is not usable; without a Server, that the file is not.
	Fatal bool
}

// String returns the problem in one line, in the form of a compiler's message.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if p.Server != "" {
		fmt.Fprintf(&b, "server %q: ", p.Server)
	}
	if p.Key != "" {
		fmt.Fprintf(&b, "key %q: ", p.Key)
	}
	b.WriteString(p.Message)
	return b.String()
}

// placed is a problem with the number of its source, for sorting.
type placed struct {
	source int
	Problem
}

// ordered sorts by source, then by place. Problems of one place keep their order.
func ordered(found []placed) []Problem {
	sort.SliceStable(found, func(i, j int) bool {
		a, b := &found[i], &found[j]
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
	})
	var out []Problem
	for _, p := range found {
		out = append(out, p.Problem)
	}
	return out
}

// quote quotes a value from a file for a message: shortened, and in one line.
func quote(s string) string { return fmt.Sprintf("%q", cut(s, 64)) }

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
