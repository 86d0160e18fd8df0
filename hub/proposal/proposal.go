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

// Bounds of one proposal, which a person has to read.
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

// Kinds of proposals. A registry may have other kinds.
const (
	KindNPM    = "npm"
	KindPyPI   = "pypi"
	KindOCI    = "oci"
	KindNuGet  = "nuget"
	KindBundle = "mcpb"
	KindRemote = "remote"
)

// Proposal is one way to add a server. A stranger chooses its texts.
type Proposal struct {
	Server  string // a name for the entry
	Kind    string
	Subject string // what would be added, for people

	// How the server is reached. If Command and URL are both unset, that is not known yet (Download), or Unusable says why
	// not.
	Command   string
	Args      []Group
	Env       []Named
	Dir       string
	URL       Text
	Transport string // for a URL: http or sse
	Headers   []Named

	Inputs   []Input
	Unusable string // why it cannot be added; "" if it can
	Warnings []string
	Download *Download // where its bundle can be downloaded
}

// Download is a file whose hash is known.
type Download struct {
	URL    string
	SHA256 string // in lower case hex
}

// Text is a text that may have the values of inputs in it.
type Text []Part

// Part is a literal, or the value of an input.
type Part struct {
	Literal string
	Input   string // the id of the input; "" for a literal
	Silent  bool   // the value is not written, but the text is left out if the input has none
}

// Literal returns a text without inputs.
func Literal(s string) Text { return Text{{Literal: s}} }

// Group is a sequence of arguments that are used or left out together, such as a flag and its value.
type Group []Text

// Named is a variable or a header.
type Named struct {
	Name string
	Text Text
}

// Type is the type of a value.
type Type int

// The types of values.
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

// variable matches text that is a variable in some dialect of config files.
var variable = regexp.MustCompile("\\$[A-Za-z_{(]|`|\\{(?:env|file):")

// Check bounds the proposal, and makes it unusable if it must not be written to a file. A literal that looks like a
// variable would be replaced by the hub, or by another application that reads the file, with a value from the user's
// environment.
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
	// A person may type a variable; a default or a choice of a stranger must not be one.
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

// unwritable reports whether a text of a stranger must not be written to a file.
func unwritable(s string) bool { return variable.MatchString(s) || strings.ContainsFunc(s, unfit) }

// unasked are variables that affect other programs than the server, and where these come from: nobody expects that
// among settings.
var unasked = regexp.MustCompile(`^(?i:LD_.*|DYLD_.*|PATH|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|BASH_ENV|ENV|IFS|` +
	`SHELL|NPM_CONFIG_.*|UV_INDEX.*|UV_DEFAULT_INDEX|UV_EXTRA_INDEX_URL|PIP_.*INDEX_URL)$`)

// unfit reports whether a character is needed in no argument, variable or header of a registry: control characters, and
// those that change the direction of text or are invisible.
func unfit(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x200b && r <= 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r == 0xfffd
}

// bound shortens the texts that are only shown, and clears what is not used.
func (p *Proposal) bound() {
	p.Server, p.Kind, p.Subject = bounds.Cut(p.Server, 128), bounds.Cut(p.Kind, 64), bounds.Cut(p.Subject, maxShown)
	p.Warnings = p.Warnings[:min(len(p.Warnings), maxWarnings)]
	for i := range p.Inputs[:min(len(p.Inputs), MaxInputs)] {
		in := &p.Inputs[i]
		in.Title, in.Description = bounds.Cut(in.Title, 256), bounds.Cut(in.Description, maxShown)
		in.Placeholder = bounds.Cut(in.Placeholder, 256)
		in.Choices = in.Choices[:min(len(in.Choices), maxChoices)]
		if in.Secret { // a default is not secret, and nobody would notice that it was used
			in.Defaults = nil
		}
	}
	if p.Unusable != "" {
		p.Command, p.Args, p.Env, p.URL, p.Headers = "", nil, nil, nil, nil
		p.Inputs, p.Download = nil, nil
	}
}

// Usable reports whether an entry can be made from the proposal now.
func (p *Proposal) Usable() bool { return p.Unusable == "" && (p.Command != "" || p.URL != nil) }

// Input returns the input with an id.
func (p *Proposal) Input(id string) (Input, bool) {
	i := slices.IndexFunc(p.Inputs, func(in Input) bool { return in.ID == id })
	if i < 0 {
		return Input{}, false
	}
	return p.Inputs[i], true
}

// Prefix returns the prefix for the ids of the inputs of one origin. Values that a person has typed are kept under
// these ids, so another origin must not be able to use the same id and get the value.
func Prefix(name string, origin ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(append(origin, name), "\x00")))
	return Slug(name) + "-" + hex.EncodeToString(sum[:4])
}

var notInSlug = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// Slug makes a short name from a long one: its last part, without characters that the name of an entry cannot have.
func Slug(name string) string {
	name = strings.Trim(name[strings.LastIndexByte(name, '/')+1:], " .")
	name = strings.Trim(notInSlug.ReplaceAllString(name, "-"), "-")
	if name == "" {
		return "server"
	}
	return name[:min(len(name), 64)]
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// ID returns the id of an input.
func ID(prefix, name string) string {
	name = notInID.ReplaceAllString(name, "_")
	return prefix + "." + name[:min(len(name), 64)]
}
