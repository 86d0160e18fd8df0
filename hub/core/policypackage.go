package core

import (
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// packageOf returns the package that a launch surely runs, and nothing else: a known program that is found as usual,
// its plainest form, the usual package registry. It is the argument at; what follows it is for the server. ok is false
// for all else.
func packageOf(id *event.LaunchIdentity) (p event.LaunchPackageName, at int, ok bool) {
	if id.Nearby != "" || len(id.Loading) > 0 {
		return p, 0, false
	}
	switch id.Command {
	case "npx", "bunx":
		for at < len(id.Args) && id.Command == "npx" && slices.Contains([]string{"-y", "--yes", "-q", "--quiet"},
			id.Args[at]) {
			at++
		}
		if at < len(id.Args) {
			p, ok = npmPackage(id.Args[at])
		}
	case "uvx":
		if len(id.Args) > 0 {
			p, ok = pypiPackage(id.Args[0])
		}
	case "docker", "podman":
		return imageOf(id)
	}
	return p, at, ok
}

// npmPackage reads NAME or NAME@VERSION as npm does, for packages of the registry alone.
func npmPackage(s string) (p event.LaunchPackageName, ok bool) {
	n := min(1, len(s)) // a scope begins with "@"
	name, version, versioned := strings.Cut(s[n:], "@")
	p = event.LaunchPackageName{Type: "npm", Name: s[:n] + name, Version: version}
	return p, isNPMName(p.Name) && (!versioned || isVersion(version) && !isArchive(version))
}

// pypiPackage reads NAME, NAME@VERSION or NAME==VERSION as uvx does, for packages of the index alone.
func pypiPackage(s string) (p event.LaunchPackageName, ok bool) {
	name, version, versioned := strings.Cut(s, "@")
	if !versioned {
		name, version, versioned = strings.Cut(s, "==")
	}
	return event.LaunchPackageName{Type: "pypi", Name: normalPyPI(name), Version: version},
		isPyPIName(name) && (!versioned || isPyPIVersion(version))
}

// packageNamed reads the name of a package in a rule: npm:, pypi: or oci:, and what follows as npx, uvx or docker take
// it.
func packageNamed(s string) (p event.LaunchPackageName, ok bool) {
	kind, name, _ := strings.Cut(s, ":")
	switch kind {
	case "npm":
		return npmPackage(name)
	case "pypi":
		return pypiPackage(name)
	case "oci":
		return image(name)
	}
	return p, false
}

// imageOf returns the image of "docker run" with flags that change neither it nor what runs in it.
func imageOf(id *event.LaunchIdentity) (p event.LaunchPackageName, at int, ok bool) {
	if len(id.Args) == 0 || id.Args[0] != "run" {
		return p, 0, false
	}
	var passed []string // variables that are passed into the container
	rest := id.Args[1:]
flags:
	for len(rest) > 0 {
		switch flag := rest[0]; {
		case flag == "-i", flag == "--interactive", flag == "--rm", flag == "--init", flag == "--pull=always":
			rest = rest[1:]
		case flag == "-e" || flag == "--env":
			if len(rest) < 2 {
				return p, 0, false
			}
			passed, rest = append(passed, rest[1]), rest[2:]
		case strings.HasPrefix(flag, "--env="):
			passed, rest = append(passed, flag[len("--env="):]), rest[1:]
		default:
			break flags
		}
	}
	if len(rest) == 0 || slices.ContainsFunc(passed, func(v string) bool { return slices.Contains(id.LoadingArgs, v) }) {
		return p, 0, false
	}
	p, ok = image(rest[0])
	return p, len(id.Args) - len(rest), ok
}

// mayBePackage reports whether a launch mentions a package anywhere. A package that it surely is does not count as a
// mention if it is another one, or another version.
func (l *launchWords) mayBePackage(want *event.LaunchPackageName) bool {
	if l.known && l.is.Type == want.Type && l.is.Name == want.Name &&
		(want.Version == "" || want.Version == l.is.Version || !isExact(l.is)) {
		return true
	}
	names := []string{strings.ToLower(want.Name)}
	if short, ok := strings.CutPrefix(want.Name, "docker.io/"); ok {
		names = append(names, strings.TrimPrefix(short, "library/"))
	}
	text := l.besides
	if want.Type == "pypi" {
		text = l.inPyPI
	}
	return slices.ContainsFunc(names, func(name string) bool { return mentions(text, name) })
}

// isExact reports whether a version is one, and not a tag that may mean any.
func isExact(p event.LaunchPackageName) bool {
	if p.Type == "oci" {
		return false // a tag may be moved, and has many digests
	}
	return p.Version != "" && p.Version[0] >= '0' && p.Version[0] <= '9' && (p.Type == "pypi" || strings.Count(p.Version, ".") == 2)
}

// longestScope is how long the scope of a package of npm may be.
const longestScope = 214

// mentions reports whether a text has the name of a package in it, as a whole: in a path, an address, with a version.
func mentions(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, after := text[:i], text[i+len(name):]
		from = i + 1
		if before != "" && isNameByte(before[len(before)-1]) {
			continue
		}
		// "@other/name" is a package of its own.
		if scope, ok := strings.CutSuffix(before, "/"); ok && name[0] != '@' {
			scope = scope[max(0, len(scope)-longestScope):]
			if at := strings.LastIndexByte(scope, '@'); at >= 0 && isNPMName(scope[at:]+"/"+name) {
				continue
			}
		}
		if after == "" || !isNameByte(after[0]) || after[0] == '.' ||
			after[0] == '-' && len(after) > 1 && after[1] >= '0' && after[1] <= '9' { // name-1.0.tgz
			return true
		}
	}
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-~", c) >= 0
}

func all(s string, are func(byte) bool) bool {
	for i := range len(s) {
		if !are(s[i]) {
			return false
		}
	}
	return s != ""
}

// isVersion reports whether a text is one version or tag: no range, no alias, no address.
func isVersion(s string) bool {
	return all(s, func(c byte) bool { return isNameByte(c) && c != '~' || c == '+' }) && !strings.ContainsAny(s[:1], ".-+_")
}

// isArchive reports whether npm takes a text for the name of a file.
func isArchive(s string) bool {
	s = strings.ToLower(s)
	return strings.HasSuffix(s, ".tgz") || strings.HasSuffix(s, ".tar.gz") || strings.HasSuffix(s, ".tar")
}

// isPyPIVersion reports whether a text is a version for sure: uvx takes any other text for the path of a folder.
func isPyPIVersion(s string) bool {
	if s == "latest" {
		return true
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i, part := range strings.Split(s, ".") {
		for _, suffix := range []string{"post", "dev"} {
			if n, ok := strings.CutPrefix(part, suffix); i > 0 && ok {
				part = n
			}
		}
		for _, pre := range []string{"a", "b", "rc"} {
			if n, m, ok := strings.Cut(part, pre); ok && all(m, digit) {
				part = n
			}
		}
		if !all(part, digit) {
			return false
		}
	}
	return true
}

// isNPMName reports whether a text is the name of a package of npm, which is in lower case.
func isNPMName(s string) bool {
	if scope, name, scoped := strings.Cut(s, "/"); scoped {
		return strings.HasPrefix(scope, "@") && isNPMName(scope[1:]) && isNPMName(name)
	}
	return all(s, func(c byte) bool { return isNameByte(c) && (c < 'A' || c > 'Z') }) && s[0] != '.' && s[0] != '-' &&
		!isArchive(s)
}

// isPyPIName reports whether a text is the name of a package of PyPI.
func isPyPIName(s string) bool {
	return all(s, func(c byte) bool { return isNameByte(c) && c != '~' }) && !strings.ContainsAny(s[:1]+s[len(s)-1:], "._-") &&
		!strings.HasSuffix(strings.ToLower(s), ".py")
}

// normalPyPI returns the normal form of the name of a package of PyPI (PEP 503).
func normalPyPI(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c != '-' && c != '_' && c != '.':
			b.WriteByte(c)
		case i == 0 || !strings.ContainsRune("-_.", rune(s[i-1])):
			b.WriteByte('-')
		}
	}
	return strings.ToLower(b.String())
}

// image reads the reference of a container image, and completes it as docker does. Its name is in lower case.
func image(ref string) (p event.LaunchPackageName, ok bool) {
	name, digest, pinned := strings.Cut(ref, "@")
	tag := ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, tag = name[:i], name[i+1:]
		if !isVersion(tag) {
			return p, false
		}
	}
	if pinned {
		if sum, is := strings.CutPrefix(digest, "sha256:"); !is || len(sum) != 64 ||
			strings.Trim(sum, "0123456789abcdef") != "" {
			return p, false
		}
		tag = digest
	}
	parts := strings.Split(name, "/")
	if len(parts) == 1 || !strings.ContainsAny(parts[0], ".:") && parts[0] != "localhost" {
		if len(parts) == 1 {
			parts = append([]string{"library"}, parts...)
		}
		parts = append([]string{"docker.io"}, parts...)
	}
	for i, part := range parts {
		plain := all(part, func(c byte) bool {
			return isNameByte(c) && c != '~' && (c < 'A' || c > 'Z') || i == 0 && c == ':'
		})
		if !plain || strings.ContainsAny(part[:1], ".-_:") {
			return p, false
		}
	}
	if parts[0] == "index.docker.io" || parts[0] == "registry-1.docker.io" {
		parts[0] = "docker.io"
	}
	return event.LaunchPackageName{Type: "oci", Name: strings.Join(parts, "/"), Version: tag}, true
}
