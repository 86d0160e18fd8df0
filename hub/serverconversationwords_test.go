package hub_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// report says what has followed from a step, once nothing moves.
func (s *serverStage) report() {
	synctest.Wait()
	if bad := s.hub.Inconsistent(); bad != "" {
		s.t.Errorf("inconsistent: %s", bad)
	}
	s.sayQuestions()
	s.sayServers()
	s.sayProcesses()
	s.sayMessages()
	s.sayEnds()
	for i, line := range s.out {
		s.out[i] = s.inside(line)
	}
}

// sayQuestions says which questions have closed, and which have opened for whom.
func (s *serverStage) sayQuestions() {
	number := func(id string) int {
		return 1 + slices.IndexFunc(s.asked, func(p event.PromptInfo) bool { return p.ID == id })
	}
	all := slices.Sorted(maps.Keys(s.views))
	closed, opened := map[string]string{}, map[string][]string{}
	var order, ends []string
	for _, name := range all {
		v := s.views[name]
		v.mu.Lock()
		took := v.events
		if v.events = nil; s.known["window "+name] == "" && v.start.Snapshot != nil {
			s.known["window "+name] = "told"
			for _, p := range v.start.Snapshot.Prompts {
				took = append(took, event.Event{Body: &event.PromptOpened{Prompt: p}})
			}
		}
		v.mu.Unlock()
		for _, e := range took {
			switch b := e.Body.(type) {
			case *event.PromptOpened:
				if number(b.Prompt.ID) == 0 {
					s.asked = append(s.asked, b.Prompt)
				}
				if opened[b.Prompt.ID] == nil {
					order = append(order, b.Prompt.ID)
				}
				opened[b.Prompt.ID] = append(opened[b.Prompt.ID], name)
			case *event.PromptClosed:
				if closed[b.PromptID] == "" && number(b.PromptID) > 0 {
					ends = append(ends, b.PromptID)
				}
				closed[b.PromptID] = closedWords(b)
			}
		}
	}
	byNumber := func(a, b string) int { return cmp.Compare(number(a), number(b)) }
	slices.SortFunc(ends, byNumber)
	slices.SortFunc(order, byNumber)
	for _, id := range order {
		s.say("%s asked %d: %s", are(opened[id]), number(id), questionWords(s.asked[number(id)-1]))
	}
	for _, id := range ends {
		if id != s.answered.PromptID || closed[id] != answeredWords(s.answered, s.answerer) {
			s.say("question %d ends: %s", number(id), closed[id])
		}
	}
	if id := s.answered.PromptID; id != "" && closed[id] == "" {
		s.say("question %d stays open", number(id))
	}
	s.answered = event.PromptAnswer{}
}

// answeredWords is how a question ends that a window has answered.
func answeredWords(a event.PromptAnswer, by string) string {
	c := event.PromptClosed{WindowID: by, Reason: a.Reason, Cause: map[event.Action]event.PromptCause{
		event.ActionAccept: event.CauseAnswered, event.ActionDecline: event.CauseDeclined,
		event.ActionDismiss: event.CauseDismissed}[a.Action]}
	return closedWords(&c)
}

func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, " and ") + " are"
}

func closedWords(c *event.PromptClosed) string {
	text := c.Cause.String()
	if c.WindowID != "" {
		text += " by " + c.WindowID
	} else if c.Origin.String() != text {
		text += " by " + c.Origin.String()
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

func questionWords(p event.PromptInfo) string {
	var changes []event.DefinitionChange
	text := p.Kind.String()
	switch {
	case p.Approval != nil:
		text, changes = fmt.Sprintf("call %s %s %s", p.Server, p.Approval.Tool.Name, p.Approval.Arguments), p.Approval.Changes
	case p.Launch != nil:
		if text = "launch " + p.Server; p.Launch.Changed {
			text += ", which has changed"
		}
		if p.Launch.WrittenBy != "" {
			text += ", written by " + p.Launch.WrittenBy
		}
		changes = p.Launch.Changes
	case p.Input != nil:
		text = "value of " + p.Input.InputID + ", for " + p.Server
	case p.SignIn != nil && p.SignIn.Waiting:
		text = "sign in to " + p.Server + ", in the browser now"
	case p.SignIn != nil:
		text = "sign in to " + p.Server
	}
	for _, c := range changes {
		text += fmt.Sprintf("; %s: %s -> %s", c.Path, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
	}
	return text
}

// sayQuestion says all of a question.
func (s *serverStage) sayQuestion(p event.PromptInfo) {
	switch {
	case p.Launch != nil:
		l := *p.Launch
		l.Hash = ""
		s.fields(l)
	case p.Input != nil:
		s.fields(*p.Input)
	case p.SignIn != nil:
		q := *p.SignIn
		q.URL = ""
		s.fields(q)
	case p.Approval != nil:
		s.say("Definition: %s", p.Approval.Tool.Definition)
		if p.Approval.Previous != "" {
			s.say("Previous: %s", p.Approval.Previous)
		}
	}
	if !p.Deadline.IsZero() {
		s.say("answer within %v", p.Deadline.Sub(p.Open))
	}
	for _, r := range s.hub.Requests("") {
		if r.ID == p.RequestID {
			s.say("shown as %s %s, %s", r.Method, r.Subject, r.State)
		}
	}
}

// fields says the fields of a struct that have a value.
func (s *serverStage) fields(of any) {
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
			switch f.Kind() {
			case reflect.String:
				s.say("%s: %s", v.Type().Field(i).Name, f)
			case reflect.Slice:
				if all, are := f.Interface().([]event.LaunchVariable); are {
					s.say("Env: %s", variableWords(all))
					continue
				}
				s.say("%s: %s", v.Type().Field(i).Name, strings.Trim(fmt.Sprintf("%+q", f.Interface()), "[]"))
			default:
				s.say("%s: %v", v.Type().Field(i).Name, f)
			}
		}
	}
}

func variableWords(all []event.LaunchVariable) string {
	var words []string
	for _, v := range all {
		word := v.Name + "=" + v.Value
		if v.Unset {
			word = v.Name + " (unset)"
		}
		if v.LoadsCode {
			word += " (loads code)"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

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

// sayServers says how servers have become, step by step, and what windows were not told.
func (s *serverStage) sayServers() {
	servers, _ := s.hub.Servers()
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	chains := map[string][]string{}
	for i, name := range s.told.names {
		words, before := s.told.states[i], s.known[name]
		if (before == "" || before == "gone") && words == "stopped" {
			s.known[name] = words // as a reader expects of a new one
		} else if words != before {
			chains[name] = append(chains[name], words)
			s.known[name] = words
		}
	}
	for _, name := range s.told.tools {
		s.say("%s: the tools have changed", name)
	}
	s.told.names, s.told.states, s.told.tools = nil, nil, nil
	for _, name := range slices.Sorted(maps.Keys(chains)) {
		s.say("%s: %s", name, strings.Join(chains[name], " > "))
	}
	for _, i := range servers {
		if words := s.told.signIns[i.Name]; words != s.known["sign-in "+i.Name] {
			s.known["sign-in "+i.Name] = words
			s.say("%s: %s", i.Name, cmp.Or(words, "no sign-in"))
		}
		known, is := s.known[i.Name]
		words, signIn := serverWords(i), signInWords[i.SignIn]
		if i.NextStart.IsZero() && is && words != known || is && signIn != s.told.signIns[i.Name] {
			s.say("%s: %s %s, which no window was told", i.Name, words, signIn)
		}
	}
}

// sayProcesses says what was started.
func (s *serverStage) sayProcesses() {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := slices.Clone(s.opened[s.ran:]) // servers start at the same time
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
		if line != s.known["process "+c.Name] { // not the same as before
			s.known["process "+c.Name] = line
			s.say("%s", line)
		}
	}
	s.ran = len(s.opened)
}

// sayMessages says which calls and cancels have reached servers, without the calls that have a result now.
func (s *serverStage) sayMessages() {
	answered := map[string]int{}
	for i, c := range s.calls {
		if c != nil && c.over() && c.err == nil {
			answered[s.tools[i]]++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var said []string
	for _, name := range slices.Sorted(maps.Keys(s.fakes)) {
		all := s.fakes[name].Received()
		for _, m := range all[s.heard[name]:] {
			tool := strings.Trim(string(m.Param("name")), `"`)
			switch {
			case m.Method == "notifications/cancelled":
				said = append(said, name+" gets: cancel "+string(m.Param("reason")))
			case m.Method != "tools/call":
			case answered[tool] > 0:
				answered[tool]--
			default:
				said = append(said, name+" gets: call "+tool)
			}
		}
		s.heard[name] = len(all)
	}
	slices.Sort(said) // several go out at the same time
	s.out = append(s.out, said...)
}

// sayEnds says which calls and orders have ended, and how.
func (s *serverStage) sayEnds() {
	for i, c := range s.calls {
		if c == nil || !c.over() {
			continue
		}
		s.calls[i] = nil
		text := ""
		if c.err != nil {
			text = troubleWords(event.AsError(c.err))
		} else if text = textOf(s.t, c.result); c.result.Timings.Human >= time.Second {
			text += fmt.Sprintf(", after people took %v", c.result.Timings.Human)
		}
		s.say("c%d: %s", i+1, text)
	}
	open := s.openOrders()
	for _, o := range s.orders {
		if !slices.Contains(open, o) && (o.said != "" || o.waited && o.what != "config") {
			s.say("%s: %s", o.what, cmp.Or(o.said, "done"))
		}
		o.waited = true
	}
	s.orders = open
}

func troubleWords(e *event.Error) string {
	text := string(e.Code)
	if e.Reason != text {
		text += " " + e.Reason
	}
	text += ": " + e.Message
	for _, key := range []string{"origin", "setting", "prompt_kind"} {
		if e.Meta[key] != "" {
			text += fmt.Sprintf(" [%s %s]", key, e.Meta[key])
		}
	}
	return text
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
		words = append(words, troubleWords(troubles[name]))
	}
	return cmp.Or(strings.Join(words, ", "), "nothing"), err
}

var scopeWords = map[event.ApprovalScope]string{event.ScopeOnce: "once", event.ScopeWindow: "window",
	event.ScopeWorkspace: "workspace", event.ScopeAlways: "always"}

// remembered lists what is remembered; what was agreed to at the same time has no order.
func (s *serverStage) remembered() []event.Remembered {
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

// look says what windows show of a server beside its state.
func (s *serverStage) look(name string) {
	i := s.server(name)
	line := fmt.Sprintf("%s, from line %d of %s", i.Scope, i.ConfigLine, i.ConfigFile)
	if i.State == event.ServerReady {
		line += fmt.Sprintf(", %v, %v", i.Transport, i.Era)
	}
	s.say("%s", line)
	if i.LastError != "" {
		s.say("last error: %s", i.LastError)
	}
	if i.LastExit != "" {
		s.say("last exit: %s", i.LastExit)
	}
	for _, o := range i.Shadows {
		s.say("takes the place of %s:%d", o.File, o.Line)
	}
	for _, o := range i.Waiting {
		s.say("%s:%d waits", o.File, o.Line)
	}
	if s.web != nil {
		at := s.web.sites[name]
		s.say("%d messages have reached it, its page was visited %d times", len(at.Received()), at.visited("/authorize"))
	}
	for _, r := range s.hub.Requests(name) {
		if strings.HasPrefix(r.ID, "c") {
			s.say("%s is %s", r.ID, r.State)
		}
	}
}
