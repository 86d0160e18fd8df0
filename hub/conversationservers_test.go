package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// actor is a server that does what the conversation says. Its tools are do, which is answered when a step says so,
// echo, crash, and die (it crashes when it is cancelled). The steps of server s:
//
//	s answers r1 "text", fails r1 -32000 "text", progresses r1 1 5 "text", wants r1 form sampling, requires r1,
//	  asks q1 form, withdraws q1 "why" (=r1: with the wire id of r1), sends METHOD PARAMS, begins-task r1,
//	  tasks T-1 completed "text", tasks T-1 asks|forgotten
//	s disconnects, exits, reads no|again, is down|up, lingers 1s (before it has ended), cannot-start why, is missing,
//	  works (again)
//	s has TOOL DESCRIPTION, has {DEFINITION}    it has a tool, or another definition of one, and tells so
//	s lets-go                          what it holds: initialize (server s holds=initialize), or another method
//	s is guarded|open, waits, goes-on (it is slow to tell where to sign in), forgets-session: of a server behind a URL
//	s changes tools|resources|prompts  what it offers (server s offers): file:///a, and what "hang", "none", "ask" name
//	s http "POST tasks/get" 0 503      what it answers to the nth of such requests, 0 to all; or silent, broken, cut
type actor struct {
	*fakeserver.Server
	name    string
	tasks   *taskServer // it carries out "work" as a task
	offer   *offer      // it has resources and prompt templates
	guarded bool        // it is behind a URL and wants a sign-in
	heard   int
	conn    int
	resume  func()

	declared *string       // the capabilities that it was told last; nil: they are not shown
	holds    chan struct{} // closed when it may go on

	mu        sync.Mutex                         // guards below
	calls     map[string]*fakeserver.CallContext // the latest round of each call
	returns   map[string]chan struct{}
	questions map[string]*fakeserver.OutRequest
	ids       map[string]string // what has a wire id
}

// actor returns the server of that name. Where programs come from config files, it comes into being when it is used.
func (s *stage) actor(name string) *actor {
	s.amu.Lock()
	a := s.actors[name]
	s.amu.Unlock()
	if a == nil {
		if s.files == nil {
			s.t.Errorf("nobody is called %s", name)
		}
		s.addServer(name, nil)
		s.amu.Lock()
		defer s.amu.Unlock()
		a = s.actors[name]
	}
	return a
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

// addServer adds a server, or puts another one in the place of one that has not been started.
func (s *stage) addServer(name string, words []string) {
	a := &actor{name: name, calls: map[string]*fakeserver.CallContext{}, returns: map[string]chan struct{}{},
		questions: map[string]*fakeserver.OutRequest{}, ids: map[string]string{}}
	var opts []fakeserver.Option
	modern, tasks, web, asks, offers := s.era == "modern", false, false, false, false
	var holds, refuses string
	var limits, members []string
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "modern":
			modern = true
		case "tasks":
			tasks = true
		case "offers":
			offers = true
		case "http":
			web = true
		case "guarded":
			a.guarded = true
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
	switch {
	case offers:
		a.offer = offering(opts...)
		a.Server, a.offer.modern = a.offer.Server, modern
	case tasks:
		a.tasks = newTaskServer(modern, opts...)
		a.Server = a.tasks.Server
		a.ToolWith(`{"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`, a.do)
	default:
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
	a.Tool("crash", func(c *fakeserver.CallContext) { c.Disconnect() })
	a.Tool("die", func(c *fakeserver.CallContext) {
		_ = c.Hang()
		c.Disconnect()
	})
	s.amu.Lock()
	s.actors[name] = a
	s.amu.Unlock()
	if s.files != nil {
		if s.world != nil {
			s.world.mu.Lock()
			s.world.servers[name] = a.Server
			s.world.mu.Unlock()
		}
	} else {
		if !asks {
			members = append(members, allow)
		}
		if limits != nil {
			members = append(members, `"timeouts":{`+strings.Join(limits, ",")+`}`)
		}
		s.entries = append(s.entries, strings.TrimSuffix(name+":"+strings.Join(members, ","), ":"))
	}
	if web && s.web == nil {
		s.web = &webWorld{}
	}
}

// do is the tool that does what the conversation says.
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

// callID is the hub's id of a call, which stands in the arguments of a call that has no others, or its tool.
func callID(params json.RawMessage) string {
	var call struct {
		Name      string
		Arguments struct{ ID string }
	}
	_ = json.Unmarshal(params, &call)
	if call.Arguments.ID == "" {
		return call.Name
	}
	return call.Arguments.ID
}

// act is what a server does, or how it is from then on.
func (s *stage) act(a *actor, verb string, words []string, text string) {
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
		c.Error(int64(s.number(words[1])), words[2])
	case "progresses":
		c.Progress(float64(s.number(words[1])), float64(s.number(words[2])), words[3])
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
		err = s.ask(a, words)
	case "withdraws":
		if of, is := strings.CutPrefix(words[0], "="); is {
			err = a.Notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":%q}`, a.calls[of].ID, words[1]))
			break
		}
		a.questions[words[0]].Cancel(words[1])
	case "sends":
		err = a.Notify(words[0], strings.Join(words[1:], ""))
	case "changes":
		err = a.offer.tell("notifications/"+words[0]+"/list_changed", "")
	case "has":
		tool, description, _ := strings.Cut(text, " ")
		definition := fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, tool, description)
		if strings.HasPrefix(text, "{") {
			definition = text
		}
		a.ToolWith(definition, func(c *fakeserver.CallContext) { c.Text("done") })
		_ = a.NotifyToolsChanged() // fails if it is not connected
	case "begins-task":
		c.Result(a.tasks.begin())
	case "tasks":
		switch words[1] {
		case "asks":
			a.tasks.ask(words[0])
		case "forgotten":
			a.tasks.set(words[0], "", "")
		default:
			a.tasks.set(words[0], words[1], strings.Join(words[2:], ""))
		}
	case "lets-go":
		close(a.holds)
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
	case "cannot-start":
		s.fall(a.name, &ill{err: errors.New(text)})
	case "lingers":
		s.fall(a.name, &ill{slow: s.duration(words[0])})
	case "works":
		s.fall(a.name, nil)
	case "is":
		s.become(a, words[0])
	case "waits":
		s.web.sites[a.name].set(func() { s.web.sites[a.name].slow = make(chan struct{}) })
	case "goes-on":
		s.web.sites[a.name].set(func() { close(s.web.sites[a.name].slow) })
	case "forgets-session":
		s.web.sites[a.name].http.Expire()
	case "http":
		act := fakeserver.Act{Body: strings.Join(words[3:], "")}
		switch how := words[2]; how {
		case "silent":
			act.Silent = true
		case "broken":
			act.Break = true
		case "cut":
			act.SSE, act.CutBytes = true, 3
		default:
			act.Status = s.number(how)
		}
		s.web.sites[a.name].http.On(words[0], s.number(words[1]), act)
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

// ask has a server ask a question: NAME KIND [CALL (over HTTP: on the stream of this call)].
func (s *stage) ask(a *actor, words []string) (err error) {
	method, params := question(words[1])
	of, is := strings.CutPrefix(words[0], "=")
	switch {
	case is:
		a.questions[words[0]], err = a.RequestWithID(string(a.calls[of].ID), method, params)
	case s.web != nil && len(words) > 2:
		a.questions[words[0]] = a.calls[words[2]].Request(method, params)
	default:
		a.questions[words[0]], err = a.RequestWithID(fmt.Sprintf("%q", words[0]), method, params)
	}
	return err
}

// become says how a program or a site is from now on.
func (s *stage) become(a *actor, how string) {
	switch how {
	case "missing":
		s.fall(a.name, &ill{err: &process.StartError{Command: a.name, Setting: "command", Message: "it was not found",
			Err: fs.ErrNotExist}})
	case "guarded", "open":
		s.web.sites[a.name].set(func() { s.web.sites[a.name].guarded = how == "guarded" })
	default:
		s.down(a.name, map[bool]*fakeserver.Server{true: a.Server}[how == "up"])
	}
}
