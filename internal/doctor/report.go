package doctor

import (
	"slices"
	"sort"
	"time"
)

// Level says what a finding asks of the server's author.
type Level string

const (
	Good    Level = "good"    // as it should be
	Note    Level = "note"    // a fact that is good to know
	Improve Level = "improve" // allowed, and worth a change
	Mend    Level = "mend"    // broken for somebody: the specification forbids it, or clients cannot work with it
)

// weight orders levels: what must be mended comes first.
func (l Level) weight() int { return slices.Index([]Level{Mend, Improve, Note, Good}, l) }

// Finding is one thing that was looked at.
type Finding struct {
	Check     string `json:"check"` // its name, such as "start.stdout"
	Level     Level  `json:"level"`
	Seen      string `json:"seen"`                // what the server did
	Spec      string `json:"spec,omitempty"`      // revision and section that speak of it
	Says      string `json:"says,omitempty"`      // what they say
	Do        string `json:"do,omitempty"`        // what to change; empty when nothing
	Transport string `json:"transport,omitempty"` // "stdio", "http" or "sse", where it was seen on one
	Era       string `json:"era,omitempty"`       // "legacy" or "modern", where it was seen in one
}

// Report is what was found. Its texts are made safe to show, and the secrets that the target names are taken out.
type Report struct {
	Server    string        `json:"server"`         // the name that the user has for it
	Says      string        `json:"says,omitempty"` // name and version that it gives itself
	Examined  time.Time     `json:"examined"`
	Took      time.Duration `json:"took"`                // nanoseconds
	Revisions []string      `json:"revisions,omitempty"` // that it speaks, oldest first
	Tools     int           `json:"tools"`
	Tokens    int           `json:"tokens"`   // that the definitions of its tools cost a model, roughly
	Calls     int           `json:"calls"`    // how often a tool was called
	Findings  []Finding     `json:"findings"` // in the order of looking
}

// Worst is the level of the worst finding; Good when there is none.
func (r *Report) Worst() Level {
	worst := Good
	for _, f := range r.Findings {
		if f.Level.weight() < worst.weight() {
			worst = f.Level
		}
	}
	return worst
}

// Count is how many findings have the level.
func (r *Report) Count(l Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// ByLevel is the findings with the worst first, otherwise in the order of looking.
func (r *Report) ByLevel() []Finding {
	sorted := slices.Clone(r.Findings)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Level.weight() < sorted[j].Level.weight() })
	return sorted
}
