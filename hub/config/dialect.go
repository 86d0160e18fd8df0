package config

import "regexp"

// dialect is what one application says about an entry: everything that differs from the others is in this struct, and
// each application has a file of its own with one value of it.
type dialect struct {
	name  string // one of the Dialect constants
	title string // what people call the application
	// keys are all keys of an entry that have a meaning, besides those of the hub itself.
	keys keys
	// words are keys of other applications, and what they are called here. A key that looks like one of keys is told
	// without it.
	words map[string]string
	// urls are the keys that hold an address, the one that counts first, and what a server without a type is then.
	urls []urlKey
	// types are the words for "type"; nil means transportOf.
	types map[string]string
	// typed: the application itself insists on a type, for every entry or for those with a URL.
	typed typed
	// reference is what a reference to a variable looks like. nil: nothing is expanded, and what looks like one is told.
	reference *regexp.Regexp
	// forms are the usual references, for messages; "": none is left as it is without a word.
	forms string
	// look is shown each text in which the application expands something; nil: there is nothing to see.
	look func(r *entryReader, key string, at int, text string)
	// merges: the application merges its files, so that an entry may be a part of one.
	merges bool
	// rearrange puts the keys of an entry into the form that keys has, or sets skipped; nil: they have it.
	rearrange func(*entryReader, []key) []key
	// check looks at the whole entry at the end; nil: there is no more to say.
	check func(r *entryReader, given map[string]key)
}

type urlKey struct{ name, transport string }

type typed int

const (
	typeOptional typed = iota
	typeWithURL
	typeAlways
)

// dialects by their names.
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
	path string // as it is spelled below the server's name: "transport.command"
}

// keys maps the name of a key to what it means.
type keys map[string]meaning

// meaning says for which servers a key is, and puts what it says into the normal form.
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

// quiet is a key that the hub knows and has no use for, and that nobody misses: where an entry came from, say.
var quiet = each(func(*entryReader, key) {})

// missing is a key that asks for something that the hub does not do; why is the rest of the sentence.
func missing(why string) meaning {
	return each(func(r *entryReader, k key) { r.warn(k.at, k.path, "is ignored: %s", why) })
}

// timeoutless is the key "timeout" where the application has none.
var timeoutless = missing(`its unit depends on the application; use "timeouts", for example {"total": "90s"}`)

// with returns both; what is in more counts.
func (ks keys) with(more keys) keys {
	out := make(keys, len(ks)+len(more))
	for _, m := range []keys{ks, more} {
		for name, meaning := range m {
			out[name] = meaning
		}
	}
	return out
}

// usual are the keys that nearly every application has.
var usual = keys{
	"type":    each(readElsewhere),
	"command": local((*entryReader).command),
	"args":    local((*entryReader).args),
	"env":     local((*entryReader).env),
	"cwd":     local((*entryReader).cwd),
	"url":     web((*entryReader).url),
	"headers": web((*entryReader).headers),
}

// readElsewhere: transport has read it before all other keys.
func readElsewhere(*entryReader, key) {}

// own are the hub's own keys. They work in every dialect, are read after the dialect's and win over them. "disabled"
// and "enabled" are among them because a server that somebody has switched off must not run for the reason that the
// application has another word for it.
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
	"memory":          local((*entryReader).memory),
	"inheritEnv":      local((*entryReader).inheritEnv),
}

// The grammars of references, as far as a reader must know them: an address with one in it can be checked in part only.
var (
	braced      = regexp.MustCompile(`\$\{[^}]*\}`)
	bracedNames = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}`)
	shellNames  = regexp.MustCompile(`\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\})`)
	curly       = regexp.MustCompile(`\{(?:env|file):[^}]*\}`)
)
