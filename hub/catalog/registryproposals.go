package catalog

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

const maxProposals = 50

// proposals returns the proposals for a server.json, the usable ones first.
func (s *Server) proposals(base string, server json.RawMessage) (list []*proposal.Proposal) {
	prefix := proposal.Prefix(s.Name, base)
	add := func(p *proposal.Proposal) bool {
		p.Server = proposal.Slug(s.Name)
		switch {
		case s.Status == Deleted:
			p.Unusable = "The registry has deleted this version. " + s.StatusMessage
		case s.Status == Deprecated:
			p.Warnings = append(p.Warnings, strings.TrimSpace("The registry says that it is deprecated. "+s.StatusMessage))
		}
		p.Check()
		list = append(list, p)
		return len(list) < maxProposals
	}
	jsontext.Elements(jsontext.Get(server, "packages"), func(v json.RawMessage) bool {
		return add(packageOf(prefix, v))
	})
	jsontext.Elements(jsontext.Get(server, "remotes"), func(v json.RawMessage) bool {
		return add(remoteOf(prefix, v))
	})
	slices.SortStableFunc(list, func(a, b *proposal.Proposal) int { return rank(a) - rank(b) })
	return list
}

func rank(p *proposal.Proposal) int {
	if p.Unusable != "" {
		return 1
	}
	return 0
}

// runner says how packages of a kind are started.
type runner struct {
	command string
	others  []string       // other commands that a publisher may ask for
	name    *regexp.Regexp // matches an identifier, so that it can never be read as a flag or as a path
	home    []string       // addresses of the usual package registry
	from    string         // the flag that sets another package registry; "" if there is none
}

var versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,254}$`)

var runners = map[string]runner{
	proposal.KindNPM: {command: "npx", others: []string{"bunx"},
		name: regexp.MustCompile(`^(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]{0,213}$`),
		home: []string{"https://registry.npmjs.org", "https://www.npmjs.com", "https://npmjs.com"}, from: "--registry"},
	proposal.KindPyPI: {command: "uvx",
		name: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,213}$`),
		home: []string{"https://pypi.org", "https://pypi.org/simple"}, from: "--default-index"},
	proposal.KindNuGet: {command: "dnx",
		name: regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,213}$`),
		home: []string{"https://api.nuget.org", "https://api.nuget.org/v3/index.json", "https://www.nuget.org"},
		from: "--source"},
	proposal.KindOCI: {command: "docker", others: []string{"podman"},
		name: regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/-]{0,400}(?:@sha256:[0-9a-f]{64})?$`),
		home: []string{"https://docker.io", "https://index.docker.io", "https://registry-1.docker.io"}},
}

// packageOf makes a proposal from one package.
func packageOf(prefix string, v json.RawMessage) *proposal.Proposal {
	kind, id, version := text(v, "registryType"), text(v, "identifier"), text(v, "version")
	p := &proposal.Proposal{Kind: kind, Subject: id}
	unusable := func(format string, args ...any) *proposal.Proposal {
		p.Unusable = fmt.Sprintf(format, args...)
		return p
	}
	if kind == "" || id == "" {
		return unusable("The registry does not say what it is.")
	}
	if kind == proposal.KindBundle {
		return registryBundleOf(p, id, text(v, "fileSha256"))
	}
	r, ok := runners[kind]
	if !ok {
		return unusable("McpHub starts no packages of the kind \"%s\".", bounds.Printable(kind))
	}
	if t := text(jsontext.Get(v, "transport"), "type"); t != "" && t != "stdio" {
		return unusable("It is a web server of its own (%s). Start it by hand, and add its address.", bounds.Printable(t))
	}
	if !r.name.MatchString(id) || version != "" && !versionForm.MatchString(version) {
		return unusable("Its name or version is none of a package of the kind %s.", kind)
	}
	p.Command = r.command
	switch hint := text(v, "runtimeHint"); {
	case slices.Contains(r.others, hint):
		p.Command = hint
	case hint != "" && hint != r.command:
		p.Warnings = append(p.Warnings, fmt.Sprintf("Its publisher starts it with %s; here it is %s.",
			bounds.Printable(hint), r.command))
	}
	in := inputs{prefix: prefix, p: p}
	before := in.arguments(jsontext.Get(v, "runtimeArguments"))
	if slices.ContainsFunc(before, strange) {
		p.Warnings = append(p.Warnings, "Its publisher adds words for "+p.Command+" itself: look at the whole command.")
	}
	behind := in.arguments(jsontext.Get(v, "packageArguments"))
	in.environment(jsontext.Get(v, "environmentVariables"))
	if base := strings.TrimRight(text(v, "registryBaseUrl"), "/"); base != "" && !slices.Contains(r.home, base) {
		if u, err := url.Parse(base); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return unusable("The address of its package registry is no https URL.")
		} else if r.from != "" {
			before = append(before, proposal.Group{proposal.Literal(r.from), proposal.Literal(base)})
		} else if !strings.HasPrefix(id, u.Host+"/") {
			id = u.Host + "/" + id
		}
		p.Warnings = append(p.Warnings, "The package comes from "+bounds.Printable(base)+".")
	}
	compose(p, id, version, before, behind)
	if in.wrong != "" {
		return unusable("%s", in.wrong)
	}
	return p
}

// strange reports whether the words for the program that runs a package are unusual: they may name another package than
// the one that is shown.
func strange(g proposal.Group) bool {
	return len(g) != 1 || len(g[0]) != 1 || !slices.Contains([]string{"-y", "--yes", "-i", "--rm"}, g[0][0].Literal)
}

// compose sets the command line. The user consents before it runs, so npx and dnx must not ask on a terminal that does
// not exist.
func compose(p *proposal.Proposal, id, version string, before, behind []proposal.Group) {
	subject := id
	fixed := func(words ...string) (g proposal.Group) {
		for _, w := range words {
			g = append(g, proposal.Literal(w))
		}
		return g
	}
	if p.Kind != proposal.KindOCI {
		if version != "" {
			subject = id + "@" + version
		}
		if version == "" || version == "latest" {
			p.Warnings = append(p.Warnings, "It has no fixed version: what runs can change from one start to the next.")
		}
	} else if _, tag, _ := strings.Cut(id[strings.LastIndexByte(id, '/')+1:], ":"); tag == "" &&
		!strings.Contains(id, "@") {
		if version != "" {
			subject = id + ":" + version
		} else {
			p.Warnings = append(p.Warnings, "It has no fixed version: what runs can change from one start to the next.")
		}
	}
	p.Subject = subject
	switch p.Kind {
	case proposal.KindNPM:
		if p.Command == "npx" && !mentions(before, "-y", "--yes") {
			p.Args = append(p.Args, fixed("-y"))
		}
		p.Args = append(append(append(p.Args, before...), fixed(subject)), behind...)
	case proposal.KindPyPI:
		p.Args = append(append(before, fixed(subject)), behind...)
	case proposal.KindNuGet:
		p.Args = append(before, fixed(subject))
		if !mentions(before, "--yes") {
			p.Args = append(p.Args, fixed("--yes"))
		}
		if len(behind) > 0 {
			p.Args = append(append(p.Args, fixed("--")), behind...)
		}
	case proposal.KindOCI:
		p.Args = append([]proposal.Group{fixed("run", "-i", "--rm")}, before...)
		for _, n := range p.Env { // only the name is passed on, so that the value does not appear in lists of processes
			g := fixed("-e", n.Name)
			for _, part := range n.Text {
				if part.Input != "" { // left out if the value is left out
					g[1] = append(g[1], proposal.Part{Input: part.Input, Silent: true})
				}
			}
			p.Args = append(p.Args, g)
		}
		p.Args = append(append(p.Args, fixed(subject)), behind...)
	}
}

func mentions(args []proposal.Group, words ...string) bool {
	return slices.ContainsFunc(args, func(g proposal.Group) bool {
		return len(g) > 0 && len(g[0]) == 1 && slices.Contains(words, g[0][0].Literal)
	})
}

var sha256Form = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// registryBundleOf makes a proposal from a bundle, whose content is unknown until it is read.
func registryBundleOf(p *proposal.Proposal, at, sum string) *proposal.Proposal {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || len(at) > maxAddress:
		p.Unusable = "The address of its bundle is none that is asked."
	case !sha256Form.MatchString(sum):
		p.Unusable = "The registry does not say the hash of its bundle, so it could be any file."
	default:
		p.Download = &proposal.Download{URL: at, SHA256: strings.ToLower(sum)}
	}
	return p
}

// remoteOf makes a proposal from an address.
func remoteOf(prefix string, v json.RawMessage) *proposal.Proposal {
	p := &proposal.Proposal{Kind: proposal.KindRemote, Subject: text(v, "url")}
	switch t := text(v, "type"); t {
	case "streamable-http":
		p.Transport = "http"
	case "sse":
		p.Transport = "sse"
	default:
		p.Unusable = fmt.Sprintf("McpHub knows no transport \"%s\".", bounds.Printable(t))
		return p
	}
	in := inputs{prefix: prefix, p: p}
	p.URL = in.template("url", text(v, "url"), jsontext.Get(v, "variables"))
	in.headers(jsontext.Get(v, "headers"))
	switch u, err := url.Parse(withoutVariables(p.URL)); {
	case in.wrong != "":
		p.Unusable = in.wrong
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		p.Unusable = "Its address is no http or https URL."
	case u.Scheme == "http":
		p.Warnings = append(p.Warnings, "Its address is not encrypted.")
	}
	return p
}

// withoutVariables returns the address with a placeholder for each input.
func withoutVariables(t proposal.Text) string {
	var b strings.Builder
	for _, part := range t {
		if b.WriteString(part.Literal); part.Input != "" {
			b.WriteString("x")
		}
	}
	return b.String()
}
