package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"
)

// Level is the severity of a finding for the server's author.
type Level string

const (
	Good    Level = "good"    // as it should be
	Note    Level = "note"    // a fact that is good to know
	Improve Level = "improve" // allowed, and worth a change
	Mend    Level = "mend"    // broken for some users: the specification forbids it, or clients cannot work with it
	// Unseen is for what nobody exercised, so that nothing is known of it. Servers are exercised by the doctor itself.
	Unseen Level = "not seen"
)

// weight returns the order of levels: Mend comes first.
func (l Level) weight() int { return slices.Index([]Level{Mend, Improve, Unseen, Note, Good}, l) }

// Outweighs reports whether a finding with this level takes the place of one with the other, if both are about the
// same: it is worse, or something was seen.
func (l Level) Outweighs(other Level) bool {
	return other == Unseen && l != Unseen || l != Unseen && l.weight() < other.weight()
}

// Finding is the result of one check.
type Finding struct {
	Check     string `json:"check"` // the name of the check, such as "start.stdout"
	Level     Level  `json:"level"`
	Seen      string `json:"seen"`                // what the server or client did
	Spec      string `json:"spec,omitempty"`      // the revision and section that apply
	Says      string `json:"says,omitempty"`      // what the specification says
	Do        string `json:"do,omitempty"`        // what to change, or how to exercise it; empty if nothing
	Transport string `json:"transport,omitempty"` // "stdio", "http" or "sse", if the finding is about one transport
	Era       string `json:"era,omitempty"`       // "legacy" or "modern", if the finding is about one era
}

// Report holds the result of an examination. Its texts are safe to show, and the secrets of the target are removed.
type Report struct {
	Server    string        `json:"server,omitempty"` // the user's name for the server; empty for a client
	Client    string        `json:"client,omitempty"` // the command of the client; empty for a server
	Says      string        `json:"says,omitempty"`   // the own name and version of either
	Examined  time.Time     `json:"examined"`
	Took      time.Duration `json:"took"`                // nanoseconds
	Revisions []string      `json:"revisions,omitempty"` // the revisions that it speaks, oldest first
	Tools     int           `json:"tools"`               // of a server
	Tokens    int           `json:"tokens"`              // about how many tokens the definitions of its tools take
	Calls     int           `json:"calls"`               // how often a tool was called, by the doctor or by the client
	Findings  []Finding     `json:"findings"`            // in the order of the checks
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

// check holds what the specification says about one subject, and what to do if a server behaves differently.
// doURL takes the place of do for a server behind a URL; "" if that is the same.
type check struct{ spec, says, do, doURL string }

// The checks by name. A check that is not based on the specification has no spec.
var checks = map[string]check{
	"start.ready": {"2025-11-25 basic/lifecycle", "the server answers initialize with its revision and capabilities",
		"start it by hand with the same command and folder, and read what it writes on stderr",
		"ask the address with curl, with the same headers: is it that of the MCP endpoint, path included, and does it answer " +
			"a POST of initialize?"},
	"start.time": {"", "", "do what takes long after initialize has been answered, or on the first call", ""},
	"start.stdout": {"2025-11-25 basic/transports, stdio", "nothing but MCP messages may be written to stdout",
		"write logs to stderr; look for print, console.log, or a wrapper that announces itself (npm run, a shell profile)", ""},
	"start.utf8": {"2025-11-25 basic/transports", "JSON-RPC messages must be encoded in UTF-8",
		"write UTF-8 on every system (PYTHONUTF8=1, Console.OutputEncoding): clients replace or drop what is not", ""},
	"start.signin": {"2025-11-25 basic/authorization", "401 means that a client has to sign in", "", ""},
	"start.stderr": {"2025-11-25 basic/transports, stdio", "stderr is for logs of any kind", "", ""},

	"era.revisions": {"2025-11-25 basic/lifecycle, version negotiation",
		"a server that does not know the offered revision answers with one that it knows", "", ""},
	"era.modern": {"2026-07-28 basic/versioning", "server/discover tells revisions and capabilities", "", ""},
	"era.unknown": {"JSON-RPC 2.0, 5.1", "an unknown method is answered with -32601",
		"answer every request that is not known with -32601: clients ask for newer methods first", ""},

	"capability.tools":     {"2025-11-25 server/tools", "a server that declares tools answers tools/list", "", ""},
	"capability.prompts":   {"2025-11-25 server/prompts", "a server that declares prompts answers prompts/list", "", ""},
	"capability.resources": {"2025-11-25 server/resources", "a server that declares resources answers resources/list", "", ""},
	"capability.logging": {"2025-11-25 server/utilities/logging",
		"a server that declares logging takes logging/setLevel", "", ""},
	"capability.undeclared": {"2025-11-25 basic/lifecycle, capability negotiation",
		"only what was declared may be used: clients will not ask for it", "declare the capability", ""},
	"ping": {"2025-11-25 basic/utilities/ping", "a ping is answered promptly with an empty result",
		"answer pings whatever else is running: clients take silence for death", ""},

	"list.size": {"", "",
		"offer fewer tools, or shorter descriptions and schemas: each request to a model carries them all", ""},
	"list.read": {"2025-11-25 server/utilities/pagination",
		"each cursor leads to another page, and the last page has none",
		"answer every list that is declared, and leave nextCursor out of the last page", ""},
	"list.duplicates": {"2025-11-25 server/tools, tool names", "names are unique within a server",
		"give each tool a name of its own", ""},
	"tool.name": {"2025-11-25 server/tools, tool names", "1 to 64 letters, digits, _ - . /",
		"use letters, digits, _ and -, begin with a letter, and stay below 64: the APIs of models refuse other names", ""},
	"tool.description": {"2025-11-25 server/tools", "a description says what the tool does",
		"say in two or three sentences what it does, when to use it and what it answers", ""},
	"tool.schema": {"2025-11-25 server/tools", "inputSchema is a JSON Schema whose root is an object",
		`give the root "type": "object" and "properties", and each array "items"; keep combiners off the root: the APIs of ` +
			"models refuse the whole request over one such tool", ""},
	"tool.annotations": {"2025-11-25 server/tools, annotations",
		"hints are optional, and the worst is assumed without them",
		"set readOnlyHint and destructiveHint, so that people are not asked about what changes nothing", ""},

	"cancel.stop": {"2025-11-25 basic/utilities/cancellation", "the receiver should stop the work and free its resources",
		"pass the request's cancellation (context, AbortSignal) on to everything that the tool waits for", ""},
	"cancel.answer": {"2025-11-25 basic/utilities/cancellation", "no response should be sent for a cancelled request",
		"drop the answer: the client has forgotten the request", ""},
	"cancel.questions": {"2025-11-25 basic/utilities/cancellation", "a sender may withdraw its own request at any time",
		"cancel the questions of a call with the call, so that nobody is asked for nothing", ""},
	"cancel.delivery": {"2025-11-25 basic/transports, Streamable HTTP", "a notification is answered with 202",
		"accept notifications/cancelled on the same address as every other message", ""},
	"cancel.next": {"", "",
		"a cancelled call must leave nothing behind that the next one trips over (locks, state, broken pipes)", ""},
	"cancel.unknown": {"2025-11-25 basic/utilities/cancellation",
		"cancels of requests that are unknown or over, and malformed ones, should be ignored",
		"look the id up, and do nothing when it is not there", ""},

	"end.stdin": {"2025-11-25 basic/lifecycle, shutdown, stdio",
		"the client closes stdin and waits for the server to exit",
		"leave when stdin ends", ""},
	"end.sigterm": {"2025-11-25 basic/lifecycle, shutdown, stdio", "SIGTERM comes when the server has not left",
		"leave on SIGTERM, with its children", ""},
	"end.children": {"2025-11-25 basic/lifecycle, shutdown, stdio", "nothing should outlive the connection",
		"end child processes when the server ends", ""},
}

// The labels of the levels in Markdown.
var labels = map[Level]string{Mend: "**mend**", Improve: "improve", Unseen: "*not seen*", Note: "note", Good: "good"}

// WriteMarkdown writes the report for an issue in the server's project.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "## %s\n\n", escape(r.Title()))
	for _, line := range r.Facts() {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	b.WriteString("\n| | check | seen | what to do | specification |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range r.ByLevel() {
		spec := f.Spec
		if f.Says != "" {
			spec += ": " + f.Says
		}
		fmt.Fprintf(b, "| %s | `%s`%s | %s | %s | %s |\n", labels[f.Level], f.Check, escape(f.Where()), escape(f.Seen),
			escape(f.Do), escape(spec))
	}
	fmt.Fprintf(b, "\n%s\n", r.Verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

// Where returns the transport and era of a finding, if it has them.
func (f Finding) Where() string {
	switch {
	case f.Era != "":
		return fmt.Sprintf(" (%s, %s)", f.Transport, f.Era)
	case f.Transport != "":
		return fmt.Sprintf(" (%s)", f.Transport)
	}
	return ""
}

// Title returns whom the report is about.
func (r *Report) Title() string {
	whom := cmp.Or(r.Client, r.Server)
	if r.Says == "" {
		return "mcphub doctor: " + whom
	}
	return fmt.Sprintf("mcphub doctor: %s, which calls itself %s", whom, r.Says)
}

// Facts returns what was examined, and how.
func (r *Report) Facts() []string {
	facts := []string{fmt.Sprintf("examined on %s, in %v", r.Examined.UTC().Format(time.DateOnly),
		r.Took.Round(100*time.Millisecond))}
	if len(r.Revisions) > 0 {
		facts = append(facts, "speaks "+strings.Join(r.Revisions, ", "))
	}
	if r.Tools > 0 {
		facts = append(facts, fmt.Sprintf("%s, about %s of definitions", count(r.Tools, "tool"), count(r.Tokens, "token")))
	}
	if r.Client != "" {
		return append(facts, fmt.Sprintf("it called tools %s", count(r.Calls, "time")))
	}
	if r.Calls > 0 {
		facts = append(facts, fmt.Sprintf("a tool was called %s, to be cancelled", count(r.Calls, "time")))
	} else {
		facts = append(facts, "no tool was called: name one with --tool to see what becomes of a cancel")
	}
	return facts
}

// Verdict returns the numbers of findings.
func (r *Report) Verdict() string {
	unseen := ""
	if r.Client != "" {
		unseen = fmt.Sprintf("%d not seen, ", r.Count(Unseen))
	}
	return fmt.Sprintf("%d to mend, %d to improve, %s%s, %d as it should be", r.Count(Mend), r.Count(Improve), unseen,
		count(r.Count(Note), "note"), r.Count(Good))
}

// count returns a number with its noun, whose plural ends in s.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// escape makes a server's text safe for a cell of a Markdown table: it can open no markup, no link and no cell.
func escape(text string) string { return markup.Replace(text) }

var markup = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[",
	"]", "\\]", "!", "\\!", "@", "@\u200b", "#", "\\#", "\n", " ")
