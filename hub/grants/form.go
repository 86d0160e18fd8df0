package grants

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Form is what a person agrees to before a server is started: everything that decides what runs or where requests go,
// and with which values. It holds no value that may be secret. Its Grant is the consent to it.
type Form struct {
	Grant
	Question event.LaunchQuestion
}

// formField is one part of a launch. A value that may be secret is replaced by its sum. The sum depends on the place of
// the value: equal values in two places have different sums.
type formField struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"` // JSON text
	Sum  string `json:"sum,omitempty"`

	shown string // JSON text of the value behind Sum, if a person may see it; it is shown and not kept
}

// formWriter collects fields in their order.
type formWriter struct {
	file, server string
	key          []byte
	fields       []formField
}

func (w *formWriter) text(path string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		return // cannot happen: only strings, numbers and lists of strings
	}
	w.fields = append(w.fields, formField{Path: path, Text: string(text)})
}

// given adds a value that is not empty.
func (w *formWriter) given(path, value string) {
	if value != "" {
		w.text(path, value)
	}
}

func (w *formWriter) hidden(path, value string) {
	if value != "" {
		w.fields = append(w.fields, formField{Path: path, Sum: keyedSum(w.key, "value", w.file, w.server, path, value)})
	}
}

// values adds several values as one field.
func (w *formWriter) values(path string, values map[string]string) {
	texts := []string{"values", w.file, w.server, path}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts = append(texts, name, values[name])
	}
	w.fields = append(w.fields, formField{Path: path, Sum: keyedSum(w.key, texts...)})
}

// formVersion is written into each form. A consent to a form of another version is not valid, and no difference from it
// is shown: the first version did not include the program, the values, and the content of an envFile.
const formVersion = 2

// Form returns the form of a server as it is shown to a person. The hash covers the form and every value behind it, as
// it is spelled in the file. Form takes time that depends on the entry, which a stranger may have written, and may read
// the file of the key.
func (s *Store) Form(conf config.Server, v config.Variables, seen Sight) Form {
	show := conf.Shown(v)
	env, files := conf.References(v)
	q := event.LaunchQuestion{
		Command: show.Command, Args: show.Args, Dir: show.Dir, EnvNames: slices.Sorted(maps.Keys(conf.Env)), EnvRefs: env,
		InputRefs: conf.InputIDs(), EnvFile: show.EnvFile, URL: show.URL,
		HeaderNames: slices.Sorted(maps.Keys(conf.Header)), Files: files, ConfigFile: conf.Origin.File,
		ConfigLine: conf.Origin.Line, WrittenBy: conf.Origin.Writer.Name, WrittenIn: conf.Origin.Writer.Window,
	}
	if f := show.OAuth.WorkloadTokenFile; f != "" {
		q.Files = append(q.Files, f)
	}
	for pattern, policy := range conf.Approvals {
		if policy == config.Allow {
			q.AllowedTools = append(q.AllowedTools, pattern)
		}
	}
	slices.Sort(q.AllowedTools)
	q.ProgramFrom, q.Inherited = seen.from, seen.inherited
	q.Program, q.Unresolved, q.EnvFileNames = seen.Program.Path, seen.unknown, slices.Sorted(maps.Keys(seen.fromFile))
	if seen.Program.Target != seen.Program.Path {
		q.ProgramTarget = seen.Program.Target
	}
	for _, name := range q.EnvNames {
		value := event.LaunchVariable{Name: name, Unset: conf.Env[name] == nil, LoadsCode: config.LoadsCode(name)}
		if text := show.Env[name]; text != nil {
			value.Value = *text
		}
		q.Env = append(q.Env, value)
	}
	for name := range conf.EnvRefs { // variables of a process, or headers for a URL
		if conf.URL == "" {
			q.EnvNames = append(q.EnvNames, name)
		} else {
			q.HeaderNames = append(q.HeaderNames, name)
		}
	}
	if conf.BearerEnv != "" {
		q.HeaderNames = append(q.HeaderNames, "Authorization")
	}
	slices.Sort(q.EnvNames)
	slices.Sort(q.HeaderNames)

	w := &formWriter{file: conf.Origin.File, server: conf.Name, key: s.formKey.get()}
	w.text("form", formVersion)
	w.command(conf, show, seen)
	w.remote(conf, show)
	for _, pattern := range slices.Sorted(maps.Keys(conf.Approvals)) {
		w.text("approvals."+pattern, string(conf.Approvals[pattern]))
	}
	if conf.Tools.Only != nil {
		w.text("tools.only", conf.Tools.Only)
	}
	if conf.Tools.Hidden != nil {
		w.text("tools.hidden", conf.Tools.Hidden)
	}
	over := []string{"mcphub consent 2", conf.Origin.File, conf.Name, conf.Origin.Folder, conf.LaunchKey(),
		strings.Join(env, "\n"), strings.Join(q.Files, "\n")}
	for _, f := range w.fields {
		over = append(over, f.Path, f.Text, f.Sum)
	}
	q.Hash = statefile.Sum(over...)
	return Form{Question: q, Grant: Grant{Key: LaunchKey(conf.Name, conf.Origin.File, q.Hash), fields: w.fields}}
}

func (w *formWriter) command(conf, show config.Server, seen Sight) {
	w.given("command", show.Command)
	// What is executed is the path, but the program is the file that the path leads to. If the program was found by the
	// user's own PATH, the path may differ for each shell (fnm) although the file is the same.
	w.given("program", seen.Program.Target)
	if seen.own {
		w.given("programPath", seen.Program.Path)
	}
	for i, arg := range show.Args {
		w.text(fmt.Sprintf("args[%d]", i), arg)
	}
	w.given("directory", show.Dir)
	for _, name := range slices.Sorted(maps.Keys(conf.Env)) {
		if value := conf.Env[name]; value == nil {
			w.text("env."+name, nil)
		} else {
			w.hidden("env."+name, "="+*value) // "=" so that an empty value is a value, too
			if text, err := json.Marshal(*show.Env[name]); err == nil {
				w.fields[len(w.fields)-1].shown = string(text)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen.loading)) {
		w.hidden("value of env."+name, "="+seen.loading[name])
	}
	w.given("envFile", show.EnvFile)
	if show.EnvFile != "" {
		w.values("content of envFile", seen.fromFile)
	}
	w.given("era", conf.Era)
	if conf.MaxMessageBytes != 0 {
		w.text("maxMessageBytes", conf.MaxMessageBytes)
	}
	w.given("folder", conf.Origin.Folder)
}

func (w *formWriter) remote(conf, show config.Server) {
	w.given("transport", conf.Transport)
	if show.URL != "" {
		address, query, _ := strings.Cut(show.URL, "?") // a URL that has tokens has them in its query
		if u, err := url.Parse(show.URL); err == nil && u.User != nil {
			address = "" // Load refuses such a URL; if one comes here all the same, it is not stored
			query = show.URL
		}
		w.given("url", address)
		w.hidden("url.query", query)
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Header)) {
		w.hidden("headers."+name, "="+conf.Header[name])
	}
	o := show.OAuth
	for _, f := range [][2]string{
		{"clientId", o.ClientID}, {"clientMetadataUrl", o.ClientMetadataURL}, {"scopes", strings.Join(o.Scopes, " ")},
		{"grant", o.Grant},
		{"signingAlgorithm", o.SigningAlgorithm}, {"idp.issuer", o.IDP.Issuer}, {"idp.tokenEndpoint", o.IDP.TokenEndpoint},
		{"idp.clientId", o.IDP.ClientID},
		{"workloadTokenFile", o.WorkloadTokenFile}, {"dpop", o.DPoP},
	} {
		w.given("oauth."+f[0], f[1])
	}
	if o.RedirectPort != 0 {
		w.given("oauth.redirectPort", strconv.Itoa(o.RedirectPort))
	}
	o = conf.OAuth
	for _, f := range [][2]string{
		{"clientSecret", o.ClientSecret}, {"privateKeyPem", o.PrivateKeyPEM}, {"idp.idToken", o.IDP.IDToken},
		{"workloadToken", o.WorkloadToken},
	} {
		w.hidden("oauth."+f[0], f[1])
	}
}

// The texts that stand for values that are not shown.
const (
	aValue       = `"(a value)"`
	anotherValue = `"(another value)"`
)

// changesOf returns the differences between two forms, in the order of the later form. Removed fields come last.
func changesOf(before, after []formField) (changes []event.DefinitionChange) {
	was := map[string]formField{}
	for _, f := range before {
		was[f.Path] = f
	}
	shownAs := func(f formField, hidden string) string {
		if f.Sum != "" {
			return hidden
		}
		return f.Text
	}
	for _, f := range after {
		old, there := was[f.Path]
		delete(was, f.Path)
		if there && old.Text == f.Text && old.Sum == f.Sum {
			continue
		}
		c := event.DefinitionChange{Path: f.Path, After: shownAs(f, aValue)}
		if there {
			c.Before = shownAs(old, aValue)
			if c.Before == c.After {
				c.After = anotherValue
			}
		}
		if f.shown != "" {
			c.After = f.shown
		}
		changes = append(changes, c)
	}
	for _, f := range before {
		if _, gone := was[f.Path]; gone {
			changes = append(changes, event.DefinitionChange{Path: f.Path, Before: shownAs(f, aValue)})
		}
	}
	return changes
}

// formKey is a secret of the user. The values that a form does not show are part of it as sums with this key. With a
// plain hash, somebody who reads the form could find a value such as a short password by trying. All hubs of the user
// share the key; without a folder it lives as long as the hub.
type formKey struct {
	file *statefile.File

	mu  sync.Mutex // guards key
	key []byte     // nil until it was read or made
}

// keyBytes is the length of the key.
const keyBytes = 32

// keyText is the content of the file.
type keyText struct {
	Version int    `json:"version"`
	Key     string `json:"key"` // hex
}

func openFormKey(dir string, log *slog.Logger) *formKey {
	check := func(text []byte) error {
		if keyIn(text) == nil {
			return errors.New("it holds no key of the form that this hub writes")
		}
		return nil
	}
	o := statefile.Options{Logger: log, Version: 1, Check: check}
	return &formKey{file: statefile.Open(dir, "consent-key.json", o)}
}

func keyIn(text []byte) []byte {
	var k keyText
	if json.Unmarshal(text, &k) != nil || k.Version != 1 {
		return nil
	}
	key, err := hex.DecodeString(k.Key)
	if err != nil || len(key) != keyBytes {
		return nil
	}
	return key
}

// get returns the key, and makes one if no hub has made it. It may read and write a file.
func (k *formKey) get() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key
	}
	if text, err := k.file.Read(); err == nil {
		k.key = keyIn(text)
	}
	if k.key != nil {
		return k.key
	}
	fresh := make([]byte, keyBytes)
	rand.Read(fresh) // never fails
	text, err := json.Marshal(keyText{Version: 1, Key: hex.EncodeToString(fresh)})
	if err != nil {
		panic(err) // cannot happen: a number and a string marshal
	}
	// If several hubs start at once, one of them writes the key, and the others find it when they hold the lock. If the
	// disk does not take the key, it is valid in this hub only.
	_ = k.file.Update(func(old []byte) ([]byte, error) {
		if keyIn(old) != nil {
			return nil, nil
		}
		return append(text, '\n'), nil
	})
	if text, err := k.file.Read(); err == nil {
		k.key = keyIn(text)
	}
	if k.key == nil {
		k.key = fresh
	}
	return k.key
}

// keyedSum is like statefile.Sum, with a key.
func keyedSum(key []byte, texts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
