package doctor

import (
	"slices"
	"sort"
	"time"
)

// Level is the severity of a finding for the server's author.
type Level string

const (
	Good    Level = "good"    // as it should be
	Note    Level = "note"    // a fact that is good to know
	Improve Level = "improve" // allowed, and worth a change
	Mend    Level = "mend"    // broken for some users: the specification forbids it, or clients cannot work with it
)

// weight returns the order of levels: Mend comes first.
func (l Level) weight() int { return slices.Index([]Level{Mend, Improve, Note, Good}, l) }

// Finding is the result of one check.
type Finding struct {
	Check     string `json:"check"` // the name of the check, such as "start.stdout"
	Level     Level  `json:"level"`
	Seen      string `json:"seen"`                // what the server did
	Spec      string `json:"spec,omitempty"`      // the revision and section that apply
	Says      string `json:"says,omitempty"`      // what the specification says
	Do        string `json:"do,omitempty"`        // what to change; empty if nothing
	Transport string `json:"transport,omitempty"` // "stdio", "http" or "sse", if the finding is about one transport
	Era       string `json:"era,omitempty"`       // "legacy" or "modern", if the finding is about one era
}

// Report holds the result of an examination. Its texts are safe to show, and the secrets of the target are removed.
type Report struct {
	Server    string        `json:"server"`         // the user's name for the server
	Says      string        `json:"says,omitempty"` // the server's own name and version
	Examined  time.Time     `json:"examined"`
	Took      time.Duration `json:"took"`                // nanoseconds
	Revisions []string      `json:"revisions,omitempty"` // the revisions that it speaks, oldest first
	Tools     int           `json:"tools"`
	Tokens    int           `json:"tokens"`   // about how many tokens the definitions of its tools take
	Calls     int           `json:"calls"`    // how often a tool was called
	Findings  []Finding     `json:"findings"` // in the order of the checks
}

// Worst returns the level of the worst finding, or Good if there is none.
func (r *Report) Worst() Level {
	worst := Good
	for _, f := range r.Findings {
		if f.Level.weight() < worst.weight() {
			worst = f.Level
		}
	}
	return worst
}

// Count returns the number of findings with the level.
func (r *Report) Count(l Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// ByLevel returns the findings with the worst first, otherwise in the order of the checks.
func (r *Report) ByLevel() []Finding {
	sorted := slices.Clone(r.Findings)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Level.weight() < sorted[j].Level.weight() })
	return sorted
}
