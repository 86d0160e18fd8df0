package edit

import (
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Entry is how a server is reached, in no dialect. Its texts are written as they are, so what looks like a variable is
// one if the dialect of the file has it.
type Entry struct {
	Command string
	Args    []string
	Env     map[string]*string // nil takes a variable away
	Dir     string

	URL       string
	Transport string // of a URL: "" (both are tried), config.TransportHTTP or config.TransportSSE
	Header    map[string]string
}

// launchKeys are the keys of a dialect that say how a server is reached: an Entry takes the place of all of them.
var launchKeys = []string{"type", "transport", "transportType", "command", "args", "env", "environment", "cwd", "url",
	"serverUrl", "httpUrl", "headers", "http_headers"}

// replace returns an entry of a dialect in which e takes the place of what says how the server is reached. What e has
// no word for stays.
func (e *Entry) replace(old object, dialect string) (object, *Refusal) {
	o, r := e.write(dialect)
	if r != nil {
		return nil, r
	}
	for _, key := range launchKeys {
		if o.index(key) < 0 {
			old = old.without(key)
		}
	}
	for _, m := range o {
		was, _ := old.get(m.name)
		old = old.with(replaced(was, m.value), m.name)
	}
	return old, nil
}

// write gives the members of an entry in a dialect.
func (e *Entry) write(dialect string) (object, *Refusal) {
	switch {
	case e.Command == "" && e.URL == "":
		return nil, refuse(Wrong, 0, "command", "is missing: a server has a command or a URL")
	case e.Command != "" && e.URL != "":
		return nil, refuse(Wrong, 0, "url", "does not belong to a server with a command; give one of them")
	case e.URL != "" && (len(e.Args) > 0 || len(e.Env) > 0 || e.Dir != ""):
		return nil, refuse(Wrong, 0, "args", "arguments, environment and directory are for servers with a command only")
	case e.Command != "" && (len(e.Header) > 0 || e.Transport != ""):
		return nil, refuse(Wrong, 0, "headers", "headers and transport are for servers with a URL only")
	case e.URL != "":
		return e.writeURL(dialect)
	}
	return e.writeCommand(dialect)
}

func (e *Entry) writeCommand(dialect string) (object, *Refusal) {
	var o object
	switch dialect {
	case config.DialectOpencode:
		o = object{{"type", "local"}, {"command", texts(append([]string{e.Command}, e.Args...))}}
	case config.DialectVSCode, config.DialectCrush:
		o = object{{"type", "stdio"}, {"command", e.Command}}
	default:
		o = object{{"command", e.Command}}
	}
	if len(e.Args) > 0 && dialect != config.DialectOpencode {
		o = append(o, member{"args", texts(e.Args)})
	}
	if len(e.Env) > 0 {
		var env object
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			value := e.Env[name]
			switch {
			case value != nil:
				env = append(env, member{name, *value})
			case dialect == config.DialectCodex:
				return nil, refuse(Wrong, 0, "env", "TOML has no null, so a variable cannot be taken away in this file")
			default:
				env = append(env, member{name, nil})
			}
		}
		key := "env"
		if dialect == config.DialectOpencode {
			key = "environment"
		}
		o = append(o, member{key, env})
	}
	if e.Dir != "" {
		o = append(o, member{"cwd", e.Dir})
	}
	return o, nil
}

// typesOfURL are the words of each dialect for Streamable HTTP, SSE, and an address of which neither is said; "": no
// word is written.
var typesOfURL = map[string][3]string{
	config.DialectVSCode:   {"http", "sse", "http"}, // which falls back to SSE there
	config.DialectPortable: {"http", "sse", ""},
	config.DialectRoo:      {"streamable-http", "sse", "streamable-http"}, // it insists on one
	config.DialectCline:    {"streamableHttp", "sse", "streamableHttp"},   // an address without a type is SSE there
	config.DialectCursor:   {"http", "sse", ""},
	config.DialectGemini:   {"", "sse", ""},
	config.DialectOpencode: {"remote", "remote", "remote"}, // both are tried
	config.DialectCrush:    {"http", "sse", "http"},
	// what a file of no known application says is read by the hub alone
	config.DialectMcpServers: {"http", "sse", ""},
}

func (e *Entry) writeURL(dialect string) (object, *Refusal) {
	var o object
	word := typesOfURL[dialect]
	key, headers := "url", "headers"
	switch dialect {
	case config.DialectDesktop:
		return nil, refuse(Wrong, 0, "url",
			"Claude Desktop has no servers with a URL in this file; name another file for it")
	case config.DialectCodex:
		if e.Transport == config.TransportSSE {
			return nil, refuse(Wrong, 0, "url", "Codex knows no servers over SSE; name another file for it")
		}
		headers = "http_headers"
	case config.DialectGemini:
		if e.Transport == config.TransportHTTP {
			key = "httpUrl"
		}
	}
	said := word[2]
	switch e.Transport {
	case "", config.TransportAuto:
	case config.TransportHTTP:
		said = word[0]
	case config.TransportSSE:
		said = word[1]
	default:
		return nil, refuse(Wrong, 0, "type", "must be http or sse")
	}
	if said != "" {
		o = append(o, member{"type", said})
	}
	o = append(o, member{key, e.URL})
	if len(e.Header) > 0 {
		var header object
		for _, name := range slices.Sorted(maps.Keys(e.Header)) {
			header = append(header, member{name, e.Header[name]})
		}
		o = append(o, member{headers, header})
	}
	return o, nil
}
