package hub_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

var consentWords = map[event.LaunchConsent]string{event.LaunchNeeded: "not agreed to", event.LaunchAsking: "asked about",
	event.LaunchGiven: "agreed to", event.LaunchDeclined: "declined"}

var signInWords = map[event.SignInState]string{event.SignInNeeded: "signed out", event.SignInAsking: "signing in",
	event.SignInSignedIn: "signed in"}

func serverWords(i event.ServerInfo) string {
	words := []string{i.State.String()}
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	add(consentWords[i.LaunchConsent])
	if i.Failures > 0 {
		add(fmt.Sprint(i.Failures, " failures"))
	}
	if !i.NextStart.IsZero() {
		add(fmt.Sprintf("next start in %v", time.Until(i.NextStart)))
	}
	if len(i.Shadows)+len(i.Waiting) > 0 {
		add("of " + i.Scope)
	}
	for _, w := range i.Waiting {
		add("that of " + w.Scope + " waits")
	}
	return strings.Join(words, ", ")
}

// witness is a window that notes how servers are, and what it was told of their sign-ins last: these change at the same
// time, in any order.
type witness struct {
	mu                   sync.Mutex // guards below
	names, states, tools []string
	signIns              map[string]string

	known map[string]string // what was said of servers and processes last
	ran   int               // processes of which it was said
}

func (w *witness) Deliver(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch c := e.Body.(type) {
	case *event.ServerChanged:
		words := serverWords(c.Server)
		if c.Removed {
			words = "gone"
		}
		w.names, w.states = append(w.names, c.Server.Name), append(w.states, words)
		w.signIns[c.Server.Name] = signInWords[c.Server.SignIn]
	case *event.ToolsChanged:
		w.tools = append(w.tools, c.Server)
	}
}

func (w *witness) Closed(*event.Error) {}

// serversTold is how servers have become, step by step, what windows were not told, and what was started.
func (s *stage) serversTold() (lines []string) {
	w := s.told
	servers, _ := s.hub.Servers()
	w.mu.Lock()
	defer w.mu.Unlock()
	chains := map[string][]string{}
	for i, name := range w.names {
		words, before := w.states[i], w.known[name]
		if (before == "" || before == "gone") && words == "stopped" {
			w.known[name] = words // as a reader expects of a new one
		} else if words != before {
			chains[name] = append(chains[name], words)
			w.known[name] = words
		}
	}
	for _, name := range w.tools {
		lines = append(lines, name+" has other tools")
	}
	w.names, w.states, w.tools = nil, nil, nil
	for _, name := range slices.Sorted(maps.Keys(chains)) {
		lines = append(lines, name+" is "+strings.Join(chains[name], " > "))
	}
	for _, i := range servers {
		if words := w.signIns[i.Name]; words != w.known["sign-in "+i.Name] {
			w.known["sign-in "+i.Name] = words
			lines = append(lines, i.Name+" is "+cmp.Or(words, "without sign-in"))
		}
		known, is := w.known[i.Name]
		words, signIn := serverWords(i), signInWords[i.SignIn]
		if i.NextStart.IsZero() && is && words != known || is && signIn != w.signIns[i.Name] {
			lines = append(lines, fmt.Sprintf("%s is %s %s, which no window was told", i.Name, words, signIn))
		}
	}
	return append(lines, s.started()...)
}

// started is what was started, if it is not what ran before.
func (s *stage) started() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := slices.Clone(s.opened[s.told.ran:]) // servers start at the same time
	slices.SortStableFunc(news, func(a, b config.Server) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range news {
		line := c.Name + " runs: " + cmp.Or(c.Program, c.Command)
		for _, arg := range c.Args {
			if strings.ContainsAny(arg, " \"") {
				arg = fmt.Sprintf("%q", arg)
			}
			line += " " + arg
		}
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			if value := c.Env[name]; value != nil {
				line += fmt.Sprintf(" %s=%s", name, *value)
			}
		}
		if line != s.told.known["process "+c.Name] {
			s.told.known["process "+c.Name] = line
			lines = append(lines, line)
		}
	}
	s.told.ran = len(s.opened)
	return lines
}

func toolWords(tools []event.ToolInfo, troubles map[string]*event.Error, err error) (string, error) {
	var words []string
	for _, t := range tools {
		word := fmt.Sprintf("%s (%s)", t.Name, t.Policy)
		if t.Cached {
			word = t.Name + " (kept)"
		}
		words = append(words, word)
	}
	for _, name := range slices.Sorted(maps.Keys(troubles)) {
		words = append(words, errorWords(troubles[name]))
	}
	return cmp.Or(strings.Join(words, ", "), "nothing"), err
}

var scopeWords = map[event.ApprovalScope]string{event.ScopeOnce: "once", event.ScopeWindow: "window",
	event.ScopeWorkspace: "workspace", event.ScopeAlways: "always"}

// restWords is what a server offers beside its tools.
func restWords(h *hub.Hub, server, _ string) (string, error) {
	resources, err := h.Resources(forGood, server)
	templates, err2 := h.ResourceTemplates(forGood, server)
	prompts, err3 := h.McpPrompts(forGood, server)
	var words []string
	for _, list := range []any{resources, templates, prompts} {
		text, err := json.Marshal(list)
		if err != nil {
			return "", err
		}
		words = append(words, string(text))
	}
	return strings.Join(words, " "), errors.Join(err, err2, err3)
}

// remembered lists what is remembered; what was agreed to at the same time has no order.
func (s *stage) remembered() []event.Remembered {
	list := s.hub.Remembered("")
	slices.SortStableFunc(list, func(a, b event.Remembered) int {
		return cmp.Compare(rememberedWords(a), rememberedWords(b))
	})
	return list
}

func rememberedWords(r event.Remembered) string {
	text := map[event.RememberedKind]string{event.RememberedApproval: "call", event.RememberedLaunch: "launch",
		event.RememberedInput: "value of"}[r.Kind]
	for _, word := range []string{r.Server, r.Tool, r.InputID, scopeWords[r.Scope], r.WindowID} {
		if word != "" {
			text += " " + word
		}
	}
	if len(r.Folders) > 0 {
		text += " " + strings.Join(r.Folders, " ")
	}
	return text
}

// state says what windows show of a server.
func (s *stage) state(name string) {
	i := s.server(name)
	say := func(format string, a ...any) { s.say(name+": "+format, a...) }
	text := i.State.String()
	if i.Transport != 0 {
		text += ", " + i.Transport.String()
	}
	if i.State == event.ServerReady {
		text += ", " + i.Era.String()
	}
	s.mu.Lock()
	opened := slices.DeleteFunc(slices.Clone(s.opened), func(c config.Server) bool { return c.Name != name })
	s.mu.Unlock()
	if len(opened) > 0 {
		text += fmt.Sprintf(", opened %d times", len(opened))
	}
	if i.Muted {
		text += ", muted"
	}
	if i.URL != "" {
		text += ", at " + i.URL
	}
	if i.Counters != (event.Counters{}) {
		text += fmt.Sprintf(", %+v", i.Counters)
	}
	say("%s", text)
	if s.files == nil {
		return
	}
	say("%s, from line %d of %s", i.Scope, i.ConfigLine, i.ConfigFile)
	if i.LastError != "" {
		say("last error: %s", i.LastError)
	}
	if i.LastExit != "" {
		say("last exit: %s", i.LastExit)
	}
	for _, o := range i.Shadows {
		say("takes the place of %s:%d", o.File, o.Line)
	}
	for _, o := range i.Waiting {
		say("%s:%d waits", o.File, o.Line)
	}
	if s.web != nil {
		at := s.web.sites[name]
		say("%d messages have reached it, its page was visited %d times", len(at.Received()), at.visited("/authorize"))
	}
	for _, id := range s.callIDs {
		for _, r := range s.hub.Requests(name) {
			if r.ID == id {
				say("%s is %s", r.ID, r.State)
			}
		}
	}
}

// traceOf is the timeline of a request. What follows a cancel may come in either order, as one goroutine sends it and
// another one tells of it. The sizes of messages are those that the servers have seen.
func (s *stage) traceOf(id string) []string {
	lines := s.timeline(id)
	if at := slices.Index(lines, "cancelling"); at > 0 {
		slices.Sort(lines[at:])
	}
	if strings.HasPrefix(id, "start-") { // which does not wait until its last notification is written
		slices.Sort(lines)
	}
	r := s.hub.Traces(event.TraceFilter{RequestID: id})[0].Request
	s.sizes(id, s.actors[r.Server].Server)
	return lines
}
