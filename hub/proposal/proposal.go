package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Bounds of one proposal: it is shown to a person, who reads it.
const (
	maxTexts     = 500  // arguments, variables and headers together
	maxParts     = 1000 // of all texts
	maxChoices   = 500
	maxTextBytes = 64 << 10 // of all literals together
	maxWarnings  = 20
	maxShown     = 1000 // bytes of a description
)

// MaxInputs is how many inputs a proposal may have.
const MaxInputs = 200

// Kinds of proposals; a registry may have other words.
const (
	KindNPM    = "npm"
	KindPyPI   = "pypi"
	KindOCI    = "oci"
	KindNuGet  = "nuget"
	KindBundle = "mcpb"
	KindRemote = "remote"
)

// Proposal is one way to have a server. Its texts are a stranger's.
type Proposal struct {
	Server  string // a name for the entry
	Kind    string
	Subject string // what would be had, for people

	// How it is reached. Neither: it is not known yet (Download), or Unusable says why.
	Command   string
	Args      []Group
	Env       []Named
	Dir       string
	URL       Text
	Transport string // of a URL: http or sse
	Headers   []Named

	Inputs   []Input
	Unusable string // why it cannot be added; "": it can
	Warnings []string
	Download *Download // where its bundle is to be had
}

// Download is a file of which the hash is known.
type Download struct {
	URL    string
	SHA256 string // in lower case hex
}

// Text is a text with the values of inputs in it.
type Text []Part

// Part is a literal, or the value of an input.
type Part struct {
	Literal string
	Input   string // its id; "": a literal
	Silent  bool   // the value is not written: the text is there if the input has one
}

// Literal is a text without inputs.
func Literal(s string) Text { return Text{{Literal: s}} }

// Group is what stands and falls together among the arguments: a flag and its value.
type Group []Text

// Named is a variable or a header.
type Named struct {
	Name string
	Text Text
}

// Type is what a value is.
type Type int

// The types.
const (
	TypeText Type = iota
	TypeNumber
	TypeBoolean
	TypeFile
	TypeDirectory
)

// Input is a value that people fill in.
type Input struct {
	ID          string
	Title       string
	Description string
	Required    bool
	Secret      bool
	Type        Type
	Choices     []string
	Defaults    []string
	Multiple    bool
	Placeholder string
	Min, Max    *float64
}

// variable is what some dialect of config files takes for a variable.
var variable = regexp.MustCompile("\\$[A-Za-z_{(]|`|\\{(?:env|file):")

// Check bounds the proposal and makes it unusable where it is not fit to be written. A literal that looks like a
// variable would have the hub, or another application that reads the file, put the user's environment in its place.
func (p *Proposal) Check() {
	texts, parts, size := 0, 0, len(p.Command)+len(p.Dir)
	var literals []string
	see := func(t Text) {
		texts++
		parts += len(t)
		for _, part := range t {
			size += len(part.Literal)
			literals = append(literals, part.Literal)
		}
	}
	for _, g := range p.Args {
		for _, t := range g {
			see(t)
		}
	}
	for _, n := range slices.Concat(p.Env, p.Headers) {
		see(n.Text)
		size += len(n.Name)
		literals = append(literals, n.Name)
	}
	if p.URL != nil {
		see(p.URL)
	}
	literals = append(literals, p.Command)
	defer p.bound()
	if p.Unusable != "" {
		return
	}
	if texts > maxTexts || parts > maxParts || size > maxTextBytes || len(p.Inputs) > MaxInputs {
		p.Unusable = "It has more arguments, variables or inputs than a person can look at."
		return
	}
	for _, s := range literals {
		if at := variable.FindString(s); at != "" {
			p.Unusable = fmt.Sprintf("It has the text \"%s\", which config files take for a variable. If that is meant, "+
				"add it by hand.", bounds.Printable(s))
			return
		}
		if strings.ContainsFunc(s, unfit) {
			p.Unusable = fmt.Sprintf("It has the text \"%s\", with a character that cannot be seen.", bounds.Printable(s))
			return
		}
	}
	// What a person types may be a variable; what a stranger has typed for him must not.
	for i := range p.Inputs {
		in := &p.Inputs[i]
		in.Defaults, in.Choices = slices.DeleteFunc(in.Defaults, unwritable), slices.DeleteFunc(in.Choices, unwritable)
	}
	for _, n := range p.Env {
		if unasked.MatchString(n.Name) {
			p.Warnings = append(p.Warnings, "It sets the variable "+n.Name+", which can make it run another program.")
		}
	}
}

// unwritable tells whether a text must not stand in a file because a stranger says so.
func unwritable(s string) bool { return variable.MatchString(s) || strings.ContainsFunc(s, unfit) }

// unasked are variables that decide what other programs do than the server's own, and where these come from: nobody
// would look for that among settings.
var unasked = regexp.MustCompile(`^(?i:LD_.*|DYLD_.*|PATH|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|BASH_ENV|ENV|IFS|` +
	`SHELL|NPM_CONFIG_.*|UV_INDEX.*|UV_DEFAULT_INDEX|UV_EXTRA_INDEX_URL|PIP_.*INDEX_URL)$`)

// unfit finds what no argument, variable or header of a registry needs: control characters, and those that turn the
// direction of writing or cannot be seen.
func unfit(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x200b && r <= 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0xfffd
}

// bound shortens what is only shown.
func (p *Proposal) bound() {
	p.Server, p.Kind, p.Subject = bounds.Cut(p.Server, 128), bounds.Cut(p.Kind, 64), bounds.Cut(p.Subject, maxShown)
	p.Warnings = p.Warnings[:min(len(p.Warnings), maxWarnings)]
	for i := range p.Inputs[:min(len(p.Inputs), MaxInputs)] {
		in := &p.Inputs[i]
		in.Title, in.Description = bounds.Cut(in.Title, 256), bounds.Cut(in.Description, maxShown)
		in.Placeholder = bounds.Cut(in.Placeholder, 256)
		in.Choices = in.Choices[:min(len(in.Choices), maxChoices)]
		if in.Secret { // a default is no secret, and nobody would see that it was taken
			in.Defaults = nil
		}
	}
	if p.Unusable != "" {
		p.Command, p.Args, p.Env, p.URL, p.Headers = "", nil, nil, nil, nil
		p.Inputs, p.Download = nil, nil
	}
}

// Usable tells whether an entry can be made of it now.
func (p *Proposal) Usable() bool { return p.Unusable == "" && (p.Command != "" || p.URL != nil) }

// Input finds an input.
func (p *Proposal) Input(id string) (Input, bool) {
	i := slices.IndexFunc(p.Inputs, func(in Input) bool { return in.ID == id })
	if i < 0 {
		return Input{}, false
	}
	return p.Inputs[i], true
}

// Prefix begins the ids of the inputs of one origin: a value that a person has typed for another server, and that is
// kept under its id, must not be had by choosing the same one.
func Prefix(name string, origin ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(append(origin, name), "\x00")))
	return Slug(name) + "-" + hex.EncodeToString(sum[:4])
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// Slug makes a short name of a long one: its last part, without what cannot be in the name of an entry.
func Slug(name string) string {
	name = strings.Trim(name[strings.LastIndexByte(name, '/')+1:], " .")
	name = strings.Trim(notInSlug.ReplaceAllString(name, "-"), "-")
	if name == "" {
		return "server"
	}
	return name[:min(len(name), 64)]
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// ID makes the id of an input.
func ID(prefix, name string) string {
	name = notInID.ReplaceAllString(name, "_")
	return prefix + "." + name[:min(len(name), 64)]
}
