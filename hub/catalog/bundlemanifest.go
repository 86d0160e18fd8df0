package catalog

import (
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// Info is what a bundle says about itself. Nobody has checked it.
type Info struct {
	Name, Title, Description, Version, Author string
	Tools                                     []string
}

const (
	maxTools = 100
	maxArgs  = 500
)

// known are the versions of manifests that can be read. Those before 0.3 have the same fields, or fewer.
var known = []string{"0.1", "0.2", "0.3", "0.4"}

// manifest is the content of a manifest.json.
type manifest struct {
	Info
	kind, entry string
	config      json.RawMessage // mcp_config
	all         json.RawMessage
}

// readManifest parses a manifest. It refuses one that says too little to start a server.
func readManifest(b []byte) (m manifest, err error) {
	b = []byte(strings.TrimPrefix(string(b), "\ufeff"))
	if !jsontext.IsObject(b) {
		return m, refuse("its manifest.json is no JSON object")
	}
	if name, twice := jsontext.Repeated(b); twice {
		return m, refuse("its manifest.json has the key \"%s\" twice", bounds.Printable(name))
	}
	version := text(b, "manifest_version")
	if version == "" {
		version = text(b, "dxt_version")
	}
	if !slices.Contains(known, version) {
		return m, refuse("its manifest.json is of version \"%s\"; McpHub reads %s", bounds.Printable(version),
			strings.Join(known, ", "))
	}
	server := jsontext.Get(b, "server")
	m = manifest{all: b, kind: text(server, "type"), entry: text(server, "entry_point"),
		config: jsontext.Get(server, "mcp_config")}
	m.Name, m.Version, m.Description = text(b, "name"), text(b, "version"), text(b, "description")
	m.Title, m.Author = text(b, "display_name"), text(jsontext.Get(b, "author"), "name")
	for key, value := range map[string]string{"name": m.Name, "version": m.Version, "description": m.Description,
		"author.name": m.Author} {
		if value == "" {
			return m, refuse("its manifest.json has no %s", key)
		}
	}
	for _, s := range []*string{&m.Name, &m.Title, &m.Description, &m.Version, &m.Author} {
		*s = bounds.Cut(*s, maxText)
	}
	jsontext.Elements(jsontext.Get(b, "tools"), func(t json.RawMessage) bool {
		m.Tools = append(m.Tools, bounds.Cut(text(t, "name"), 128))
		return len(m.Tools) < maxTools
	})
	return m, nil
}

// system has the properties of this computer that manifests refer to.
type system struct {
	goos, home string
}

func (s system) platform() string {
	if s.goos == "windows" {
		return "win32"
	}
	return s.goos
}

// proposal makes a proposal from the manifest, for a bundle that is unpacked in folder.
func (m *manifest) proposal(a *archive, folder string, sys system, prefix string) (*proposal.Proposal, error) {
	p := &proposal.Proposal{Server: proposal.Slug(m.Name), Kind: proposal.KindBundle,
		Subject: m.Name + " " + m.Version}
	platforms := textsOf(jsontext.Get(jsontext.Get(m.all, "compatibility"), "platforms"))
	if platforms != nil && !slices.Contains(platforms, sys.platform()) {
		p.Unusable = "It is not for this system, but for " + bounds.Printable(strings.Join(platforms, ", ")) + "."
		p.Check()
		return p, nil
	}
	f := &filler{m: m, a: a, p: p, folder: folder, sys: sys, prefix: prefix, inputs: map[string]string{}}
	switch m.kind {
	case "node", "python", "binary":
		if m.config == nil {
			return nil, refuse("its manifest.json has no server.mcp_config")
		}
	case "uv":
	default:
		return nil, refuse("its server is of the kind \"%s\"; McpHub knows node, python, binary and uv",
			bounds.Printable(m.kind))
	}
	if m.entry == "" || !f.has(m.entry) {
		return nil, refuse("it has not the server.entry_point that its manifest.json names")
	}
	if err := f.launch(); err != nil {
		return nil, err
	}
	p.Check()
	return p, nil
}

// textsOf returns the texts in an array.
func textsOf(list json.RawMessage) (all []string) {
	jsontext.Elements(list, func(v json.RawMessage) bool {
		all = append(all, jsontext.String(v))
		return len(all) <= maxArgs
	})
	return all
}

// filler converts mcp_config to a proposal.
type filler struct {
	m      *manifest
	a      *archive
	p      *proposal.Proposal
	folder string
	sys    system
	prefix string
	inputs map[string]string // the ids of inputs, by the keys of user_config
}

// has reports whether the bundle has a file. On Windows, a program may be named without .exe.
func (f *filler) has(name string) bool {
	name = path.Clean(name)
	return f.a.byName[name] != nil || f.sys.goos == "windows" && f.a.byName[name+".exe"] != nil
}

func (f *filler) launch() error {
	own := jsontext.Get(jsontext.Get(f.m.config, "platform_overrides"), f.sys.platform())
	pick := func(key string) json.RawMessage {
		if v := jsontext.Get(own, key); v != nil {
			return v
		}
		return jsontext.Get(f.m.config, key)
	}
	command, args := jsontext.String(pick("command")), textsOf(pick("args"))
	if command == "" && f.m.kind == "uv" { // then the host chooses the command
		command, args = "uv", []string{"run", "--directory", "${__dirname}", f.m.entry}
	}
	if command == "" {
		return refuse("its manifest.json has no server.mcp_config.command")
	}
	if err := f.command(command); err != nil {
		return err
	}
	if err := f.arguments(args); err != nil {
		return err
	}
	env := map[string]string{}
	for _, from := range []json.RawMessage{jsontext.Get(f.m.config, "env"), jsontext.Get(own, "env")} {
		jsontext.Members(from, func(name []byte, v json.RawMessage) bool {
			env[string(name)] = jsontext.String(v)
			return len(env) <= maxArgs
		})
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !envName.MatchString(name) {
			return refuse("its variable \"%s\" has a name that no variable has", bounds.Printable(name))
		}
		t, err := f.text(env[name])
		if err != nil {
			return err
		}
		f.p.Env = append(f.p.Env, proposal.Named{Name: name, Text: t})
	}
	return nil
}

// command sets the command: a program of the system by its name, or a file of the bundle. Any other path is refused,
// since it would be a program that the bundle expects on this computer.
func (f *filler) command(command string) error {
	t, err := f.text(command)
	if err != nil {
		return err
	}
	if len(t) != 1 || t[0].Input != "" {
		return refuse("its command is not fixed")
	}
	command = t[0].Literal
	inside, ok := f.inside(command)
	switch {
	case ok && f.has(inside):
		if f.sys.goos == "windows" && f.a.byName[inside] == nil {
			inside += ".exe"
		}
		f.p.Command = filepath.Join(f.folder, filepath.FromSlash(inside))
	case strings.ContainsAny(command, `/\`):
		return refuse("its command \"%s\" is none of its files", bounds.Printable(command))
	default:
		f.p.Command = command
	}
	return nil
}

// inside returns the path within the bundle of a file that a manifest names, relative or below ${__dirname}. The result
// is false if the path leads out of the bundle.
func (f *filler) inside(name string) (string, bool) {
	name = strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(f.folder)+"/")
	name = path.Clean(name)
	return name, checkName(name) == nil
}

// arguments sets the arguments, in groups. A flag before an optional value is left out together with the value:
// manifests cannot express that, and a flag alone would take the next argument for its value.
func (f *filler) arguments(args []string) error {
	if len(args) > maxArgs {
		return refuse("it has more than %d arguments", maxArgs)
	}
	for _, arg := range args {
		t, err := f.text(arg)
		if err != nil {
			return err
		}
		if len(t) == 1 && t[0].Input == "" && !filepath.IsAbs(arg) && f.a.byName[path.Clean(arg)] != nil {
			f.p.Dir = f.folder // the argument is a file of the bundle, relative to this folder
		}
		last := len(f.p.Args) - 1
		if len(t) == 1 && t[0].Input != "" && last >= 0 && len(f.p.Args[last]) == 1 {
			in, _ := f.p.Input(t[0].Input)
			flag := f.p.Args[last][0]
			alone := len(flag) == 1 && flag[0].Input == "" && strings.HasPrefix(flag[0].Literal, "-") &&
				!strings.Contains(flag[0].Literal, "=")
			if alone && !in.Required && !in.Multiple {
				f.p.Args[last] = append(f.p.Args[last], t)
				continue
			}
		}
		f.p.Args = append(f.p.Args, proposal.Group{t})
	}
	return nil
}

var reference = regexp.MustCompile(`\$\{([^{}]*)\}`)

// text replaces the variables of s. An unknown variable stays, and makes the proposal unusable.
func (f *filler) text(s string) (proposal.Text, error) {
	return replace(s, reference, func(name, unknown string) (proposal.Part, error) {
		if key, ok := strings.CutPrefix(name, "user_config."); ok {
			id, err := f.input(key)
			return proposal.Part{Input: id}, err
		}
		return proposal.Part{Literal: f.variable(name, unknown)}, nil
	})
}

func (f *filler) variable(name, unknown string) string {
	switch name {
	case "__dirname":
		return f.folder
	case "HOME":
		return f.sys.home
	case "DESKTOP", "DOCUMENTS", "DOWNLOADS":
		return filepath.Join(f.sys.home, name[:1]+strings.ToLower(name[1:]))
	case "/", "pathSeparator":
		return string(filepath.Separator)
	}
	return unknown
}

// input returns the id of the input for a key of user_config, and adds the input if it is not there yet.
func (f *filler) input(key string) (string, error) {
	if id, ok := f.inputs[key]; ok {
		return id, nil
	}
	v := jsontext.Get(jsontext.Get(f.m.all, "user_config"), key)
	if !jsontext.IsObject(v) {
		return "", refuse("its mcp_config uses user_config.%s, which it does not declare", bounds.Printable(key))
	}
	in := proposal.Input{ID: proposal.ID(f.prefix, key), Title: text(v, "title"), Description: text(v, "description"),
		Required: truth(v, "required"), Secret: truth(v, "sensitive"), Multiple: truth(v, "multiple"), Min: number(v, "min"),
		Max: number(v, "max")}
	if in.Title == "" {
		in.Title = key
	}
	switch text(v, "type") {
	case "number":
		in.Type = proposal.TypeNumber
	case "boolean":
		in.Type = proposal.TypeBoolean
	case "directory":
		in.Type = proposal.TypeDirectory
	case "file":
		in.Type = proposal.TypeFile
	}
	fallback := jsontext.Get(v, "default")
	switch {
	case fallback == nil || jsontext.IsNull(fallback) || fallback[0] == '{':
	case fallback[0] == '[':
		in.Defaults = textsOf(fallback)
	case jsontext.IsString(fallback):
		in.Defaults = []string{jsontext.String(fallback)}
	default:
		in.Defaults = []string{string(fallback)}
	}
	in.Defaults = slices.DeleteFunc(in.Defaults, func(s string) bool { return s == "" })
	for i, s := range in.Defaults {
		in.Defaults[i] = reference.ReplaceAllStringFunc(s, func(ref string) string {
			return f.variable(ref[2:len(ref)-1], ref)
		})
	}
	if !in.Multiple {
		in.Defaults = in.Defaults[:min(len(in.Defaults), 1)]
	}
	f.inputs[key] = in.ID
	f.p.Inputs = append(f.p.Inputs, in)
	return in.ID, nil
}

func number(v json.RawMessage, name string) *float64 {
	n, err := strconv.ParseFloat(string(jsontext.Get(v, name)), 64)
	if err != nil {
		return nil
	}
	return &n
}
