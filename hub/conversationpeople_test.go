package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// step does a step of a host, a program, a person or a server.
func (s *stage) step(step string, words []string) {
	who, more := words[0], words[1:]
	switch who {
	case "window":
		s.addWindow(more[0], more[1:])
	case "call", "read", "get":
		s.request(who, more[0], more[1], more[2:])
	case "after":
		pass(s.duration(more[0]))
	case "state":
		s.state(more[0])
	case "trace":
		s.reply = append(s.reply, s.traceOf(s.own(more[0]))...)
	case "history":
		for _, e := range s.history(1000) {
			if of, text := s.tell(event.Event{Body: e.Body}); of == s.own(more[0]) {
				s.say("kept: %s", text)
			}
		}
	case "question":
		s.showQuestion(*s.prompt(more[0]))
	case "remembered":
		for i, r := range s.remembered() {
			s.say("%d. %s", i+1, rememberedWords(r))
		}
	case "forget":
		s.say("%d forgotten", s.hub.Forget([]string{s.remembered()[s.number(more[0])-1].ID}))
	case "next": // next hub
		s.close()
		s.begin()
		s.load()
	case "file":
		s.write(more[0], after(step, 2))
	case "program":
		s.program(more[0], after(step, 2))
	case "host", "user":
		s.host(who, more[0], more[1:])
	default:
		if v := s.views[who]; v != nil {
			s.click(who, v, more[0], more[1:], after(step, 2))
		} else {
			s.act(s.actor(who), more[0], more[1:], after(step, 2))
		}
	}
}

// request calls a tool, reads a resource or fills a prompt template.
func (s *stage) request(what, id, subject string, words []string) {
	ctx, stop := context.WithCancelCause(context.Background())
	s.stops[id] = stop
	c := s.callOf(id, "", words)
	send := s.hub.CallTool
	switch what {
	case "call":
		c.Tool = subject
	case "read":
		c.URI, send = subject, s.hub.ReadResource
	case "get":
		c.McpPrompt, send = subject, s.hub.GetMcpPrompt
		if !strings.HasPrefix(c.Arguments, `{"id":`) {
			if err := json.Unmarshal([]byte(c.Arguments), &c.PromptArguments); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.began(id, aside(func() (*hub.CallResult, error) { return send(ctx, c) }))
}

var promptKinds = map[string]event.PromptKind{"approval": event.PromptToolApproval, "sampling": event.PromptSampling,
	"form": event.PromptElicitationForm, "url": event.PromptElicitationURL, "launch": event.PromptServerLaunch,
	"input": event.PromptConfigInput, "sign-in": event.PromptSignIn}

// kindsOf returns the kinds of questions that words name, all if they name none.
func kindsOf(words []string) (kinds []event.PromptKind) {
	for _, w := range words {
		if kind := promptKinds[w]; kind != 0 {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil && !slices.Contains(words, "nothing") {
		return append([]event.PromptKind{event.PromptSignIn}, startKinds...)
	}
	return kinds
}

// extensionsOf returns the extensions that words give settings, such as extension-x={}.
func extensionsOf(words []string) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	for _, w := range words {
		if name, settings, has := strings.Cut(w, "="); has && strings.HasPrefix(name, "extension-") {
			found["example.com/"+strings.TrimPrefix(name, "extension-")] = json.RawMessage(settings)
		}
	}
	return found
}

// rootsOf returns folders as a window tells of them.
func rootsOf(folders ...string) (roots []hub.Root) {
	for _, folder := range folders {
		if strings.HasPrefix(folder, "/") {
			folder = "file://" + folder
		}
		roots = append(roots, hub.Root{URI: folder})
	}
	return roots
}

func (s *stage) addWindow(name string, words []string) {
	hello := hub.Hello{WindowID: name, Kinds: kindsOf(words), SamplingTools: !slices.Contains(words, "no-tools"),
		Extensions: extensionsOf(words)}
	for _, w := range words {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "back":
			if hello.ComesBackTo = s.hub.ID(); value != "" {
				hello.ComesBackTo = value
			}
		case "history":
			hello.MaxHistory = s.number(value)
		case "folder":
			hello.Roots = append(hello.Roots, rootsOf(value)...)
		case "program":
			hello.ActsFor = someProgram.Name
		}
	}
	v, err := s.tryAttach(hello)
	if s.trouble(name, err); err != nil {
		return
	}
	if before := s.views[name]; before != nil {
		s.views["old-"+name] = before
	}
	s.views[name] = &spectator{view: v}
	for _, r := range v.start.Snapshot.Requests {
		if s.about == "" && !strings.HasPrefix(r.ID, "start-") {
			s.say("%s", strings.TrimSpace(fmt.Sprintf("%s: sees %s %s %s", name, r.ID, r.State, r.TaskLabel)))
		}
	}
	for _, p := range v.start.Snapshot.Prompts {
		s.takeNote(p)
		s.say("%s: sees %s", name, promptWords(&p))
	}
	for _, e := range v.start.Snapshot.History {
		if _, text := s.tell(event.Event{Body: e.Body}); text != "" {
			s.say("%s: sees %s", name, text)
		}
	}
}

func (s *stage) callOf(id, tool string, words []string) hub.CallRequest {
	c := hub.CallRequest{ID: s.own(id), Server: "s", Tool: tool, Arguments: fmt.Sprintf(`{"id":%q}`, id)}
	if s.files == nil && len(s.actors) == 1 {
		for c.Server = range s.actors {
		}
	}
	limit := func(text string) *time.Duration { return ptr(s.duration(text)) }
	for _, w := range words {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "server":
			c.Server = value
		case "owner":
			c.OwnerWindowID = value
		case "label":
			c.TaskLabel = value
		case "idle":
			c.Timeouts.Idle = limit(value)
		case "total":
			c.Timeouts.Total = limit(value)
		case "human":
			c.Timeouts.Human = limit(value)
		case "app-of":
			c.AppOf = value
		case "of": // a client of the gateway
			c.Caller = client(value)
		case "of-unreachable": // which cannot be asked
			c.Caller = cannotBeAsked{client(value)}
		case "meta":
			c.Meta = value
		case "preapproved":
			c.Preapproved = true
		case "prefers-task":
			c.PreferTask = true
		default:
			if !strings.HasPrefix(w, "{") {
				s.t.Fatalf("a call has no %s", w)
			}
			c.Arguments = w
		}
	}
	return c
}

// began takes note of a call.
func (s *stage) began(id string, c *pendingCall) {
	if s.calls[id] == nil {
		s.callIDs = append(s.callIDs, id)
	}
	s.calls[id], s.said[id] = c, false
}

func (s *stage) cancels(who, id, why string, cancel func(id, why string) (event.Outcome, error)) {
	out, err := cancel(s.own(id), why)
	outcome := map[event.Outcome]string{event.OutcomeCancelling: "it is being cancelled",
		event.OutcomeAlreadyFinished: "it has finished", event.OutcomeUnknown: "it is unknown"}[out]
	if err != nil {
		outcome = errorWords(err)
	}
	s.say("%s: %s", who, outcome)
}

// host does what a host does, or what a person does through it.
func (s *stage) host(who, verb string, words []string) {
	why, origin := strings.Join(words[max(0, len(words)-1):], ""), event.OriginHost
	if who == "user" {
		origin = event.OriginUser
	}
	if order := serverOrders[verb]; order != nil {
		s.ordered(who+": "+verb+" "+words[0], func() (string, error) {
			return order(s.hub, words[0], strings.Join(words[1:], " "))
		})
		return
	}
	var err error
	switch verb {
	case "cancels":
		scope := hub.CancelScope{All: words[0] == "all"}
		switch key, value, _ := strings.Cut(words[0], "="); key {
		case "server":
			scope.Server = value
		case "label":
			scope.TaskLabel = value
		}
		if scope == (hub.CancelScope{}) {
			s.cancels(who, words[0], why, func(id, why string) (event.Outcome, error) {
				return s.hub.CancelRequest(id, "", why, origin)
			})
			return
		}
		ids := s.hub.CancelRequests(scope, why, origin)
		s.say("%s: cancelled are %s", who, strings.Join(ids, " "))
	case "cancels-at":
		s.cancels(who, words[1], why, func(id, why string) (event.Outcome, error) {
			return s.hub.CancelRequest(id, words[0], why, origin)
		})
	case "gives-up":
		s.stops[words[0]](nil)
	case "loads": // entries: s, or s:"disabled":true
		sources := []hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: `{"mcpServers":{}}`}}
		if words != nil {
			sources[0].JSON = s.config(words...)
		}
		_, _, _, err = s.hub.LoadConfig(forGood, sources)
	case "closes":
		err = s.hub.Close(forGood)
	case "drains":
		cancelled, stopped := s.hub.Drain(forGood, why)
		s.say("%s: %d cancelled, %d stopped, draining: %v", who, cancelled, stopped, s.hub.Draining())
	default:
		s.t.Fatalf("a host does not %s", verb)
	}
	s.trouble(who, err)
}

// serverOrders are the orders of a host about a server, which may take their time.
var serverOrders = map[string]func(h *hub.Hub, server, why string) (string, error){
	"starts": func(h *hub.Hub, server, _ string) (string, error) { return done(h.StartServer(forGood, server)) },
	"stops":  func(h *hub.Hub, server, why string) (string, error) { return done(h.StopServer(forGood, server, why)) },
	"restarts": func(h *hub.Hub, server, why string) (string, error) {
		return done(h.RestartServer(forGood, server, why))
	},
	"switches-on": func(h *hub.Hub, server, _ string) (string, error) {
		return done(h.SetServerEnabled(forGood, server, true))
	},
	"switches-off": func(h *hub.Hub, server, _ string) (string, error) {
		return done(h.SetServerEnabled(forGood, server, false))
	},
	"takes": func(h *hub.Hub, server, _ string) (string, error) {
		return done(h.StartWorkspaceEntry(forGood, server))
	},
	"signs-in":  func(h *hub.Hub, server, _ string) (string, error) { return done(h.SignIn(forGood, server)) },
	"signs-out": func(h *hub.Hub, server, _ string) (string, error) { return done(h.SignOut(forGood, server)) },
	"lists":     func(h *hub.Hub, server, _ string) (string, error) { return toolWords(h.Tools(forGood, server)) },
	"lists-known": func(h *hub.Hub, server, _ string) (string, error) {
		return toolWords(h.KnownTools(forGood, server))
	},
	"lists-rest": restWords,
	"completes": func(h *hub.Hub, server, what string) (string, error) {
		words := strings.Fields(what)
		c := hub.Completion{Server: server, McpPrompt: words[0], Argument: words[1]}
		if strings.Contains(words[0], "{") {
			c.McpPrompt, c.URITemplate = "", words[0]
		}
		if len(words) > 2 {
			c.Value, c.Context = words[2], map[string]string{"b": "c"}
		}
		r, err := h.Complete(forGood, c)
		if err != nil {
			return "", err
		}
		return resultWords(r), nil
	},
	"subscribes": func(h *hub.Hub, server, uri string) (string, error) {
		return "", h.SubscribeResource(forGood, server, uri)
	},
}

// forGood is the context of orders that nobody takes back.
var forGood = context.Background()

func done[T any](_ T, err error) (string, error) { return "", err }

// prompt returns a question, the newest one for "".
func (s *stage) prompt(id string) *event.PromptInfo {
	for i := len(s.asked) - 1; i >= 0; i-- {
		if p := &s.asked[i]; id == "" || p.ID == s.own(id) {
			return p
		}
	}
	return &event.PromptInfo{ID: s.own(id)} // one that was not opened
}

var approvalScopes = map[string]event.ApprovalScope{"once": event.ScopeOnce, "window": event.ScopeWindow,
	"workspace": event.ScopeWorkspace, "always": event.ScopeAlways}

// answer is what a person says to a question.
func (s *stage) answer(v *spectator, verb string, words []string, text string) error {
	id := ""
	if len(words) > 0 && promptID.MatchString(words[0]) {
		id, words, text = words[0], words[1:], after(text, 1)
	}
	p := s.prompt(id)
	a := event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept}
	switch verb {
	case "accepts":
		if p.Approval != nil {
			a.Scope = event.ScopeOnce
		}
		for _, w := range words {
			if scope := approvalScopes[w]; scope != 0 {
				a.Scope = scope
			} else if w == "seen" {
				a.LaunchHash = p.Launch.Hash
			} else {
				a.Content = w
			}
		}
	case "enters", "keeps":
		a.Content, a.KeptByHost = text, verb == "keeps"
	case "declines", "mutes": // a No, and no more questions
		a.Action, a.Reason, a.MuteServer = event.ActionDecline, strings.Join(words, " "), verb == "mutes"
	case "dismisses":
		a.Action = event.ActionDismiss
	case "shrugs": // which is no answer
		a.Action = 0
	}
	return v.win.Answer(a)
}

func (s *stage) click(name string, v *spectator, verb string, words []string, text string) {
	order := func(do func() error) {
		s.ordered(name+": "+verb+" "+words[0], func() (string, error) { return "", do() })
	}
	var err error
	switch verb {
	case "accepts", "enters", "keeps", "declines", "mutes", "dismisses", "shrugs":
		err = s.answer(v, verb, words, text)
	case "cancels": // a request, or that of a question
		id := words[0]
		if strings.HasPrefix(id, "prompt-") {
			id = s.prompt(id).RequestID
		}
		s.cancels(name, id, words[1], v.win.Cancel)
	case "unmutes":
		_, err = s.hub.MuteServer(words[0], false)
	case "calls":
		c := &pendingCall{done: make(chan struct{})}
		if err = v.win.CallTool(s.callOf(words[0], words[1], words[2:]), func(r *hub.CallResult, err error) {
			c.result, c.err = r, err
			close(c.done)
		}); err == nil {
			s.began(words[0], c)
		}
	case "stops":
		order(func() error { return second(v.win.StopServer(forGood, words[0], words[1])) })
	case "restarts":
		order(func() error { return second(v.win.RestartServer(forGood, words[0], words[1])) })
	case "switches-off":
		order(func() error { return second(v.win.SetServerEnabled(forGood, words[0], false)) })
	case "shows":
		v.win.SetCapabilities(kindsOf(words), !slices.Contains(words, "no-tools"), extensionsOf(words))
	case "opens":
		v.win.SetRoots(rootsOf(words...))
	case "browses":
		s.web.browse(s.prompt("").SignIn.URL)
		pass(time.Second) // the listener for the browser looks at times whether its page has been taken
	case "breaks":
		v.win.Detach(false)
	case "closes":
		v.win.Detach(true)
	default:
		s.t.Fatalf("a window does not %s", verb)
	}
	s.trouble(name, err)
}

func second[T any](_ T, err error) error { return err }
