package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/sources"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/script"
)

// A conversation is what files say, people do and callers want, each with what follows: what people are asked, how
// servers become, what runs (if it is not what ran before), what reaches the servers, and what callers get. What is as
// a reader expects is left out: that an answer ends its question, that an order at once does what it says, and that a
// call with a result has reached its server. These are the steps:
//
//	user TEXT, folder TEXT, lib TEXT  write a config file (of the user; of the folders /repos/site and /repos/lib) and
//	host TEXT, trusted TEXT, plain TEXT  read all again; of the host; of /repos/site, trusted by the host, or without a
//	    scope. TEXT is the file, or "NAME {entry}" for a file of one server, or "gone"
//	disk TEXT  write the file of the user to the disk, where programs can change it
//	program adds S {ENTRY}, program changes S {PATCH}, program removes S, program undoes [N]  a program has the hub write
//	write FILE TEXT, link FILE TARGET  make a program, or another file, below /repos/site
//	environment NAME=VALUE...  the environment of the next hub; comes first, as does
//	site NAME  a server at http://NAME.test that wants a sign-in
//	window W [KIND...] [in FOLDER...]  a window comes, which shows these questions (all if none is named); of kind
//	    program it is the program's own
//	W leaves, W opens [FOLDER...], W shows [KIND...], W browses
//	W: yes [SCOPE], W: no [REASON], W: dismiss, W: "VALUE", W: kept "VALUE"  an answer to the newest question, or with
//	    "to N" to question N; a kept value is kept by the host; "seen" says that the person saw the whole launch
//	call S TOOL [{ARGUMENTS}] [preapproved] [total D] [idle D]  a call: the first is c1, and so on
//	cancel C [REASON], cancel C of S, cancel S [REASON]  cancel a call, or all of a server
//	start S, stop S [REASON], restart S [REASON], on S, off S, take S (start the folder's entry of a name), list S,
//	known S, sign-in S, sign-out S, drain [REASON]  orders
//	S crashes, S fails TEXT, S is missing, S lingers D, S works  how its process is, or is from its next start on
//	S is slow, S is modern  before it has started: its start takes 5s; its era
//	S is guarded, S is open, S waits, S goes on  a site wants a sign-in or not; it is slow to tell where to sign in
//	S has TOOL [DESCRIPTION], S has {DEFINITION}  it has a tool, or another definition of one, and tells so
//	advance D  time passes
//	look S, question N  what windows show of a server, and of a question
//	remembered, forget N  what is remembered, and to forget what is in line N of that
//	next hub  the hub ends, and another one begins with the same files
//
// Each server has the tools echo (answers "hello"), hang (works until it is cancelled), crash, and die (crashes when it
// is cancelled).
func TestServerConversations(t *testing.T) {
	script.Converse(t, "testdata/*.txtar", func(t *testing.T, text string) func(string) []string {
		if runtime.GOOS == "windows" && madeFile.MatchString(text) { // programs are scripts and links there
			return nil
		}
		state := ""
		if strings.Contains(text, "\nnext hub\n") || strings.Contains(text, "\nprogram ") {
			state = t.TempDir()
		}
		return newServerStage(t, state).play
	})
}

var madeFile = regexp.MustCompile(`(?m)^(write|link) `)

// newServerStage returns a serverStage whose hub keeps its files in state. All ends with the test.
func newServerStage(t *testing.T, state string) *serverStage {
	t.Helper()
	s := &serverStage{t: t, dir: t.TempDir(), state: state, files: map[string]hub.ConfigSource{},
		views: map[string]*view{}, fakes: map[string]*fakeserver.Server{}, known: map[string]string{},
		heard:   map[string]int{},
		environ: []string{"HOME=/config", "PATH=/usr/bin:/bin"}}
	var err error
	if s.dir, err = filepath.EvalSymlinks(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// serverStage is a hub and all that is around it.
type serverStage struct {
	t       *testing.T
	dir     string // /repos/site is its folder site, and so on
	state   string // folder of what outlives a hub
	environ []string
	*world
	web *webWorld // nil if there is no site

	files  map[string]hub.ConfigSource
	views  map[string]*view
	fakes  map[string]*fakeserver.Server
	told   *witness
	calls  []*pendingCall // nil when it was told that it ended
	orders []*order
	asked  []event.PromptInfo // in order: the first is question 1
	out    []string
	tools  []string // of the calls

	undos []string // ids of the writes of a program

	answered event.PromptAnswer // in this step
	answerer string

	known map[string]string // how a server was told to be last
	heard map[string]int    // messages of a server that were told
	ran   int               // processes that were told
	wrong []string          // problems of the config that were told
}

// order is something that may take its time.
type order struct {
	what   string
	done   chan struct{}
	said   string
	waited bool // beyond its step
}

func (s *serverStage) say(format string, a ...any) { s.out = append(s.out, fmt.Sprintf(format, a...)) }

func (s *serverStage) play(step string) []string {
	s.out = nil
	step = s.outside(step)
	words := strings.Fields(step)
	rest := func(n int) string { return after(step, n) }
	switch verb := words[0]; verb {
	case "environment":
		for _, word := range words[1:] {
			name, _, _ := strings.Cut(word, "=")
			s.environ = slices.DeleteFunc(s.environ, func(one string) bool { return strings.HasPrefix(one, name+"=") })
		}
		s.environ = append(s.environ, words[1:]...)
		return nil
	case "write", "link":
		s.file(verb, words[1], rest(2))
		return nil
	case "site":
		s.fakes[words[1]] = hanging()
		s.web = newWebWorld(s.t, fakeserver.HTTPOptions{}, s.fakes)
		s.world = s.web.world
		for _, at := range s.web.sites {
			at.guarded = true
		}
		s.witnesses()
		return nil
	default:
		if s.world == nil {
			s.begin()
		}
		switch {
		case sourceScopes[verb] != "":
			s.write(verb, rest(1))
		case strings.HasSuffix(verb, ":"):
			s.answer(strings.TrimSuffix(verb, ":"), rest(1))
		case s.views[verb] != nil:
			s.act(verb, words[1], words[2:])
		case steps[verb] != nil:
			steps[verb](s, words, rest)
		default:
			s.behave(verb, words[1], rest(2))
		}
	}
	s.report()
	return s.out
}

// file makes a file below /repos/site.
func (s *serverStage) file(how, name, text string) {
	path := filepath.Join(s.dir, "repos/site", name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if how == "link" {
		_ = os.Remove(path)
		err = errors.Join(err, os.Symlink(filepath.Join(s.dir, "repos/site", text), path))
	} else {
		err = errors.Join(err, os.WriteFile(path, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o700))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// after returns what follows the first n words.
func after(step string, n int) string {
	for range n {
		_, step, _ = strings.Cut(step, " ")
		step = strings.TrimSpace(step)
	}
	return step
}

var steps = map[string]func(s *serverStage, words []string, rest func(int) string){
	"window": func(s *serverStage, words []string, _ func(int) string) {
		hello := hub.Hello{WindowID: words[1], SamplingTools: true}
		if words = words[2:]; len(words) > 0 && words[0] == "program" {
			words, hello.ActsFor = words[1:], someProgram.Name
		}
		hello.Kinds, hello.Roots = s.shown(words)
		s.views[hello.WindowID] = s.attach(hello)
	},
	"call": func(s *serverStage, words []string, _ func(int) string) { s.call(words[1:]) },
	"cancel": func(s *serverStage, words []string, rest func(int) string) {
		if !strings.HasPrefix(words[1], "c") { // all of a server
			s.hub.CancelRequests(hub.CancelScope{Server: words[1]}, rest(2), event.OriginUser)
			return
		}
		server := ""
		if len(words) > 3 && words[2] == "of" {
			server = words[3]
		}
		out, err := s.hub.CancelRequest(words[1], server, rest(2), event.OriginUser)
		if s.must(err); out == event.OutcomeUnknown {
			s.say("no such call")
		}
	},
	"start": ordered(func(h *hub.Hub, server, _ string) error { return second(h.StartServer(forGood, server)) }),
	"stop":  ordered(func(h *hub.Hub, server, why string) error { return second(h.StopServer(forGood, server, why)) }),
	"restart": ordered(func(h *hub.Hub, server, why string) error {
		return second(h.RestartServer(forGood, server, why))
	}),
	"on": ordered(func(h *hub.Hub, server, _ string) error { return second(h.SetServerEnabled(forGood, server, true)) }),
	"off": ordered(func(h *hub.Hub, server, _ string) error {
		return second(h.SetServerEnabled(forGood, server, false))
	}),
	"take": ordered(func(h *hub.Hub, server, _ string) error {
		return second(h.StartWorkspaceEntry(forGood, server))
	}),
	"sign-in":  ordered(func(h *hub.Hub, server, _ string) error { return second(h.SignIn(forGood, server)) }),
	"sign-out": ordered(func(h *hub.Hub, server, _ string) error { return second(h.SignOut(forGood, server)) }),
	"list": func(s *serverStage, words []string, _ func(int) string) {
		s.order("list "+words[1], func() (string, error) { return toolWords(s.hub.Tools(forGood, words[1])) })
	},
	"known": func(s *serverStage, words []string, _ func(int) string) {
		s.order("known "+words[1], func() (string, error) { return toolWords(s.hub.KnownTools(forGood, words[1])) })
	},
	"drain":   func(s *serverStage, _ []string, rest func(int) string) { s.hub.Drain(forGood, rest(1)) },
	"advance": func(s *serverStage, words []string, _ func(int) string) { pass(s.duration(words[1])) },
	"look":    func(s *serverStage, words []string, _ func(int) string) { s.look(words[1]) },
	"question": func(s *serverStage, words []string, _ func(int) string) {
		s.sayQuestion(s.asked[s.number(words[1])-1])
	},
	"remembered": func(s *serverStage, _ []string, _ func(int) string) {
		for i, r := range s.remembered() {
			s.say("%d. %s", i+1, rememberedWords(r))
		}
	},
	"forget": func(s *serverStage, words []string, _ func(int) string) {
		s.say("%d forgotten", s.hub.Forget([]string{s.remembered()[s.number(words[1])-1].ID}))
	},
	"disk": func(s *serverStage, _ []string, rest func(int) string) {
		path := filepath.Join(s.dir, "config", "mcp.json")
		s.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(rest(1)), 0o600)))
		s.files["user"] = hub.ConfigSource{Path: path, Scope: "user"}
		s.load()
	},
	"program": func(s *serverStage, words []string, rest func(int) string) { s.program(words[1], rest(2)) },
	"next": func(s *serverStage, _ []string, _ func(int) string) { // next hub
		s.close()
		s.begin()
		s.load()
	},
}

// forGood is the context of orders that nobody takes back.
var forGood = context.Background()

func second[T any](_ T, err error) error { return err }

// ordered is the step of an order about a server.
func ordered(do func(h *hub.Hub, server, why string) error) func(*serverStage, []string, func(int) string) {
	return func(s *serverStage, words []string, rest func(int) string) {
		s.order(words[0]+" "+words[1], func() (string, error) { return "", do(s.hub, words[1], rest(2)) })
	}
}

func (s *serverStage) order(what string, do func() (string, error)) {
	o := &order{what: what, done: make(chan struct{})}
	s.orders = append(s.orders, o)
	go func() {
		defer close(o.done)
		said, err := do()
		if err != nil {
			said = troubleWords(event.AsError(err))
		}
		o.said = said
	}()
}

func (s *serverStage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.say("error: %s", troubleWords(event.AsError(err)))
	}
}

func (s *serverStage) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		s.t.Fatalf("%q is no number", word)
	}
	return n
}

func (s *serverStage) duration(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// begin begins a hub.
func (s *serverStage) begin() {
	s.world = newWorldWith(s.t, hub.Options{StateDir: s.state, Environ: s.environ,
		Open: func(c config.Server, stderr func(string)) mcp.Opener {
			s.fake(c.Command)
			return s.open(c, stderr)
		}}, nil)
	s.world.servers = s.fakes
	s.witnesses()
}

func (s *serverStage) witnesses() {
	s.views, s.known, s.told, s.ran = map[string]*view{}, map[string]string{}, &witness{signIns: map[string]string{}}, 0
	_, _, err := s.hub.Attach(hub.Hello{WindowID: "witness"}, s.told)
	s.must(err)
}

func (s *serverStage) fake(name string) *fakeserver.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fakes[name]
	if f == nil {
		f = program()
		s.fakes[name] = f
	}
	return f
}

// program returns a server with the tools of conversations.
func program(opts ...fakeserver.Option) *fakeserver.Server {
	f := hanging(opts...)
	f.Tool("crash", func(c *fakeserver.CallContext) { c.Disconnect() })
	f.Tool("die", func(c *fakeserver.CallContext) {
		_ = c.Hang()
		c.Disconnect()
	})
	return f
}

// close ends the hub, in which nothing may be left then.
func (s *serverStage) close() {
	if s.world == nil {
		return
	}
	for i, c := range s.calls {
		if c != nil {
			_, _ = s.hub.CancelRequest(fmt.Sprint("c", i+1), "", "", event.OriginHost)
			<-c.done
		}
	}
	synctest.Wait()
	if len(s.openOrders()) == 0 {
		s.nothingLeft()
	}
	s.hub.Drain(forGood, "")
	s.nothingLeft()
	if err := s.hub.Close(forGood); err != nil {
		s.t.Error(err)
	}
	synctest.Wait()
	if len(s.openOrders()) > 0 {
		s.t.Error("an order does not end")
	}
	s.calls, s.tools, s.orders, s.world = nil, nil, nil, nil
}

func (s *serverStage) openOrders() []*order {
	return slices.DeleteFunc(slices.Clone(s.orders), func(o *order) bool {
		select {
		case <-o.done:
			return true
		default:
			return false
		}
	})
}

// sourceScopes are the config files, with their scopes.
var sourceScopes = map[string]string{"user": "user", "folder": "workspace", "lib": "workspace", "host": "host",
	"trusted": "workspace", "plain": "none"}

var sourceOrder = []string{"host", "user", "plain", "trusted", "folder", "lib"}

// write makes text the text of a config file, and has all read again.
func (s *serverStage) write(name, text string) {
	if words := strings.Fields(text); !strings.HasPrefix(text, "{") && text != "gone" {
		entry := after(text, 1)
		if !strings.Contains(entry, `"command"`) && !strings.Contains(entry, `"url"`) {
			entry = strings.TrimSuffix(`{"command":"s",`+entry[1:len(entry)-1], ",") + "}"
		}
		text = fmt.Sprintf(`{"servers":{%q:%s}}`, words[0], entry)
	}
	src := hub.ConfigSource{Path: s.outside("/config/mcp.json"), Scope: sourceScopes[name], JSON: text}
	switch name {
	case "folder", "trusted", "plain":
		src.Path, src.Folder = s.outside("/repos/site/.vscode/mcp.json"), s.outside("/repos/site")
	case "lib":
		src.Path, src.Folder = s.outside("/repos/lib/.vscode/mcp.json"), s.outside("/repos/lib")
	case "host":
		src.Path = "host.json"
	}
	if name == "plain" {
		src.Scope = ""
	}
	src.Trusted = name == "trusted"
	if s.files[name] = src; text == "gone" {
		delete(s.files, name)
	}
	s.load()
}

// program has the hub write as an extension does, and says what the file is then.
func (s *serverStage) program(verb, text string) {
	files, out := s.hub.Config(), sources.Written{}
	server, text, _ := strings.Cut(text, " ")
	to := sources.Target{Server: server, By: someProgram}
	var err error
	switch verb {
	case "adds":
		out, err = files.AddServer(forGood, to, edit.Form{JSON: text}, edit.Settings{})
	case "changes":
		out, err = files.UpdateServer(forGood, to, edit.Update{Patch: text})
	case "removes":
		out, err = files.RemoveServer(forGood, to)
	case "undoes":
		id := ""
		if server != "" {
			id = s.undos[s.number(server)-1]
		}
		out, err = files.Undo(forGood, id, someProgram)
	}
	if s.must(err); err != nil {
		return
	}
	s.undos = append(s.undos, out.UndoID)
	now, err := os.ReadFile(out.File)
	s.must(err)
	line := fmt.Sprintf("write %d: %s", len(s.undos), strings.ReplaceAll(string(now), "\n", `\n`))
	if out.MustAsk {
		line += ", which must be asked about"
	}
	s.say("%s", line)
}

func (s *serverStage) load() {
	var all []hub.ConfigSource
	for _, name := range sourceOrder {
		if src, is := s.files[name]; is {
			all = append(all, src)
		}
	}
	if all == nil {
		all = []hub.ConfigSource{{Path: "host.json", Scope: "host", JSON: `{"servers":{}}`}}
	}
	s.order("config", func() (string, error) {
		_, problems, stopped, err := s.hub.LoadConfig(forGood, all)
		var said []string
		if slices.Sort(stopped); len(stopped) > 0 {
			said = append(said, "stopped "+strings.Join(stopped, ", "))
		}
		before := s.wrong
		s.wrong = nil
		for _, p := range problems {
			if s.wrong = append(s.wrong, p.String()); !slices.Contains(before, p.String()) {
				said = append(said, p.String())
			}
		}
		return strings.Join(said, "; "), err
	})
}

var shownKinds = map[string]event.PromptKind{"approvals": event.PromptToolApproval,
	"launches": event.PromptServerLaunch, "inputs": event.PromptConfigInput, "sign-ins": event.PromptSignIn,
	"sampling": event.PromptSampling}

// shown reads the kinds of questions that a window shows, and its folders.
func (s *serverStage) shown(words []string) (kinds []event.PromptKind, folders []hub.Root) {
	i := slices.Index(words, "in")
	if i < 0 {
		i = len(words)
	} else {
		folders = s.roots(words[i+1:])
	}
	for _, word := range words[:i] {
		kinds = append(kinds, shownKinds[word])
	}
	if i == 0 {
		kinds = append([]event.PromptKind{event.PromptSignIn}, startKinds...)
	}
	return kinds, folders
}

func (s *serverStage) roots(folders []string) (list []hub.Root) {
	for _, folder := range folders {
		list = append(list, hub.Root{URI: "file://" + s.inside(folder)})
	}
	return list
}

// act is what a person does with a window.
func (s *serverStage) act(name, verb string, words []string) {
	v := s.views[name]
	switch verb {
	case "leaves":
		v.win.Detach(true)
		delete(s.views, name)
	case "opens":
		v.win.SetRoots(s.roots(words))
	case "shows":
		kinds, _ := s.shown(words)
		v.win.SetCapabilities(kinds, true, nil)
	case "browses":
		s.web.browse(s.asked[len(s.asked)-1].SignIn.URL)
		pass(time.Second) // the listener for the browser looks at times whether its page has been taken
	default:
		s.t.Fatalf("a window cannot %s", verb)
	}
}

var scopes = map[string]event.ApprovalScope{"once": event.ScopeOnce, "window": event.ScopeWindow,
	"workspace": event.ScopeWorkspace, "always": event.ScopeAlways}

// answer is what a person says to a question, or to the newest one.
func (s *serverStage) answer(name, text string) {
	n := len(s.asked)
	if before, to, is := strings.Cut(text, " to "); is {
		text, n = before, s.number(to)
	}
	a := event.PromptAnswer{PromptID: s.asked[n-1].ID, Action: event.ActionAccept}
	if before, is := strings.CutSuffix(text, " seen"); is {
		text, a.LaunchHash = before, s.asked[n-1].Launch.Hash
	}
	switch word, rest, _ := strings.Cut(text, " "); {
	case word == "yes" && rest != "":
		a.Scope = scopes[rest]
	case word == "yes":
	case word == "no":
		a.Action, a.Reason = event.ActionDecline, rest
	case word == "dismiss":
		a.Action = event.ActionDismiss
	case word == "kept":
		a.Content, a.KeptByHost = rest, true
	default:
		a.Content = text
	}
	err := s.views[name].win.Answer(a)
	if s.must(err); err == nil {
		s.answered, s.answerer = a, name
	}
}

// call calls a tool: S TOOL and how.
func (s *serverStage) call(words []string) {
	c := hub.CallRequest{ID: fmt.Sprint("c", len(s.calls)+1), Server: words[0], Tool: words[1]}
	for i := 2; i < len(words); i++ {
		switch word := words[i]; word {
		case "preapproved":
			c.Preapproved = true
		case "total", "idle":
			i++
			if d := s.duration(words[i]); word == "total" {
				c.Timeouts.Total = &d
			} else {
				c.Timeouts.Idle = &d
			}
		default:
			c.Arguments = word
		}
	}
	s.calls, s.tools = append(s.calls, s.world.call(c)), append(s.tools, c.Tool)
}

// behave makes the program or the site of a server do something, or be like that from its next start on.
func (s *serverStage) behave(name, verb, text string) {
	switch verb + " " + text {
	case "is slow":
		s.fakes[name], s.heard[name] = program(fakeserver.WithSilentProbe()), 0
		return
	case "is modern":
		s.fakes[name], s.heard[name] = program(fakeserver.WithModern()), 0
		return
	case "is missing":
		s.fall(name, &ill{err: &process.StartError{Command: name, Setting: "command", Message: "it was not found",
			Err: fs.ErrNotExist}})
		return
	}
	if s.web != nil {
		at := s.web.sites[name]
		at.set(func() {
			switch verb {
			case "is":
				at.guarded = text == "guarded"
			case "waits":
				at.slow = make(chan struct{})
			case "goes":
				close(at.slow)
			}
		})
		return
	}
	f := s.fake(name)
	switch verb {
	case "crashes":
		f.Disconnect()
	case "fails":
		s.fall(name, &ill{err: errors.New(text)})
	case "lingers":
		s.fall(name, &ill{slow: s.duration(text)})
	case "works":
		s.fall(name, nil)
	case "has":
		tool, description, _ := strings.Cut(text, " ")
		definition := fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, tool, description)
		if strings.HasPrefix(text, "{") {
			definition = text
		}
		f.ToolWith(definition, func(c *fakeserver.CallContext) { c.Text("done") })
		_ = f.NotifyToolsChanged() // fails if it is not connected
	default:
		s.t.Fatalf("there is no step %q", name+" "+verb)
	}
}

// outside makes the folders of a conversation those of the machine.
func (s *serverStage) outside(text string) string {
	root := filepath.ToSlash(s.dir)
	for _, folder := range []string{"/repos/site", "/repos/lib", "/config/"} {
		text = strings.ReplaceAll(text, folder, root+folder)
	}
	if s.web != nil {
		for name, at := range s.web.sites {
			text = strings.ReplaceAll(text, name+".test", at.host)
		}
	}
	return text
}

var (
	onThisMachine = regexp.MustCompile(`[\\/]+(repos|config)[^ "':;,]*`)
	promptID      = regexp.MustCompile(`prompt-[a-z0-9]+-[0-9]+`)
)

// inside is the way back.
func (s *serverStage) inside(text string) string {
	for _, dir := range []string{s.dir, filepath.ToSlash(s.dir), strings.ReplaceAll(s.dir, `\`, `\\`)} {
		text = strings.ReplaceAll(text, dir, "")
	}
	text = onThisMachine.ReplaceAllStringFunc(text, func(path string) string { // on Windows
		return strings.ReplaceAll(strings.ReplaceAll(path, `\\`, "/"), `\`, "/")
	})
	text = promptID.ReplaceAllStringFunc(text, func(id string) string {
		return fmt.Sprint(1 + slices.IndexFunc(s.asked, func(p event.PromptInfo) bool { return p.ID == id }))
	})
	if s.web != nil {
		for name, at := range s.web.sites {
			text = strings.ReplaceAll(text, at.host, name+".test")
		}
	}
	return text
}
