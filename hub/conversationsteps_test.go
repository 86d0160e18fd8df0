package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// step does one step of a scene:
//
//	hub return=3m                      how long windows may take to come back
//	server s modern tasks http ask idle=10s approvals={...}
//	window w form url no-tools extension-x={} back history=5 folder=file:///a
//	call r1 do server=s owner=w label=x of=client app-of=r0 idle=3s preapproved prefers-task
//	read r1 file:///a                  with the same
//	after 10s
//	history r1, trace r1, state s      what is kept of a request that is over, and shown of a server
//	host cancels r1 "why", cancels all|server=s|label=x,
//	  cancels-at s r1 "why", gives-up r1, stops s, starts s, drains "why", loads, closes
//	w cancels r1 "why", accepts prompt-1 {"name":"Ada"}, declines prompt-1, dismisses prompt-1,
//	  mutes prompt-1, unmutes s, shows form, opens file:///a, calls r1 do, stops s "why", restarts s "why",
//	  switches-off s, breaks (it may come back), closes; old-w is its attachment of before
//	s answers r1 "text", fails r1 -32000 "text", progresses r1 1 5 "text", wants r1 form sampling, requires r1,
//	  asks q1 form, withdraws q1 "why" (=r1: with the wire id of r1), sends METHOD PARAMS, disconnects, exits,
//	  reads no|again, is down|up, tasks T-1 completed "text", tasks T-1 asks|forgotten, begins-task r1
//	s lets-go                          what it holds: initialize (server s holds=initialize), or another method
//	s forgets-session                  over HTTP
//	s http "POST tasks/get" 0 503      what it answers to the nth of such requests, 0 to all; or silent, broken, cut
func (s *stage) step(words []string) {
	who, more := words[0], words[1:]
	switch who {
	case "hub":
		s.options.WindowReturn = s.duration(strings.TrimPrefix(more[0], "return="))
		return
	case "server":
		s.addServer(more[0], more[1:])
		return
	}
	s.begin()
	switch who {
	case "window":
		s.addWindow(more[0], more[1:])
	case "call":
		ctx, stop := context.WithCancelCause(context.Background())
		s.stops[more[0]] = stop
		s.began(more[0], s.callContext(ctx, s.callOf(more[0], more[1], more[2:])))
	case "read":
		c := s.callOf(more[0], "", more[2:])
		c.URI = more[1]
		s.began(more[0], s.world.read(c))
	case "after":
		faketime.Pass(s.duration(more[0]))
	case "state":
		i := s.server(more[0])
		text := fmt.Sprintf("%s, %s, opened %d times", i.State, i.Transport, s.starts(more[0]))
		if i.Muted {
			text += ", muted"
		}
		if i.URL != "" {
			text += ", at " + i.URL
		}
		if i.Counters != (event.Counters{}) {
			text += fmt.Sprintf(", %+v", i.Counters)
		}
		s.reply = append(s.reply, more[0]+": "+text)
	case "trace":
		s.reply = append(s.reply, s.traceOf(s.own(more[0]))...)
	case "history":
		for _, e := range s.history(1000) {
			if of, text := s.tell(event.Event{Body: e.Body}); of == s.own(more[0]) {
				s.reply = append(s.reply, "kept: "+text)
			}
		}
	case "host":
		s.host(more[0], more[1:])
	default:
		if a := s.actors[who]; a != nil {
			s.act(a, more[0], more[1:])
		} else if v := s.views[who]; v != nil {
			s.click(who, v, more[0], more[1:])
		} else {
			s.t.Fatalf("nobody is called %s", who)
		}
	}
}

func (s *stage) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// question returns the method and the params of a kind of question.
func question(kind string) (method, params string) {
	if kind == "sampling-with-tools" {
		return sampling, strings.TrimSuffix(sampleParams, "}") + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	}
	for _, way := range ways {
		if way.name == kind {
			return way.method, way.params
		}
	}
	return kind, "{}"
}

func (s *stage) addServer(name string, words []string) {
	a := &actor{name: name, calls: map[string]*fakeserver.CallContext{}, returns: map[string]chan struct{}{},
		questions: map[string]*fakeserver.OutRequest{}, ids: map[string]string{}}
	var opts []fakeserver.Option
	modern, tasks, web, asks := s.era == "modern", false, false, false
	var holds, refuses string
	var limits, members []string
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "modern":
			modern = true
		case "tasks":
			tasks = true
		case "http":
			web = true
		case "ask":
			asks = true
		case "slow": // it is 5 s until the hub takes it for a legacy one
			opts = append(opts, fakeserver.WithSilentProbe())
		case "era":
			members = append(members, fmt.Sprintf("%q:%q", name, value))
		case "views": // with tools for models, for views, and for both
			opts = append(opts, fakeserver.WithCapabilities(`{"tools":{},"resources":{}}`))
		case "both-eras":
			opts = append(opts, fakeserver.WithBothEras())
		case "revision":
			opts = append(opts, fakeserver.WithRevision(value))
		case "declared": // show what it is told of the client's capabilities
			a.declared = new(string)
		case "holds":
			holds = value
		case "refuses":
			refuses = value
		case "capabilities":
			opts = append(opts, fakeserver.WithCapabilities(value))
		case "idle", "total", "human", "connect":
			limits = append(limits, fmt.Sprintf("%q:%q", name, value))
		default:
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
	}
	if modern && !tasks {
		opts = append(opts, fakeserver.WithModern())
	}
	if tasks {
		a.tasks = newTaskServer(modern, opts...)
		a.Server = a.tasks.Server
		a.ToolWith(`{"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`, a.do)
	} else {
		a.Server = fakeserver.New(opts...)
	}
	a.holds = make(chan struct{})
	if holds != "" {
		answer := func(c *fakeserver.CallContext) { c.Result(`{}`) }
		if holds == "tasks/cancel" {
			answer = a.tasks.cancel
		}
		a.Handle(holds, func(c *fakeserver.CallContext) {
			select {
			case <-a.holds:
				answer(c)
			case <-c.Context().Done():
			}
		})
	}
	if refuses != "" {
		a.Handle(refuses, func(c *fakeserver.CallContext) { c.Error(-32602, "no such task") })
	}
	if slices.Contains(words, "views") {
		for tool, of := range map[string]string{"refresh": `["app"]`, "secret": `["model"]`, "both": `["app","model"]`} {
			a.ToolWith(`{"name":"`+tool+`","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://v",`+
				`"visibility":`+of+`}}}`, func(c *fakeserver.CallContext) { c.Text(tool) })
		}
		a.Handle("resources/read", func(c *fakeserver.CallContext) { c.Result(`{"contents":[]}`) })
	}
	a.Tool("do", a.do)
	a.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	s.actors[name] = a
	if !asks {
		members = append(members, allow)
	}
	if limits != nil {
		members = append(members, `"timeouts":{`+strings.Join(limits, ",")+`}`)
	}
	s.entries = append(s.entries, strings.TrimSuffix(name+":"+strings.Join(members, ","), ":"))
	if web && s.web == nil {
		s.web = &webWorld{}
	}
}

// do is the tool that does what the scene says.
func (a *actor) do(c *fakeserver.CallContext) {
	id, returns := callID(c.Params), make(chan struct{})
	a.mu.Lock()
	a.calls[id], a.returns[id] = c, returns
	a.mu.Unlock()
	select {
	case <-returns:
	case <-c.Context().Done():
	}
}

func (s *stage) begin() {
	if s.world != nil {
		return
	}
	fakes := map[string]*fakeserver.Server{}
	for name, a := range s.actors {
		fakes[name] = a.Server
	}
	if s.web != nil {
		s.web = newWebWorld(s.t, fakeserver.HTTPOptions{}, fakes, s.entries...)
		s.world = s.web.world
	} else {
		s.world = newWorldWith(s.t, s.options, fakes, s.entries...)
	}
}

func kindsOf(words []string) (kinds []event.PromptKind) {
	named := map[string]event.PromptKind{"approval": event.PromptToolApproval, "sampling": event.PromptSampling,
		"form": event.PromptElicitationForm, "url": event.PromptElicitationURL}
	for _, w := range words {
		if kind := named[w]; kind != 0 {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil && !slices.Contains(words, "nothing") {
		return allKinds
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
			fmt.Sscan(value, &hello.MaxHistory)
		case "folder":
			hello.Roots = append(hello.Roots, hub.Root{URI: value})
		}
	}
	v, err := s.tryAttach(hello)
	if err != nil {
		s.reply = append(s.reply, name+": "+errorWords(err))
		return
	}
	if before := s.views[name]; before != nil {
		s.views["old-"+name] = before
	}
	s.views[name] = &spectator{view: v}
	for _, r := range v.start.Snapshot.Requests {
		if !strings.HasPrefix(r.ID, "start-") {
			s.reply = append(s.reply, strings.TrimSpace(fmt.Sprintf("%s: sees %s %s %s", name, r.ID, r.State, r.TaskLabel)))
		}
	}
	for _, p := range v.start.Snapshot.Prompts {
		s.of[p.ID] = p.RequestID
		s.reply = append(s.reply, name+": sees "+promptWords(&p))
	}
	for _, e := range v.start.Snapshot.History {
		if _, text := s.tell(event.Event{Body: e.Body}); text != "" {
			s.reply = append(s.reply, name+": sees "+text)
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

func (s *stage) callOf(id, tool string, words []string) hub.CallRequest {
	c := hub.CallRequest{ID: s.own(id), Tool: tool, Arguments: fmt.Sprintf(`{"id":%q}`, id)}
	if len(s.actors) == 1 {
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
		case "of-deaf": // which cannot be asked
			c.Caller = cannotBeAsked{client(value)}
		case "preapproved":
			c.Preapproved = true
		case "prefers-task":
			c.PreferTask = true
		default:
			s.t.Fatalf("a call has no %s", w)
		}
	}
	return c
}

// began takes note of a call.
func (s *stage) began(id string, c *pendingCall) {
	if s.calls[id] == nil {
		s.order = append(s.order, id)
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
	s.reply = append(s.reply, who+": "+outcome)
}

func (s *stage) host(verb string, words []string) {
	ctx, why := context.Background(), strings.Join(words[max(0, len(words)-1):], "")
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
			s.cancels("host", words[0], why, func(id, why string) (event.Outcome, error) {
				return s.hub.CancelRequest(id, "", why, event.OriginHost)
			})
			return
		}
		ids := s.hub.CancelRequests(scope, why, event.OriginHost)
		s.reply = append(s.reply, "host: cancelled are "+strings.Join(ids, " "))
	case "cancels-at":
		s.cancels("host", words[1], why, func(id, why string) (event.Outcome, error) {
			return s.hub.CancelRequest(id, words[0], why, event.OriginHost)
		})
	case "gives-up":
		s.stops[words[0]](nil)
	case "stops":
		_, err = s.hub.StopServer(ctx, words[0], why)
	case "starts":
		_, err = s.hub.StartServer(ctx, words[0])
	case "loads": // entries: s, or s:"disabled":true
		sources := []hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: `{"mcpServers":{}}`}}
		if words != nil {
			sources[0].JSON = s.config(words...)
		}
		_, _, _, err = s.hub.LoadConfig(ctx, sources)
	case "closes":
		err = s.hub.Close(ctx)
	case "drains":
		cancelled, stopped := s.hub.Drain(ctx, why)
		s.reply = append(s.reply, fmt.Sprintf("host: %d cancelled, %d stopped, draining: %v", cancelled, stopped,
			s.hub.Draining()))
	default:
		s.t.Fatalf("a host does not %s", verb)
	}
	if err != nil {
		s.reply = append(s.reply, "host: "+errorWords(err))
	}
}

func (s *stage) click(name string, v *spectator, verb string, words []string) {
	answer := func(action event.Action) error {
		a := event.PromptAnswer{PromptID: s.own(words[0]), Action: action, MuteServer: verb == "mutes"}
		if action == event.ActionAccept {
			a.Scope = event.ScopeOnce
		}
		if len(words) > 1 {
			a.Content = words[1]
		}
		return v.win.Answer(a)
	}
	var err error
	switch verb {
	case "cancels":
		s.cancels(name, words[0], words[1], v.win.Cancel)
	case "accepts":
		err = answer(event.ActionAccept)
	case "unmutes":
		_, err = s.hub.MuteServer(words[0], false)
	case "declines", "mutes": // which is a No, and no more questions
		err = answer(event.ActionDecline)
	case "shrugs": // which is no answer
		err = answer(0)
	case "dismisses":
		err = answer(event.ActionDismiss)
	case "calls":
		c := &pendingCall{done: make(chan struct{})}
		if err = v.win.CallTool(s.callOf(words[0], words[1], words[2:]), func(r *hub.CallResult, err error) {
			c.result, c.err = r, err
			close(c.done)
		}); err == nil {
			s.began(words[0], c)
		}
	case "stops":
		_, err = v.win.StopServer(context.Background(), words[0], words[1])
	case "restarts":
		_, err = v.win.RestartServer(context.Background(), words[0], words[1])
	case "switches-off":
		_, err = v.win.SetServerEnabled(context.Background(), words[0], false)
	case "shows":
		v.win.SetCapabilities(kindsOf(words), !slices.Contains(words, "no-tools"), extensionsOf(words))
	case "opens":
		v.win.SetRoots([]hub.Root{{URI: words[0]}})
	case "breaks":
		v.win.Detach(false)
	case "closes":
		v.win.Detach(true)
	default:
		s.t.Fatalf("a window does not %s", verb)
	}
	if err != nil {
		s.reply = append(s.reply, name+": "+errorWords(err))
	}
}

func (s *stage) act(a *actor, verb string, words []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var c *fakeserver.CallContext
	if len(words) > 0 {
		c = a.calls[words[0]]
	}
	var err error
	switch verb {
	case "answers":
		c.Text(words[1])
	case "fails":
		var code int64
		fmt.Sscan(words[1], &code)
		c.Error(code, words[2])
	case "progresses":
		var done, total float64
		fmt.Sscan(words[1], &done)
		fmt.Sscan(words[2], &total)
		c.Progress(done, total, words[3])
	case "wants": // the answers to questions, in another round
		var questions []string
		for _, kind := range words[1:] {
			method, params := question(kind)
			questions = append(questions, fmt.Sprintf(`%q:{"method":%q,"params":%s}`, kind, method, params))
		}
		c.InputRequired("{"+strings.Join(questions, ",")+"}", "state")
	case "requires": // that a page was visited before
		c.ErrorData(-32042, "sign in first", `{"elicitations":[`+urlParams+`]}`)
	case "asks":
		method, params := question(words[1])
		if of, is := strings.CutPrefix(words[0], "="); is {
			a.questions[words[0]], err = a.RequestWithID(string(a.calls[of].ID), method, params)
			break
		}
		if s.web != nil && len(words) > 2 {
			a.questions[words[0]] = a.calls[words[2]].Request(method, params)
			return
		}
		a.questions[words[0]], err = a.RequestWithID(fmt.Sprintf("%q", words[0]), method, params)
	case "withdraws":
		if of, is := strings.CutPrefix(words[0], "="); is {
			err = a.Notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":%q}`, a.calls[of].ID, words[1]))
			break
		}
		a.questions[words[0]].Cancel(words[1])
	case "sends":
		err = a.Notify(words[0], strings.Join(words[1:], ""))
	case "disconnects":
		a.Disconnect()
	case "exits":
		s.procs[a.name][len(s.procs[a.name])-1].Kill()
	case "reads":
		if a.resume != nil {
			a.resume()
		}
		if a.resume = nil; words[0] == "no" {
			a.resume = a.PauseReading()
		}
	case "lets-go":
		close(a.holds)
	case "begins-task":
		c.Result(a.tasks.begin())
	case "http":
		var n, status int
		fmt.Sscan(words[1], &n)
		fmt.Sscan(words[2], &status)
		act := fakeserver.Act{Status: status, Body: strings.Join(words[3:], ""), Silent: words[2] == "silent",
			Break: words[2] == "broken"}
		if act.SSE = words[2] == "cut"; act.SSE {
			act.CutBytes = 3
		}
		s.web.sites[a.name].http.On(words[0], n, act)
	case "forgets-session":
		s.web.sites[a.name].http.Expire()
	case "is":
		s.down(a.name, map[bool]*fakeserver.Server{true: a.Server}[words[0] == "up"])
	case "tasks":
		switch words[1] {
		case "asks":
			a.tasks.ask(words[0])
		case "forgotten":
			a.tasks.set(words[0], "", "")
		default:
			a.tasks.set(words[0], words[1], strings.Join(words[2:], ""))
		}
	default:
		err = errors.New("a server does not " + verb)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if slices.Contains([]string{"answers", "fails", "wants", "requires"}, verb) && a.returns[words[0]] != nil {
		close(a.returns[words[0]])
		delete(a.returns, words[0])
	}
}
