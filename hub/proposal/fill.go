package proposal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxValueBytes bounds a value: a key in PEM has some kilobytes.
const maxValueBytes = 64 << 10

const maxValues = 100 // of one input

// maxEntryBytes bounds an entry including its values, since a value may occur in many places.
const maxEntryBytes = 1 << 20

// Entry says how a server is reached. Secrets that were not given are ${input:ID}.
type Entry struct {
	Server    string
	Command   string
	Args      []string
	Env       map[string]string
	Dir       string
	URL       string
	Transport string
	Headers   map[string]string
	Asked     []Input  // the inputs that it still refers to
	Missing   []string // ids of required inputs without a value
}

// InputError is returned for a value that does not fit its input.
type InputError struct {
	ID, Title string
	Text      string
}

func (e *InputError) Error() string { return fmt.Sprintf("%s: %s", e.Title, e.Text) }

// Outline returns the entry with ${input:ID} for every input.
func (p *Proposal) Outline() Entry {
	f := filling{p: p, values: map[string][]string{}}
	for _, in := range p.Inputs {
		f.values[in.ID] = []string{reference(in.ID)}
	}
	return f.entry()
}

// Fill makes an entry. An input without a value gets its default. A required secret without a value stays a reference,
// for which the user is asked when the server starts, and so does an input whose value is its own reference. Any other
// input without a value is left out, with everything that depends on it.
func (p *Proposal) Fill(given map[string][]string) (Entry, error) {
	f := filling{p: p, values: map[string][]string{}}
	for id := range given {
		if _, ok := p.Input(id); !ok {
			return Entry{}, &InputError{ID: id, Title: "Input " + strconv.Quote(id), Text: "there is none of this name"}
		}
	}
	for _, in := range p.Inputs {
		values := slices.DeleteFunc(slices.Clone(given[in.ID]), func(v string) bool { return v == "" })
		if _, said := given[in.ID]; !said {
			values = in.Defaults
		}
		later := len(values) == 1 && values[0] == reference(in.ID)
		if len(values) == 0 || later {
			switch {
			case later, in.Required && in.Secret:
				f.asked = append(f.asked, in)
				f.values[in.ID] = []string{reference(in.ID)}
			case in.Required:
				f.missing = append(f.missing, in.ID)
			}
			continue
		}
		for _, v := range values {
			if problem := in.fits(v); problem != "" {
				return Entry{}, &InputError{in.ID, in.Title, problem}
			}
		}
		if len(values) > 1 && !in.Multiple || len(values) > maxValues {
			return Entry{}, &InputError{in.ID, in.Title, "it takes one value"}
		}
		f.values[in.ID] = values
	}
	e := f.entry()
	if f.size > maxEntryBytes {
		return Entry{}, &InputError{"", "The entry",
			fmt.Sprintf("it is longer than %d bytes with these values", maxEntryBytes)}
	}
	if p.URL != nil && len(e.Missing) == 0 {
		if u, err := url.Parse(e.URL); err != nil || u.Host == "" || u.User != nil ||
			u.Scheme != "http" && u.Scheme != "https" {
			return Entry{}, &InputError{"", "The address", "it is no http or https URL with these values"}
		}
	}
	return e, nil
}

func reference(id string) string { return "${input:" + id + "}" }

// fits returns why a value does not fit the input, or "" if it does.
func (in *Input) fits(v string) string {
	switch {
	case len(v) > maxValueBytes:
		return fmt.Sprintf("a value is longer than %d bytes", maxValueBytes)
	case !utf8.ValidString(v) || strings.ContainsRune(v, 0):
		return "a value is no text"
	case len(in.Choices) > 0 && !slices.Contains(in.Choices, v):
		return "the value is none of those to choose from"
	}
	switch in.Type {
	case TypeNumber:
		n, err := strconv.ParseFloat(v, 64)
		switch {
		case err != nil || n != n:
			return "it must be a number"
		case in.Min != nil && n < *in.Min:
			return fmt.Sprintf("it must be at least %g", *in.Min)
		case in.Max != nil && n > *in.Max:
			return fmt.Sprintf("it must be at most %g", *in.Max)
		}
	case TypeBoolean:
		if v != "true" && v != "false" {
			return "it must be true or false"
		}
	}
	return ""
}

// filling puts values into the texts of a proposal.
type filling struct {
	p       *Proposal
	values  map[string][]string
	asked   []Input
	missing []string
	size    int // the size of the texts so far, in bytes; texts beyond the limit are left out
}

func (f *filling) entry() Entry {
	p := f.p
	e := Entry{Server: p.Server, Command: p.Command, Dir: p.Dir, Transport: p.Transport, Asked: f.asked,
		Missing: f.missing}
	for _, g := range p.Args {
		for _, values := range f.each(g...) {
			for _, t := range g {
				e.Args = append(e.Args, f.text(t, values))
			}
		}
	}
	f.named(p.Env, &e.Env)
	f.named(p.Headers, &e.Headers)
	for _, values := range f.each(p.URL) {
		e.URL = f.text(p.URL, values)
	}
	return e
}

func (f *filling) named(list []Named, to *map[string]string) {
	for _, n := range list {
		for _, values := range f.each(n.Text) {
			if *to == nil {
				*to = map[string]string{}
			}
			(*to)[n.Name] = f.text(n.Text, values)
		}
	}
}

// each returns the values for writing texts: one set, or one for each value of an input that has several, or none if an
// input has no value.
func (f *filling) each(texts ...Text) []map[string]string {
	first := map[string]string{}
	many := ""
	for _, t := range texts {
		for _, part := range t {
			if part.Input == "" {
				continue
			}
			values := f.values[part.Input]
			if len(values) == 0 {
				return nil
			}
			if first[part.Input] = values[0]; len(values) > 1 {
				many = part.Input
			}
		}
	}
	if many == "" {
		return []map[string]string{first}
	}
	var all []map[string]string
	for _, v := range f.values[many] {
		one := maps.Clone(first)
		one[many] = v
		all = append(all, one)
	}
	return all
}

func (f *filling) text(t Text, values map[string]string) string {
	for _, part := range t {
		f.size += len(part.Literal) + len(values[part.Input])
	}
	if f.size > maxEntryBytes {
		return ""
	}
	return t.with(values)
}

func (t Text) with(values map[string]string) string {
	var b strings.Builder
	for _, part := range t {
		switch {
		case part.Silent:
		case part.Input != "":
			b.WriteString(values[part.Input])
		default:
			b.WriteString(part.Literal)
		}
	}
	return b.String()
}

// asked is an input in the form of VS Code's mcp.json.
type asked struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Options     []string `json:"options,omitempty"`
	Password    bool     `json:"password,omitempty"`
}

// launched is a server in the form of VS Code's mcp.json.
type launched struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// JSON returns the entry in VS Code's dialect, under its name, with the inputs that it refers to.
func (e *Entry) JSON() string {
	var file struct {
		Inputs  []asked             `json:"inputs,omitempty"`
		Servers map[string]launched `json:"servers"`
	}
	for _, in := range e.Asked {
		a := asked{Type: "promptString", ID: in.ID, Description: in.Title, Password: in.Secret}
		if in.Description != "" {
			a.Description += ": " + in.Description
		}
		if len(in.Choices) > 0 {
			a.Type, a.Options = "pickString", in.Choices
		}
		file.Inputs = append(file.Inputs, a)
	}
	l := launched{Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers}
	if l.Type = "stdio"; e.URL != "" {
		l.Type = e.Transport
	}
	file.Servers = map[string]launched{e.Server: l}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(file) // cannot fail: only strings, and maps of strings
	return b.String()
}
