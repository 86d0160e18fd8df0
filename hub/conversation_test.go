package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/script"
)

// TestConversations plays testdata/*.txt: what people, hosts and servers do, and what each of them is then told. A file
// has scenes, each with a hub of its own, which begin with what they show (lines with "#"). A line is a step; what
// follows from it is indented, and is written anew with -update. After each scene all is cancelled, and nothing may be
// left. conversationsteps_test.go has the steps.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var scenes []string
			for scene := range strings.SplitSeq(strings.TrimSpace(string(want)), "\n\n") {
				title, _, _ := strings.Cut(strings.TrimPrefix(scene, "# "), "\n")
				t.Run(title, func(t *testing.T) {
					got := converse(t, scene)
					if scenes = append(scenes, got); got != scene && !*script.Update {
						t.Errorf("%s (-want +got):\n%s", file, cmp.Diff(scene, got))
					}
				})
			}
			if *script.Update && !t.Failed() {
				if err := os.WriteFile(file, []byte(strings.Join(scenes, "\n\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// converse plays a scene, and returns it with what follows from each step. One with the step "eras" is played with
// servers of each era; what follows in one of them alone is marked with its name.
func converse(t *testing.T, scene string) string {
	var steps []string
	for line := range strings.SplitSeq(scene, "\n") {
		if !strings.HasPrefix(line, "  ") {
			steps = append(steps, line)
		}
	}
	eras := []string{""}
	if slices.Contains(steps, "eras") {
		eras = []string{"legacy", "modern"}
	}
	follows := map[string][][]string{}
	for _, era := range eras {
		bubble(t, func(t *testing.T) { follows[era] = newStage(t, era).play(steps) })
	}
	var text strings.Builder
	for i, step := range steps {
		fmt.Fprintln(&text, step)
		first, other := follows[eras[0]][i], follows[eras[len(eras)-1]][i]
		for _, line := range first {
			if slices.Contains(other, line) {
				fmt.Fprintln(&text, "  "+line)
			} else {
				fmt.Fprintf(&text, "  %s: %s\n", eras[0], line)
			}
		}
		for _, line := range other {
			if !slices.Contains(first, line) {
				fmt.Fprintf(&text, "  %s: %s\n", eras[1], line)
			}
		}
	}
	return strings.TrimSpace(text.String())
}

// stage is a hub with those who take part in a scene.
type stage struct {
	t       *testing.T
	era     string // of all servers, "" = as each says
	options hub.Options
	entries []string
	actors  map[string]*actor
	views   map[string]*spectator

	*world // from the first step that is not about the servers
	web    *webWorld
	calls  map[string]*pendingCall
	stops  map[string]context.CancelCauseFunc
	said   map[string]bool   // calls of which it was told how they ended
	order  []string          // of the calls
	of     map[string]string // the requests of prompts
	reply  []string          // what a step itself came to
}

// spectator is a window of the stage, and how much of what it was told stands in the scene.
type spectator struct {
	*view
	heard int
	ended bool
}

// actor is a server that does what the scene says: it answers a call of the tool "do" when told to.
type actor struct {
	*fakeserver.Server
	name   string
	tasks  *taskServer // it carries out "work" as a task
	heard  int
	conn   int
	resume func()

	declared *string       // the capabilities that it was told last; nil: they are not shown
	holds    chan struct{} // closed when it may go on

	mu        sync.Mutex                         // guards below
	calls     map[string]*fakeserver.CallContext // the latest round of each call
	returns   map[string]chan struct{}
	questions map[string]*fakeserver.OutRequest
	ids       map[string]string // what has a wire id
}

func newStage(t *testing.T, era string) *stage {
	return &stage{t: t, era: era, actors: map[string]*actor{}, views: map[string]*spectator{},
		calls: map[string]*pendingCall{}, stops: map[string]context.CancelCauseFunc{}, said: map[string]bool{},
		of: map[string]string{}}
}

var stepWord = regexp.MustCompile(`\w+="[^"]*"|"[^"]*"|\S+`)

// play does all steps, and returns what followed from each.
func (s *stage) play(steps []string) (follows [][]string) {
	for _, step := range steps {
		words := stepWord.FindAllString(step, -1)
		for i, w := range words {
			words[i] = strings.Trim(w, `"`)
			if name, value, has := strings.Cut(w, `="`); has && !strings.Contains(name, "{") {
				words[i] = name + "=" + strings.TrimSuffix(value, `"`)
			}
		}
		var lines []string
		if !strings.HasPrefix(step, "#") && step != "eras" {
			s.step(words)
			if s.world != nil {
				synctest.Wait()
				lines = s.told()
				if bad := s.hub.Inconsistent(); bad != "" {
					s.t.Errorf("after %q: %s", step, bad)
				}
			}
		}
		follows = append(follows, lines)
	}
	for _, a := range s.actors {
		if a.resume != nil {
			a.resume()
		}
	}
	s.hub.CancelRequests(hub.CancelScope{All: true}, "the end", event.OriginHost)
	pass(2 * time.Minute) // outcomes of cancels, and answers that wait for withdrawals
	if left := s.hub.Leftovers(); left != "" {
		s.t.Errorf("left over: %s", left)
	}
	return follows
}

// own is the id of the hub that is shown without what is different in each hub.
func (s *stage) own(id string) string {
	if before, n, is := strings.Cut(id, "-"); is && slices.Contains([]string{"ask", "prompt", "start", "call"}, before) {
		if n, err := strconv.Atoi(n); err == nil {
			return ownID(s.hub, before, n)
		}
	}
	return id
}

// told is what everybody was told since it was asked last.
func (s *stage) told() []string {
	lines := s.reply
	s.reply = nil
	for _, id := range s.order {
		if c := s.calls[id]; !s.said[id] && c.over() {
			s.said[id] = true
			lines = append(lines, "caller: "+id+" "+endOf(c))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.actors)) {
		for _, line := range s.actors[name].hears() {
			lines = append(lines, name+": "+line)
		}
	}
	texts := map[string]string{}
	for name, v := range s.views {
		texts[name] = s.seen(v)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		alike := slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(n string) bool { return texts[n] != texts[name] })
		if alike[0] == name {
			for line := range strings.Lines(texts[name]) {
				lines = append(lines, strings.Join(alike, ", ")+": "+strings.TrimSuffix(line, "\n"))
			}
		}
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "-"+strings.ToLower(s.hub.ID()[:6])+"-", "-")
	}
	return lines
}

// seen is what a window was told. What belongs to one request stays in order; which of two is told of first may depend
// on which of their goroutines runs first.
func (s *stage) seen(v *spectator) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	type line struct{ key, text string }
	var lines []line
	for _, e := range v.events[v.heard:] {
		if key, text := s.tell(e); text != "" {
			lines = append(lines, line{key, text})
		}
	}
	v.heard = len(v.events)
	slices.SortStableFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&text, l.text)
	}
	if v.closed != nil && !v.ended {
		v.ended = true
		fmt.Fprintf(&text, "ended: %s\n", v.closed.Reason)
	}
	return text.String()
}

// tell puts an event into words, and says of which request it is. Starts of sessions and states of servers are left
// out: they are shown elsewhere.
func (s *stage) tell(e event.Event) (of, text string) {
	switch b := e.Body.(type) {
	case *event.RequestStarted:
		r := b.Request
		if r.Direction == event.Incoming {
			text := fmt.Sprintf("%s begins: %s %s", r.ID, r.Method, strings.Trim(r.WireID, `"`))
			if r.ParentRequestID != "" {
				text += " of " + r.ParentRequestID
			}
			return r.ID, text
		}
		if r.Caller != "" {
			return r.ID, r.ID + " begins for " + r.Caller
		}
		return r.ID, "" // the step says it
	case *event.RequestProgressed:
		text := b.RequestID + " " + b.State.String()
		if p := b.Progress; p != nil {
			text += fmt.Sprintf(" %v", p.Progress)
			if p.Total != nil {
				text += fmt.Sprintf("/%v %s", *p.Total, p.Message)
			}
		}
		return unlessStart(b.RequestID, text+taskWords(b.Task))
	case *event.RequestCancelling:
		return b.RequestID, b.RequestID + " cancelling"
	case *event.RequestCancelled:
		text := fmt.Sprintf("%s cancelled by %s %q", b.RequestID, b.Cancellation.Origin, b.Cancellation.Reason)
		if b.Direction == event.Outgoing {
			if a := s.actors[b.Server]; b.ServerNotified() && b.Task == nil && !a.has(b.RequestID, b.WireID) {
				text += ", which was " + b.WireID
			}
			text += fmt.Sprintf(", the cancel is %s%s", b.Sending.Delivery, quoted(b.Sending.Err))
		}
		if b.Err != nil {
			text += ", error " + b.Err.Reason
		}
		return b.RequestID, text + mayGoOn(b.ServerMayContinue) + taskWords(b.Task) + timeWords(b.Timings)
	case *event.RequestFinished:
		text := b.RequestID + " " + b.State.String()
		switch {
		case b.Err != nil:
			text += " " + b.Err.Reason
		case b.McpError != nil:
			text += fmt.Sprintf(" %d", b.McpError.Code)
		}
		return unlessStart(b.RequestID, text+mayGoOn(b.ServerMayContinue)+taskWords(b.Task)+timeWords(b.Timings))
	case *event.RequestCancelDelivery:
		return b.RequestID, fmt.Sprintf("%s: the cancel is %s%s", b.RequestID, b.Sending.Delivery, quoted(b.Sending.Err))
	case *event.PromptOpened:
		s.of[b.Prompt.ID] = b.Prompt.RequestID
		return b.Prompt.RequestID, promptWords(&b.Prompt)
	case *event.PromptClosed:
		text := fmt.Sprintf("%s closes: %s by %s%s", b.PromptID, b.Cause, b.Origin, quoted(b.Reason))
		if name := s.windowOf(b.WindowID); name != "" {
			text += " of " + name
		}
		return s.of[b.PromptID], text
	case *event.LogMessage:
		if b.Logger == "mcphub" {
			return "~", "log: " + b.Data
		}
	}
	return "", ""
}

func (s *stage) windowOf(id string) string {
	for name, v := range s.views {
		if v.win.ID() == id && s.views[strings.TrimPrefix(name, "old-")] == v {
			return name
		}
	}
	return ""
}

// unlessStart leaves out what is told of the start of a session.
func unlessStart(id, text string) (string, string) {
	if strings.HasPrefix(id, "start-") {
		return id, ""
	}
	return id, text
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" %q", text)
}

func mayGoOn(may bool) string {
	if may {
		return ", may go on"
	}
	return ""
}

func taskWords(t *event.TaskInfo) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(", task %s %s%s", t.ID, t.Status, quoted(t.Message))
}

// timeWords tells how long a request was open, if it took time.
func timeWords(t event.Timings) string {
	var parts []string
	for name, d := range map[string]time.Duration{"queued": t.Queued, "active": t.Active, "human": t.Human} {
		if d != 0 {
			parts = append(parts, name+" "+d.String())
		}
	}
	slices.Sort(parts)
	return strings.TrimSuffix("; "+strings.Join(parts, " "), "; ")
}

func promptWords(p *event.PromptInfo) string {
	text := fmt.Sprintf("%s opens: %s of %s", p.ID, p.Kind, p.RequestID)
	if q := p.Question; q != nil && !slices.ContainsFunc([]string{"sampling", "form", "url"}, func(kind string) bool {
		_, params := question(kind)
		return string(q.Payload) == params
	}) {
		text += " with " + string(q.Payload)
	}
	if q := p.Question; q != nil && q.URL != "" {
		text += fmt.Sprintf(", %s at %s (%s)", q.Message, q.URLHost, q.URL)
		if q.Waiting {
			text += ", waiting for the page"
		}
	}
	if !p.Deadline.IsZero() {
		text += ", for " + p.Deadline.Sub(p.Open).String()
	}
	return text
}

// endOf tells what a caller got.
func endOf(c *pendingCall) string {
	if c.err != nil {
		return "got " + errorWords(c.err)
	}
	text := string(c.result.Result)
	var result struct {
		Content []struct{ Text string }
	}
	switch {
	case c.result.Error != nil:
		text = fmt.Sprintf("error %d %s", c.result.Error.Code, c.result.Error.Message)
	case json.Unmarshal(c.result.Result, &result) == nil && len(result.Content) == 1:
		text = result.Content[0].Text
	}
	if c.result.IsError {
		text += ", an error"
	}
	if c.result.Rounds > 1 && c.result.Task == nil {
		text += fmt.Sprintf(", in %d rounds", c.result.Rounds)
	}
	return "got " + text + taskWords(c.result.Task) + timeWords(c.result.Timings)
}

// errorWords is an error with all that programs may read in it.
func errorWords(err error) string {
	e := event.AsError(err)
	text := fmt.Sprintf("%s: %s", e.Reason, e.Message)
	if e.Reason != string(e.Code) {
		text = fmt.Sprintf("%s %s", e.Code, text)
	}
	var meta []string
	for name, value := range e.Meta {
		if name != "server" && name != "request_id" && name != "tool" {
			meta = append(meta, fmt.Sprintf("%s=%q", name, value))
		}
	}
	slices.Sort(meta)
	return strings.TrimSuffix(text+" ["+strings.Join(meta, " ")+"]", " []")
}

// hears is what a server was sent since it was asked last, without what belongs to sessions, lists and polls.
func (a *actor) hears() (lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	received := a.Received()
	for _, m := range received[a.heard:] {
		if m.Method == "initialize" || m.Method == "server/discover" {
			if a.conn != 0 && m.Conn != a.conn {
				lines = append(lines, "connected anew")
			}
			a.conn = m.Conn
		}
		if a.declared != nil {
			if text := capabilitiesIn(m); text != "" && text != *a.declared {
				*a.declared = text
				lines = append(lines, "declared are "+text)
			}
		}
		wire := fmt.Sprint(m.Conn, " ", string(m.ID))
		if m.IsRequest() {
			a.ids[wire] = m.Method
		}
		switch m.Method {
		case "initialize", "server/discover", "notifications/initialized", "tools/list", "tasks/get", "tasks/result",
			"ping", "subscriptions/listen":
		case "tools/call":
			id := callID(m.Params)
			a.ids[wire] = id
			text := "call " + id
			if answers := m.Param("inputResponses"); answers != nil {
				text += " again, with " + string(answers)
			}
			if m.Param("task") != nil {
				text += " as a task"
			}
			lines = append(lines, text)
		case "notifications/cancelled":
			switch of := a.named(m.Conn, m.Param("requestId")); of {
			case "subscriptions/listen", "tasks/get", "tasks/result":
			default:
				lines = append(lines, fmt.Sprintf("cancel of %s, %s", of, m.Param("reason")))
			}
		case "":
			lines = append(lines, fmt.Sprintf("answer to %s: %s", a.named(m.Conn, m.ID), answerOf(m)))
		default:
			lines = append(lines, strings.TrimSpace(m.Method+" "+string(m.Param("taskId"))+string(m.Param("inputResponses"))))
		}
	}
	a.heard = len(received)
	for i := 0; i < len(lines); { // which of two goroutines writes first may differ
		kind, end := strings.Fields(lines[i])[0], i
		for end < len(lines) && strings.Fields(lines[end])[0] == kind {
			end++
		}
		slices.Sort(lines[i:end])
		i = end
	}
	return lines
}

// capabilitiesIn returns the client's capabilities that a message declares, "" for none.
func capabilitiesIn(m fakeserver.Message) string {
	if m.Method == "initialize" {
		return string(m.Param("capabilities"))
	}
	meta := fakeserver.Message{Params: m.Param("_meta")}
	return string(meta.Param("io.modelcontextprotocol/clientCapabilities"))
}

// has reports whether a wire id was of that call.
func (a *actor) has(id, wire string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, of := range a.ids {
		if _, this, _ := strings.Cut(key, " "); of == id && this == wire {
			return true
		}
	}
	return false
}

// named is a wire id as the scene has it.
func (a *actor) named(conn int, wire json.RawMessage) string {
	if id := a.ids[fmt.Sprint(conn, " ", string(wire))]; id != "" {
		return id
	}
	return strings.Trim(string(wire), `"`)
}

// callID is the hub's id of a call, which stands in the arguments of all calls of a scene.
func callID(params json.RawMessage) string {
	var call struct{ Arguments struct{ ID string } }
	_ = json.Unmarshal(params, &call)
	return call.Arguments.ID
}
