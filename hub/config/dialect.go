package config

import (
	"maps"
	"regexp"
	"slices"
)

// dialect describes the entries of one application. Everything in which applications differ is in this struct, and each
// application has one value of it.
type dialect struct {
	name  string // one of the Dialect constants
	title string // what people call the application
	// keys are all keys of an entry that have a meaning, except those of the hub itself.
	keys keys
	// words maps keys of other applications to the key that has this meaning here. A key that resembles one of keys is
	// found without words.
	words map[string]string
	// urls are the keys that hold an address, in the order of precedence, with the transport of a server that has no type.
	urls []urlKey
	// types maps the words for "type" to transports; nil means transportOf.
	types map[string]string
	// typed says whether the application itself requires a type: for every entry, or for those with a URL.
	typed typed
	// reference matches a reference to a variable. If it is nil, nothing is expanded, and text that looks like a reference
	// is reported.
	reference *regexp.Regexp
	// forms are the usual forms of references, for messages. It is "" if the grammar matches everything that looks like a
	// reference.
	forms string
	// look is called with each text in which the application expands something. It may be nil.
	look func(r *entryReader, key string, at int, text string)
	// merges says that the application merges its files, so that an entry may be a part of an entry in another file.
	merges bool
	// rearrange converts the keys of an entry to the form of keys, or sets skipped. It is nil if no conversion is needed.
	rearrange func(*entryReader, []key) []key
	// check is called for the whole entry at the end. It may be nil.
	check func(r *entryReader, given map[string]key)
}

type urlKey struct{ name, transport string }

type typed int

const (
	typeOptional typed = iota
	typeWithURL
	typeAlways
)

// dialects has the dialects by name.
var dialects = map[string]*dialect{
	DialectVSCode: &dialectVSCode, DialectPortable: &dialectPortable, DialectRoo: &dialectRoo, DialectCline: &dialectCline,
	DialectDesktop: &dialectDesktop,
	DialectCursor:  &dialectCursor, DialectGemini: &dialectGemini, DialectCodex: &dialectCodex,
	DialectOpencode: &dialectOpencode, DialectCrush: &dialectCrush,
	DialectMcpServers: &dialectMcpServers,
}

// key is one key of an entry on its way into the normal form.
type key struct {
	member
	path string // as in the file, below the server's name: "transport.command"
}

// keys maps the name of a key to what it means.
type keys map[string]meaning

// meaning says which servers a key is for, and how its value is put into the normal form.
type meaning struct {
	servers servers
	read    func(*entryReader, key)
}

type servers int

const (
	anyServer servers = iota
	withCommand
	withURL
)

func each(read func(*entryReader, key)) meaning  { return meaning{anyServer, read} }
func local(read func(*entryReader, key)) meaning { return meaning{withCommand, read} }
func web(read func(*entryReader, key)) meaning   { return meaning{withURL, read} }

// quiet is for a key that the hub knows but does not use, and that nobody misses, such as the source of an entry.
var quiet = each(func(*entryReader, key) {})

// missing is for a key that asks for something that the hub does not do. why completes the message.
func missing(why string) meaning {
	return each(func(r *entryReader, k key) { r.warn(k.at, k.path, "is ignored: %s", why) })
}

// timeoutless is for the key "timeout" of an application that has no such key.
var timeoutless = missing(`its unit depends on the application; use "timeouts", for example {"total": "90s"}`)

// with returns the keys of both. more takes precedence.
func (ks keys) with(more keys) keys {
	out := maps.Clone(ks)
	maps.Copy(out, more)
	return out
}

// usual has the keys that nearly every application has.
var usual = keys{
	"type":    each(readElsewhere),
	"command": local((*entryReader).command),
	"args":    local((*entryReader).args),
	"env":     local((*entryReader).env),
	"cwd":     local((*entryReader).cwd),
	"url":     web((*entryReader).url),
	"headers": web((*entryReader).headers),
}

// readElsewhere does nothing: (*entryReader).transport has read the key before all others.
func readElsewhere(*entryReader, key) {}

// own has the hub's own keys. They work in every dialect, are read after the keys of the dialect, and override them.
// "disabled" and "enabled" are among them: a server that somebody has switched off must not run only because the
// application uses another word for it.
var own = keys{
	"disabled":        each((*entryReader).disabled),
	"enabled":         each((*entryReader).enabled),
	"approvals":       each((*entryReader).approvals),
	"timeouts":        each((*entryReader).timeouts),
	"stop":            local((*entryReader).stop),
	"era":             each((*entryReader).era),
	"maxMessageBytes": each((*entryReader).maxMessageBytes),
	"start":           each((*entryReader).start),
	"idleStop":        each((*entryReader).idleStop),
	"memory":          missing("memory is not limited any more; limit the program that command starts"),
	"inheritEnv":      local((*entryReader).inheritEnv),
}

// The forms of references, as far as a reader must know them: an address with a reference in it can be checked only in
// part.
var (
	braced      = regexp.MustCompile(`\$\{[^}]*\}`)
	bracedNames = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}`)
	shellNames  = regexp.MustCompile(`\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\})`)
	curly       = regexp.MustCompile(`\{(?:env|file):[^}]*\}`)
)

// dialectMcpServers is a file or a text of which nothing more is known than that it has "mcpServers", such as a text
// that a host passes to the hub. The keys of all applications are accepted if they are unambiguous. A timeout is
// ambiguous, and so is a reference to a variable.
var dialectMcpServers = dialect{
	name: DialectMcpServers, title: "a file of no known application",
	keys: usual.with(keys{
		"oauth":         web((*entryReader).oauth),
		"envFile":       local((*entryReader).envFile),
		"alwaysAllow":   each((*entryReader).allowed),
		"autoApprove":   each((*entryReader).allowed),
		"tools":         each((*entryReader).toolsOnly),
		"disabledTools": each((*entryReader).toolsHidden),
		"watchPaths":    local((*entryReader).watch),
		"dev":           each((*entryReader).dev),
		"timeout":       timeoutless,
		"isActive":      each((*entryReader).enabled),
		"transport":     each(readElsewhere),
		"transportType": each(readElsewhere),
		"source":        quiet, "settings": quiet, // Zed's
		"gallery": quiet, "version": quiet, "deferTools": quiet, "metadata": quiet,
		"sandboxEnabled": local((*entryReader).sandboxEnabled),
		"sandbox":        noSandbox, "network": noSandbox, "filesystem": noSandbox,
	}),
	words:     map[string]string{"serverUrl": "url", "httpUrl": "url"},
	urls:      []urlKey{{"url", TransportAuto}},
	rearrange: looseForms,
}

// looseForms moves the keys of an object "transport" into the entry, and those of an object "command", which Zed once
// used. An entry that Zed has from an extension is skipped: the hub cannot start such a server.
func looseForms(r *entryReader, ks []key) []key {
	ks = flatten(r, ks)
	at := func(name string) int { return slices.IndexFunc(ks, func(k key) bool { return k.name == name }) }
	i := at("command")
	if i < 0 {
		r.skipped = at("settings") >= 0 && at("url") < 0
		return ks
	}
	members, isObject := ks[i].value.object()
	if !isObject {
		return ks
	}
	inner := make([]key, 0, len(members))
	for _, m := range r.distinct(members, r.server, "command") {
		k := key{m, path("command", m.name)}
		if k.name == "path" {
			k.name = "command"
		}
		if !m.value.isNull() {
			inner = append(inner, k)
		}
	}
	return slices.Concat(ks[:i], inner, ks[i+1:])
}
