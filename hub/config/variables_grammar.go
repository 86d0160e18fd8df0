package config

import (
	"path/filepath"
	"regexp"
	"strings"
)

// fieldSet is a set of fields of a server whose texts a dialect expands.
type fieldSet uint

const (
	inCommand fieldSet = 1 << iota // command and args
	inEnv                          // values, never names
	inEnvFile
	inDir
	inURL // url, the values of headers, and the settings of the sign-in

	// inLaunch are the fields that all dialects with variables expand.
	inLaunch = inCommand | inEnv | inURL
	inAll    = inLaunch | inEnvFile | inDir
)

// grammar says how a dialect refers to values outside its file.
type grammar struct {
	fields fieldSet
	// refers matches a reference; nil if the dialect has none.
	refers *regexp.Regexp
	// shown matches a reference that is replaced where an entry is shown to a person; nil if there is none.
	shown *regexp.Regexp
	// nested matches a text that is refused because its application would expand it twice, which the hub never does.
	nested *regexp.Regexp
	// maxUnits is the length, in UTF-16 units, beyond which a text is not expanded; 0 means no limit.
	maxUnits int
	// resolve returns the value of a match; m has the whole reference and the groups of refers. If ok is false, the
	// reference stays as it is.
	resolve func(e *expander, field string, m []string) (value string, ok bool)
}

// grammars has no entry for Claude Desktop, whose texts have no references, and for Codex, which names variables
// outside its texts (Server.EnvRefs).
var grammars = map[string]grammar{
	DialectVSCode: vscodeGrammar,
	DialectPortable: {
		fields: inLaunch, refers: regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`), maxUnits: 1000,
		resolve: withDefault,
	},
	DialectRoo: {
		fields: inAll, refers: regexp.MustCompile(`\$\{(env:\w+|workspaceFolder)\}`), shown: placeOrError,
		resolve: rooReference,
	},
	DialectCline: {
		fields: inAll, refers: regexp.MustCompile(`\$\{(env:[^}]*)\}`), resolve: editorReference,
	},
	DialectCursor: {
		fields:  inLaunch | inEnvFile,
		refers:  regexp.MustCompile(`\$\{(env:[^}]*|workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)\}`),
		shown:   placeOrError,
		resolve: editorReference,
	},
	DialectGemini: {
		fields: inAll, refers: regexp.MustCompile(`\$(?:\{([A-Za-z_]\w*)(:-([^}]*))?\}|([A-Za-z_]\w*))`),
		resolve: geminiReference,
	},
	DialectOpencode: {
		fields: inAll, refers: regexp.MustCompile(`\{(env|file):([^{}]+)\}`),
		nested:  regexp.MustCompile(`\{(env|file):[^}]*\{(env|file):`),
		resolve: opencodeReference,
	},
	DialectCrush: {
		fields: inLaunch, refers: regexp.MustCompile("\\\\\\$|`|\\$\\(|\\$\\{([^}]*)\\}|\\$([A-Za-z_]\\w*)"),
		resolve: crushReference,
	},
	DialectMcpServers: {
		fields: inAll, refers: regexp.MustCompile(`\$\{[^}]*\}`), resolve: unknownReference,
	},
}

// vscodeGrammar has names for everything that its files may refer to. An unset variable is empty, as in a shell. Other
// names, such as those of open files and of launch configurations, stay as they are.
var vscodeGrammar = grammar{
	fields:  inAll,
	refers:  regexp.MustCompile(`\$\{([^{}]*)\}`),
	nested:  regexp.MustCompile(`\$\{[^}]*\$\{`),
	shown:   placeOrError,
	resolve: vscodeReference,
}

func vscodeReference(e *expander, field string, m []string) (string, bool) {
	name, argument, _ := strings.Cut(m[1], ":")
	switch name {
	case "input":
		return e.input(field, argument)
	case "env":
		if argument == "" {
			e.fail(field, "refers to an environment variable without a name")
			return "", false
		}
		return e.orEmpty(field, argument, true), true
	case "command", "config":
		// Commands run code, and the hub does not read the editor's settings.
		e.fail(field, "refers to %s, which the hub does not resolve", quote(m[0]))
		return "", false
	case "workspaceFolder", "workspaceFolderBasename":
		folder := e.folder(argument)
		if folder == "" {
			e.fail(field, "refers to %s, and there is no such workspace folder, or more than one", quote(m[0]))
			return "", false
		}
		if name == "workspaceFolderBasename" {
			return filepath.Base(folder), true
		}
		return folder, true
	}
	value, known := e.own(m[1])
	switch {
	case known && value == "":
		e.fail(field, "refers to %s, which is not known here", quote(m[0]))
	case !known:
		// The text between the braces may be a part of a password.
		e.warn(field, "holds a reference that is not known, which stays as it is")
	}
	return value, value != ""
}

// placeOrError matches a reference to a place, and one that can be nothing but an error.
var placeOrError = regexp.MustCompile(
	`^\$\{(?:workspaceFolder(?:Basename)?(?::.*)?|userHome|cwd|pathSeparator|/|(?:command|config)(?::.*)?|env:?)\}$`)

// own returns a value that depends only on the person and the machine. known reports whether there is such a name.
func (e *expander) own(name string) (value string, known bool) {
	switch name {
	case "userHome":
		return e.vars.Home, true
	case "cwd":
		return e.vars.Cwd, true
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	return "", false
}

// withDefault is the grammar of Claude Code and Copilot. A variable that is set is used even if it is empty.
func withDefault(e *expander, field string, m []string) (string, bool) {
	if value, ok := e.env(m[1]); ok {
		return value, true
	}
	if m[2] != "" {
		return m[3], true
	}
	if conventional.MatchString(m[1]) {
		return e.stays(field, m[1])
	}
	e.warn(field, "refers to an environment variable that is not set; the reference stays as it is")
	return "", false
}

// conventional matches names that look like those of variables. Without "env:" before it, another name may be a part of
// a password that has a "$" in it, so it is not shown.
var conventional = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// rooReference is editorReference with slashes in paths.
func rooReference(e *expander, field string, m []string) (string, bool) {
	value, ok := editorReference(e, field, m)
	value = strings.ReplaceAll(value, `\`, "/")
	if m[1] != "workspaceFolder" && ok {
		e.secrets.add(value)
	}
	return value, ok
}

// editorReference is for Cursor, and for Cline, which has only references to the environment.
func editorReference(e *expander, field string, m []string) (string, bool) {
	if name, ok := strings.CutPrefix(m[1], "env:"); ok {
		value, ok := e.env(name)
		if !ok {
			return e.stays(field, name)
		}
		return value, true
	}
	value := e.folder("")
	if m[1] == "workspaceFolderBasename" && value != "" {
		value = filepath.Base(value)
	} else if !strings.HasPrefix(m[1], "workspace") {
		value, _ = e.own(m[1])
	}
	if value == "" {
		e.warn(field, "refers to %s, which is not known here; the reference stays as it is", quote(m[0]))
	}
	return value, value != ""
}

func geminiReference(e *expander, field string, m []string) (string, bool) {
	if m[4] != "" {
		m[1] = m[4]
	}
	return withDefault(e, field, m)
}

func opencodeReference(e *expander, field string, m []string) (string, bool) {
	if m[1] == "file" {
		return e.file(field, m[2])
	}
	return e.orEmpty(field, m[2], true), true
}

var crushBody = regexp.MustCompile(`^([A-Za-z_]\w*)(?:(:-|-)([^$` + "`" + `]*))?$`)

// crushReference implements the grammar of a shell, but refuses the forms that run commands, and those that cut and
// replace. As in a shell, an unset variable is empty, and ":-" also replaces a value that is set but empty.
func crushReference(e *expander, field string, m []string) (string, bool) {
	name := m[2]
	switch {
	case m[0] == `\$`:
		return "$", true
	case m[0] == "`" || m[0] == "$(":
		e.fail(field, "is to run a command (%s), which the hub never does", m[0])
		return "", false
	case name == "":
		body := crushBody.FindStringSubmatch(m[1])
		if body == nil {
			e.fail(field, "holds a reference of a form that the hub does not know; it knows $NAME, ${NAME} and ${NAME:-default}")
			return "", false
		}
		if body[2] == "" {
			return e.orEmpty(field, body[1], false), true
		}
		value, ok := e.env(body[1])
		if !ok || body[2] == ":-" && value == "" {
			value = body[3]
		}
		return value, true
	}
	return e.orEmpty(field, name, false), true
}

// unknownReference is for files whose grammar is unknown: a reference that is visibly not replaced is better than one
// that is replaced by a guess.
func unknownReference(e *expander, field string, _ []string) (string, bool) {
	e.warn(field, "looks like a reference to a variable; it stays as it is, as nothing tells whose file this is")
	return "", false
}
