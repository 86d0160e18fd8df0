package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Variables has the values of references. If Resolve is called concurrently, its functions are, too.
type Variables struct {
	// Getenv looks up a variable in the environment that the host gave the hub; nil means an empty environment. On Windows
	// it ignores case: see [LookupEnv].
	Getenv func(name string) (value string, ok bool)
	// Folders are the workspace folders by name. ${workspaceFolder} without a name is the folder of the source, else the
	// only folder.
	Folders map[string]string
	Home    string // ${userHome}
	Cwd     string // ${cwd}
	// IsFolder reports whether a folder exists; nil means that every folder does. The path that a host gives with a text
	// may not exist.
	IsFolder func(path string) bool
	// Input returns the value of an input. ok is false if there is none; then the server cannot start.
	Input func(id string) (value string, ok bool)
	// ReadFile reads an envFile, or the file of a reference. nil means the file system, regular files only. More than 1
	// MiB is an error.
	ReadFile func(path string) ([]byte, error)
}

// Resolved is a server that can be started: its texts have no references except those that its dialect leaves as they
// are. Dir is absolute if it could be made so. Env includes the variables of the EnvFile. EnvFile, EnvRefs and
// BearerEnv are empty.
type Resolved struct {
	Server
	// Secrets are values that must not be shown: of secret inputs, the environment, the envFile, headers and sign-ins. The
	// longest comes first; none is empty.
	Secrets []string
	// Warnings are for people: references that could not be resolved and stay as they are. They have no values.
	Warnings []string
	// FromFile are the variables that the EnvFile adds to Env. It does not have those that Env sets itself.
	FromFile map[string]string
}

// MissingInputError says that a server cannot start before the user has given a value.
type MissingInputError struct{ Input Input }

func (e *MissingInputError) Error() string {
	return fmt.Sprintf("the input %s has no value yet", quote(e.Input.ID))
}

// ResolveError says why a server cannot start as it is configured. It names the field and its place, and shows no
// value.
type ResolveError struct {
	Problem Problem
	// Refused says that the references can be resolved, but the result must not be started, whatever a person answers.
	Refused bool
}

func (e *ResolveError) Error() string { return e.Problem.String() }

// Resolve replaces the references in the texts of a server, by the grammar of its dialect, and reads its envFile. The
// value of a reference is never expanded again, and no dialect runs a command.
//
// The error is a *[ResolveError]. If the only obstacle is an input without a value, it is a *[MissingInputError] for
// the first such input. Resolve has no state and does not change s. The result shares with s only what was not changed.
func (s Server) Resolve(v Variables) (Resolved, error) {
	r, _, err := s.resolve(v)
	return r, err
}

// Judge returns the problems and warnings of Resolve, in the order in which they are found. They have no values.
func (s Server) Judge(v Variables) []Problem {
	_, found, _ := s.resolve(v)
	return found
}

func (s Server) resolve(v Variables) (r Resolved, found []Problem, err error) {
	e := newExpander(s, v)
	out := s.clone()
	out.eachText(e.grammar.fields, func(field string, text *string) { *text = e.expand(field, *text) })
	e.namedVariables(&out)
	e.dropEmptyHeaders(&out)
	out.Dir = e.dir(out.Dir)
	// A text with a missing value is not final, so it is not checked.
	if e.firstErr == nil && e.missing == nil {
		e.envFile(&out)
		e.check(&out)
	}
	if e.firstErr != nil {
		return Resolved{}, e.found, e.firstErr
	}
	if e.missing != nil {
		return Resolved{}, e.found, e.missing
	}
	e.keepSecret(&out)
	r = Resolved{Server: out, Secrets: e.secrets.list(), FromFile: e.fromFile}
	for _, p := range e.found { // all are warnings: a fatal one would have set firstErr
		r.Warnings = append(r.Warnings, p.String())
	}
	return r, e.found, nil
}

// Shown returns the server as it is shown to a person who has to agree to its start: folders and the home directory are
// replaced by their values, and the working directory is the one that it would have. References to the environment, to
// inputs and to files stay as they are spelled.
func (s Server) Shown(v Variables) Server {
	v.Getenv, v.Input, v.ReadFile = nil, nil, nil
	e := newExpander(s, v)
	e.placesOnly = true
	out := s.clone()
	out.eachText(e.grammar.fields, func(field string, text *string) {
		if shown := e.expand(field, *text); e.firstErr == nil {
			*text = shown
		}
		e.firstErr = nil // reported when the server is to start
	})
	if e.grammar.refers == nil || !e.grammar.refers.MatchString(out.Dir) {
		out.Dir = e.dir(out.Dir)
	}
	return out
}

// InputIDs returns the inputs that the texts of the server refer to, in the order of their first use. It leaves out
// inputs that could make any text the command, because Resolve refuses them.
func (s Server) InputIDs() []string {
	if s.Origin.Dialect != DialectVSCode {
		return nil
	}
	var ids []string
	s = s.clone()
	s.eachText(vscodeGrammar.fields, func(field string, text *string) {
		for _, m := range vscodeGrammar.refers.FindAllStringSubmatch(*text, -1) {
			if id, ok := strings.CutPrefix(m[1], "input:"); ok && !slices.Contains(ids, id) &&
				!(field == "command" && s.takesAnyText(id)) {
				ids = append(ids, id)
			}
		}
	})
	return ids
}

// DecidingInputs returns those of InputIDs that determine which program runs, or which code it loads. Without their
// values, neither is known.
func (s Server) DecidingInputs() []string {
	only := Server{Origin: s.Origin, Command: s.Command, Dir: s.Dir, EnvFile: s.EnvFile, Inputs: s.Inputs,
		Env: map[string]*string{}}
	for name, value := range s.Env {
		if LoadsCode(name) {
			only.Env[name] = value
		}
	}
	return only.InputIDs()
}

// takesAnyText reports whether the file has an input that accepts any text.
func (s Server) takesAnyText(id string) bool {
	return slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.ID == id && len(in.Options) == 0 })
}

// clone returns a copy of s in which the parts that Resolve changes are copied, too.
func (s Server) clone() Server {
	s.Args = slices.Clone(s.Args)
	s.Header = maps.Clone(s.Header)
	env := maps.Clone(s.Env)
	for name, value := range env {
		if value != nil {
			own := *value
			env[name] = &own
		}
	}
	s.Env = env
	return s
}

// eachText calls visit with the texts that may have references, in a fixed order, in the fields that a grammar names.
// The path of a workload token is not among them, because Load has made it absolute.
func (s *Server) eachText(fields fieldSet, visit func(field string, text *string)) {
	one := func(field string, text *string) {
		if *text != "" {
			visit(field, text)
		}
	}
	if fields&inCommand != 0 {
		one("command", &s.Command)
		for i := range s.Args {
			one(fmt.Sprintf("args[%d]", i), &s.Args[i])
		}
	}
	if fields&inDir != 0 {
		one("cwd", &s.Dir)
	}
	if fields&inEnvFile != 0 {
		one("envFile", &s.EnvFile)
	}
	if fields&inEnv != 0 {
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			if s.Env[name] != nil {
				one("env."+name, s.Env[name])
			}
		}
	}
	if fields&inURL == 0 {
		return
	}
	one("url", &s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		text := s.Header[name]
		one("headers."+name, &text)
		s.Header[name] = text
	}
	o := &s.OAuth
	for _, f := range []struct {
		name string
		text *string
	}{
		{"clientId", &o.ClientID}, {"clientSecret", &o.ClientSecret}, {"clientMetadataUrl", &o.ClientMetadataURL},
		{"privateKeyPem", &o.PrivateKeyPEM},
		{"workloadToken", &o.WorkloadToken}, {"idp.issuer", &o.IDP.Issuer}, {"idp.tokenEndpoint", &o.IDP.TokenEndpoint},
		{"idp.clientId", &o.IDP.ClientID}, {"idp.idToken", &o.IDP.IDToken},
	} {
		one("oauth."+f.name, f.text)
	}
}

// check checks the resolved texts, as Load checks those in the file: a value may contain what a text must not.
func (e *expander) check(s *Server) {
	s.eachText(inAll, func(field string, text *string) {
		switch {
		case strings.HasPrefix(field, "headers."):
			if hasControls(*text) {
				e.fail(field, "holds control characters or line ends once its references are replaced")
			}
		case field == "url":
			if wrong := wrongURL(*text); wrong != "" {
				e.fail(field, "%s, once its references are replaced", wrong)
			}
		case strings.HasPrefix(field, "oauth."):
		case strings.ContainsRune(*text, 0):
			e.fail(field, "holds a zero byte once its references are replaced")
		}
	})
	if e.server.Command != "" && strings.TrimSpace(s.Command) == "" {
		e.fail("command", "is empty once its references are replaced")
	}
	if e.server.URL != "" && s.URL == "" {
		e.fail("url", "is empty once its references are replaced")
	}
}

// LookupEnv returns a Getenv for an environment in the form of os.Environ that comes from the system goos. Of two
// entries of one name the later one counts, as for a process.
func LookupEnv(environ []string, goos string) func(name string) (string, bool) {
	fold := func(name string) string { return name }
	if goos == "windows" {
		fold = strings.ToUpper
	}
	values := make(map[string]string, len(environ))
	for _, entry := range environ {
		// Windows has entries such as "=C:=C:\dir", whose name begins with "=".
		if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
			values[fold(entry[:i+1])] = entry[i+2:]
		}
	}
	return func(name string) (string, bool) {
		value, ok := values[fold(name)]
		return value, ok
	}
}

// References returns the variables of the hub's environment, and the files except envFile, whose values or contents
// would go into the texts of the server when it starts. Both are sorted, without duplicates. It reads neither variables
// nor files.
func (s Server) References(v Variables) (env, files []string) {
	names, paths := map[string]struct{}{}, map[string]struct{}{}
	// Resolve itself reports what it looks up, so what is shown cannot differ from what is done. Every variable has a
	// value here, because a default or an unset variable must not hide another reference.
	v.Getenv = func(name string) (string, bool) {
		names[name] = struct{}{}
		return "x", true
	}
	v.ReadFile = func(path string) ([]byte, error) {
		paths[path] = struct{}{}
		return []byte("x"), nil
	}
	v.Input = Inputs(s.StandIns(nil))
	s.EnvFile = ""
	_, _ = s.Resolve(v) // errors are reported when the server is to start
	return slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(paths))
}
