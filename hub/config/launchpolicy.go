package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Dialects of managed policies. "" is the hub's own.
const (
	// PolicyVSCode is an object with VS Code's settings that an organisation may manage.
	PolicyVSCode = "vscode"
	// PolicyCline is the remote config of Cline.
	PolicyCline = "cline"
)

// Bounds of a policy's file, and of a registry's list.
const (
	maxPolicyBytes   = 4 << 20
	maxRegistryBytes = 64 << 20
)

// PolicyText is a policy as it is spelled.
type PolicyText struct {
	From    string // its path, or what the host calls it
	Dialect string // "" = the hub's own
	Text    []byte
	Err     error // it cannot be read
	// Registry is the list of the registry's servers, if a file has it, in the form in which a registry lists them (API
	// v0.1, GET /servers).
	Registry     []byte
	RegistryFrom string
}

// ReadPolicyFile reads the file of a policy, and the list of a registry that it names. It returns nil if there is no
// such file. Any other failure is in the result, also a link that leads to nothing, which an administrator has made.
func ReadPolicyFile(path string) *PolicyText {
	text, err := readBounded(path, maxPolicyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if !leadsToNothing(path) && !leadsToNothing(filepath.Dir(path)) {
			return nil
		}
		err = errors.New("its link leads to nothing")
	}
	t := &PolicyText{From: path, Text: text, Err: err}
	doc, problem := parse(path, text)
	if err != nil || problem != nil {
		return t
	}
	members, _ := doc.root.object()
	for _, m := range members {
		if name, ok := m.value.str(); ok && m.name == "registry" && name != "" {
			if t.RegistryFrom = name; !filepath.IsAbs(name) {
				t.RegistryFrom = filepath.Join(filepath.Dir(path), name)
			}
			if t.Registry, err = readBounded(t.RegistryFrom, maxRegistryBytes); err != nil {
				t.Err = fmt.Errorf("the registry's list %s cannot be read: %s", t.RegistryFrom, why(err))
			}
		}
	}
	return t
}

// Same reports whether two texts are the same, so that they need not be read again.
func (t *PolicyText) Same(as *PolicyText) bool {
	if t == nil || as == nil {
		return t == as
	}
	return t.From == as.From && t.Dialect == as.Dialect && bytes.Equal(t.Text, as.Text) &&
		bytes.Equal(t.Registry, as.Registry) && fmt.Sprint(t.Err) == fmt.Sprint(as.Err)
}

// leadsToNothing reports whether a path is a link to what is not there.
func leadsToNothing(path string) bool {
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func readBounded(path string, most int64) ([]byte, error) {
	text, err := readRegular(path, most+1)
	if errors.Is(err, errNotRegular) {
		err = errors.New("it is no regular file")
	} else if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return text, err
}

// Policy returns the policy of a text. Everything that is wrong makes it one that cannot be used: an unknown key may be
// a rule.
func (t *PolicyText) Policy() event.LaunchPolicy {
	r := policyReader{p: event.LaunchPolicy{From: t.From}}
	if t.Err != nil {
		r.p.Unreadable = why(t.Err)
		return r.p
	}
	root, ok := r.open(t.From, t.Text)
	if !ok {
		return r.p
	}
	if t.Registry != nil {
		in := policyReader{p: event.LaunchPolicy{From: t.RegistryFrom}}
		if list, ok := in.open(t.RegistryFrom, t.Registry); ok {
			r.listed = in.registry(list)
		}
		if r.p = in.p; r.p.Unreadable != "" {
			return r.p
		}
		r.p.From, r.hasList = t.From, true
	}
	for _, m := range root {
		if m.name == "registry" && !r.hasList {
			r.hasList = true
			if list, ok := m.value.object(); ok {
				r.listed = r.registry(list)
			} else {
				r.fail(m.value.at(), m.name, "must be the list of a registry or, in a file, the name of a file that has it")
			}
		}
	}
	read := r.own
	switch t.Dialect {
	case PolicyVSCode:
		read = r.vscode
	case PolicyCline:
		read = r.cline
	case "":
	default:
		r.p.Unreadable = quote(t.Dialect) + " is no dialect of policies"
	}
	for _, m := range root {
		if m.name != "$schema" && m.name != "registry" && !read(m) && t.Dialect == "" {
			r.fail(m.at, m.name, "there is no such key")
		}
	}
	if t.Dialect == PolicyCline {
		r.clineLists()
	}
	return r.p
}

// policyReader reads one policy. The first fault counts.
type policyReader struct {
	p       event.LaunchPolicy
	doc     *document
	hasList bool
	listed  []registryServer

	remotes []event.LaunchRule // of Cline
}

// registryServer is what the list of a registry says of a server.
type registryServer struct {
	name, repository string
	rules            []event.LaunchRule
}

// fail notes what is wrong at a place.
func (r *policyReader) fail(at int, key, format string, args ...any) {
	if r.p.Unreadable != "" {
		return
	}
	if key != "" {
		key += ": "
	}
	r.p.Line = r.doc.line(at)
	r.p.Unreadable = key + fmt.Sprintf(format, args...)
}

// open returns the members of the object that a text is.
func (r *policyReader) open(from string, text []byte) ([]member, bool) {
	doc, problem := parse(from, text)
	if problem != nil {
		r.p.Line, r.p.Unreadable = problem.Line, problem.Message
		return nil, false
	}
	r.doc = doc
	return r.members(doc.root, "")
}

// members returns the members of an object that has no key twice.
func (r *policyReader) members(v value, key string) ([]member, bool) {
	list, ok := v.object()
	if !ok {
		r.fail(v.at(), key, "must be an object, is %s", v.kind())
		return nil, false
	}
	seen := map[string]bool{}
	for _, m := range list {
		if seen[m.name] {
			r.fail(m.at, key, "the key %s stands here twice", quote(m.name))
			return nil, false
		}
		seen[m.name] = true
	}
	return list, true
}

func (r *policyReader) truth(m member) bool {
	b, ok := m.value.boolean()
	if !ok {
		r.fail(m.value.at(), m.name, "must be true or false, is %s", m.value.kind())
	}
	return b
}

func (r *policyReader) text(m member, key string) string {
	s, ok := m.value.str()
	if !ok || s == "" {
		r.fail(m.value.at(), key, "must be a text, is %s", m.value.kind())
	}
	return s
}

func (r *policyReader) elements(v value, key string) []value {
	list, ok := v.array()
	if !ok {
		r.fail(v.at(), key, "must be an array, is %s", v.kind())
	}
	return list
}

// only adds a list of what is allowed.
func (r *policyReader) only(m member, list event.LaunchList) {
	list.Name, list.Line = m.name, r.doc.line(m.at)
	if !list.Processes && !list.Remotes {
		list.Processes, list.Remotes = true, true
	}
	r.p.Only = append(r.p.Only, list)
}

// own reads a key of the hub's own dialect.
func (r *policyReader) own(m member) bool {
	switch m.name {
	case "allowedServers":
		list := event.LaunchList{Why: "does not name what it would launch"}
		for i, v := range r.elements(m.value, m.name) {
			list.Rules = append(list.Rules, r.rules(v, fmt.Sprintf("%s[%d]", m.name, i), false)...)
		}
		r.only(m, list)
	case "deniedServers":
		for i, v := range r.elements(m.value, m.name) {
			r.p.Denied = append(r.p.Denied, r.rules(v, fmt.Sprintf("%s[%d]", m.name, i), true)...)
		}
	case "onlyRegistry":
		if r.truth(m) {
			r.onlyRegistry(m)
		}
	case "noPersonalServers":
		if r.truth(m) {
			r.only(m, event.LaunchList{Personal: true, Why: "allows only servers that the host brings"})
		}
	default:
		return false
	}
	return true
}

func (r *policyReader) onlyRegistry(m member) {
	list := event.LaunchList{Why: "allows only what the registry's list has, and it does not have what it would launch"}
	if !r.hasList {
		list.Why = "allows only what a registry has, and there is no list of that"
	}
	for _, s := range r.listed {
		list.Rules = append(list.Rules, s.rules...)
	}
	r.only(m, list)
}

// rules reads one rule. A rule that names a server of the registry is all that the server may be launched as; denied,
// in any version.
func (r *policyReader) rules(v value, key string, denied bool) []event.LaunchRule {
	members, ok := r.members(v, key)
	if !ok {
		return nil
	}
	if len(members) != 1 {
		r.fail(v.at(), key, `must have one key: "command", "package", "url" or "registry"`)
		return nil
	}
	m := members[0]
	rule := event.LaunchRule{Name: key, Line: r.doc.line(v.at())}
	switch m.name {
	case "command":
		rule.Kind = event.LaunchCommand
		for _, v := range r.elements(m.value, key+".command") {
			word, ok := v.str()
			if !ok {
				r.fail(v.at(), key+".command", "must be an array of texts: the program, and its arguments")
			}
			rule.Command = append(rule.Command, word)
		}
		if len(rule.Command) == 0 || rule.Command[0] == "" || rule.Command[0] == "*" {
			r.fail(m.value.at(), key+".command", "must begin with a program")
		}
		rule.Text = "the command " + cut(fmt.Sprintf("%q", rule.Command), 200)
	case "package":
		rule.Kind, rule.Text = event.LaunchPackage, r.text(m, key+".package")
	case "url":
		rule.Kind, rule.URL = event.LaunchURL, r.text(m, key+".url")
		rule.Text = rule.URL
	case "registry":
		return r.ofRegistry(rule, m, r.text(m, key+".registry"), denied)
	default:
		r.fail(m.at, key, "there is no key %s in a rule", quote(m.name))
	}
	return []event.LaunchRule{rule}
}

func (r *policyReader) ofRegistry(as event.LaunchRule, m member, name string, denied bool) (rules []event.LaunchRule) {
	found := false
	for _, s := range r.listed {
		if s.name != name {
			continue
		}
		found = true
		for _, rule := range s.rules {
			rule.Name, rule.Line, rule.AnyVersion = as.Name, as.Line, denied
			rule.Of = name
			rules = append(rules, rule)
		}
	}
	if !found && (denied || !r.hasList) {
		r.fail(m.value.at(), as.Name+".registry", "the registry's list has no server %s, so it is not known what it launches",
			quote(name))
	}
	return rules
}

// registry reads the list of a registry: an object with "servers", each a server.json or an object with one in
// "server". What is no package or address that the hub can compare is in the list, and allows nothing.
func (r *policyReader) registry(root []member) (list []registryServer) {
	for _, m := range root {
		if m.name != "servers" {
			continue
		}
		for i, v := range r.elements(m.value, "servers") {
			key := fmt.Sprintf("servers[%d]", i)
			members, ok := r.members(v, key)
			if inner := memberOf(members, "server"); ok && inner != nil {
				members, ok = r.members(inner.value, key+".server")
			}
			if !ok {
				return nil
			}
			list = append(list, r.listedServer(members, key))
		}
		return list
	}
	r.fail(0, "", `the list of a registry has "servers"`)
	return nil
}

func (r *policyReader) listedServer(members []member, key string) (s registryServer) {
	say := func(members []member, name string) string {
		if m := memberOf(members, name); m != nil {
			text, _ := m.value.str()
			return text
		}
		return ""
	}
	each := func(name string, do func([]member)) {
		if m := memberOf(members, name); m != nil && !m.value.isNull() {
			for _, v := range r.elements(m.value, key+"."+name) {
				if of, ok := r.members(v, key+"."+name); ok {
					do(of)
				}
			}
		}
	}
	if s.name = say(members, "name"); s.name == "" {
		r.fail(0, key, "has no name")
	}
	if m := memberOf(members, "repository"); m != nil {
		if of, ok := m.value.object(); ok {
			s.repository = say(of, "url")
		}
	}
	each("packages", func(of []member) {
		// A package of another registry of packages cannot be told from that of the usual one by its launch.
		if base := say(of, "registryBaseUrl"); base != "" && !usualRegistries[base] {
			return
		}
		text := say(of, "registryType") + ":" + say(of, "identifier")
		if version := say(of, "version"); version != "" && say(of, "registryType") != "oci" {
			text += "@" + version
		}
		s.rules = append(s.rules, event.LaunchRule{Kind: event.LaunchPackage, Text: text, Listed: true})
	})
	each("remotes", func(of []member) {
		url := say(of, "url")
		s.rules = append(s.rules, event.LaunchRule{Kind: event.LaunchURL, URL: url, Text: url, Listed: true})
	})
	return s
}

var usualRegistries = map[string]bool{"https://registry.npmjs.org": true, "https://registry.npmjs.org/": true,
	"https://pypi.org": true, "https://pypi.org/": true, "https://pypi.org/simple": true, "https://docker.io": true,
	"https://index.docker.io": true}

func memberOf(members []member, name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	return nil
}
