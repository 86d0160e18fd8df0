package edit

import (
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Kind is why a change is refused.
type Kind int

// Kinds of refusals.
const (
	Exists      Kind = iota + 1 // the file has an entry of this name
	Missing                     // the file has no entry of this name
	Broken                      // the file cannot be read, so nothing in it is changed
	Unsupported                 // what has to be changed is written in a form that is not changed
	Wrong                       // what is to be written cannot be
	TooLarge                    // the file would be larger than a file of its kind may be
)

// Refusal is why a change was not made. The text holds nothing of the values that were to be written.
type Refusal struct {
	Kind    Kind
	Line    int    // in the file, from 1; 0: of no line
	Column  int    // from 1; 0: not known
	Key     string // below the entry; "": the entry as a whole
	Message string // what is wrong and what to do, without file and line
}

// Error is the message with the key.
func (r *Refusal) Error() string {
	if r.Key != "" {
		return fmt.Sprintf("key %q: %s", short(r.Key), r.Message)
	}
	return r.Message
}

func refuse(kind Kind, line int, key, format string, args ...any) *Refusal {
	return &Refusal{Kind: kind, Line: line, Key: key, Message: fmt.Sprintf(format, args...)}
}

// refuseProblem tells a problem that reading has found.
func refuseProblem(kind Kind, p config.Problem, line int) *Refusal {
	r := &Refusal{Kind: kind, Line: line, Key: p.Key, Message: p.Message}
	if line != 0 {
		r.Column = p.Column
	}
	return r
}

// short cuts a name that goes into a message.
func short(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// join is a path of keys as messages have it.
func join(path []string) string {
	short := make([]string, len(path))
	for i, p := range path {
		short[i] = strings.ToValidUTF8(p, "\uFFFD")
	}
	return strings.Join(short, ".")
}
