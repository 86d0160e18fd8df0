package ipc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/script"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestConversations plays testdata/*.txtar over a gRPC connection: what a host, windows and a server do, and what each
// is then told. Below a step stand what the hub is asked ("hub:"), what the server hears ("s:"), what the calls of the
// host return, and what windows are sent, with the names and the JSON of the contract, but without times. The steps:
//
//	host METHOD {JSON}          the host calls a method; host gives up METHOD ends the call
//	host metadata KEY VALUE     it sends this with each call from now on
//	w hello {JSON}              a window attaches
//	w METHOD {JSON}             it calls a method; w MESSAGE {JSON} sends another message of AttachRequest
//	w {JSON} {JSON}             it sends messages as they stand, one after the other without waiting
//	w half-closes, w breaks     its stream ends
//	after DURATION              time passes
//	x{1000}                     in a step: 1000 letters
//
// The hub is one that only notes what it is asked. Its steps are those of decide ("hub emits started r", "hub fails
// CODE REASON", "hub holds", "hub goes on"); with "log" as the first step the log is shown. Or it is a real one:
//
//	server {CAPABILITIES}       the first step: a hub with a server s, whose tool do waits for the next steps
//	s result {JSON}             it answers the oldest request that waits; s progress TEXT tells of its progress
//	s METHOD {JSON}             it notifies, or asks in that request; s withdraws REASON takes its last question back
//	file NAME TEXT, read NAME   a file in DIR is written, or shown
func TestConversations(t *testing.T) {
	script.Converse(t, "testdata/*.txtar", func(t *testing.T, _, _ string) func(string) []string {
		return (&stage{t: t, ctx: t.Context(), gives: map[string]context.CancelCauseFunc{},
			views: map[string]*view{}}).play
	})
}

// stage is a hub that is served, with all who take part in a conversation.
type stage struct {
	t      *testing.T
	ctx    context.Context // of the host's calls
	conn   *grpc.ClientConn
	fake   *fakeHub
	goOn   func() // releases what the fake hub holds
	real   *hub.Hub
	dir    string
	result string                             // the id of the last result that was kept
	gives  map[string]context.CancelCauseFunc // what the host calls, by method
	views  map[string]*view

	log      logBook
	server   *fakeserver.Server
	heard    int
	question *fakeserver.OutRequest

	mu    sync.Mutex // guards below
	lines []string   // of the host
	open  []*fakeserver.CallContext
}

// view is a window of the stage.
type view struct {
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	snap   context.CancelCauseFunc
	asked  int

	mu   sync.Mutex // guards told
	told []*mcphubv1.AttachResponse
	end  error // how the stream ended
}

var letters = regexp.MustCompile(`(\w)\{(\d+)\}`)

func (s *stage) play(step string) []string {
	step = letters.ReplaceAllStringFunc(step, func(part string) string {
		m := letters.FindStringSubmatch(part)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
	who, what, _ := strings.Cut(step, " ")
	if s.conn == nil && who != "server" {
		s.fake = &fakeHub{}
		s.conn = serve(s.t, s.fake, s.log.options(who == "log"))
	}
	verb, rest, _ := strings.Cut(what, " ")
	if s.dir != "" {
		rest = strings.ReplaceAll(rest, "DIR/", escaped(s.dir+string(filepath.Separator)))
		rest = strings.ReplaceAll(rest, `"DIR"`, words(s.dir))
		rest = strings.ReplaceAll(rest, `"RESULT"`, words(s.result))
		rest = strings.ReplaceAll(rest, `"HUB"`, words(s.real.ID()))
		rest = strings.ReplaceAll(rest, `"prompt-`, `"prompt-`+s.part())
	}
	switch who {
	case "server":
		s.begin(what)
	case "s":
		s.act(verb, rest)
	case "hub":
		s.decide(verb, rest)
	case "host":
		s.call(verb, rest)
	case "log":
	case "after":
		d, err := time.ParseDuration(what)
		s.must(err)
		faketime.Pass(d)
	case "file":
		name := filepath.Join(s.dir, verb)
		s.must(os.MkdirAll(filepath.Dir(name), 0o700))
		s.must(os.WriteFile(name, []byte(rest), 0o600))
	case "read":
		text, err := os.ReadFile(filepath.Join(s.dir, verb))
		s.must(err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	default:
		s.window(who, verb, rest)
	}
	synctest.Wait()
	return s.told()
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// begin makes a real hub.
func (s *stage) begin(capabilities string) {
	s.server = fakeserver.New(fakeserver.WithCapabilities(cmp.Or(capabilities, `{"tools":{}}`)))
	wait := func(c *fakeserver.CallContext) {
		s.mu.Lock()
		s.open = append(s.open, c)
		s.mu.Unlock()
		<-c.Context().Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open = slices.DeleteFunc(s.open, func(o *fakeserver.CallContext) bool { return o == c })
	}
	s.server.Tool("do", wait)
	for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe",
		"completion/complete"} {
		s.server.Handle(method, wait)
	}
	s.dir = s.t.TempDir()
	s.real, s.conn = realHub(s.t, s.server)
}

// act does what the server does.
func (s *stage) act(verb, rest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 && verb != "withdraws" && !strings.HasPrefix(verb, "notifications/") {
		s.t.Fatalf("nothing waits for %q", verb)
	}
	switch {
	case verb == "result":
		s.open[0].Result(rest)
		s.open = s.open[1:]
	case verb == "progress":
		s.open[0].Progress(1, 2, rest)
	case verb == "withdraws":
		s.question.Cancel(rest)
	case strings.HasPrefix(verb, "notifications/"):
		s.must(s.server.Notify(verb, rest))
	default:
		s.question = s.open[0].Request(verb, rest)
	}
}

// decide does what the hub does.
func (s *stage) decide(verb, rest string) {
	what, more, _ := strings.Cut(rest, " ")
	body := func() event.Body {
		id := more
		switch what {
		case "started":
			return started(id)
		case "progressed":
			return progressed(id, 1)
		case "nothing":
			return (*event.PromptClosed)(nil)
		}
		return finished(id)
	}
	switch verb {
	case "emits":
		s.fake.emit(body())
	case "emits-while-attaching":
		s.fake.early = append(s.fake.early, body())
	case "emits-after-the-snapshot":
		s.fake.start.Events = append(s.fake.start.Events, event.Event{Body: body()})
	case "has": // in its snapshot
		s.fake.start.Snapshot = &event.Snapshot{Time: time.Now(), Requests: []event.RequestInfo{{ID: rest}}}
	case "fails":
		reason, message, _ := strings.Cut(more, " ")
		e := &event.Error{Code: event.Code(what), Reason: reason, Message: cmp.Or(message, "no")}
		if message != "" {
			e.Meta, e.Err = map[string]string{"server": message}, errors.New(message)
		}
		s.fake.failure = e
	case "breaks":
		s.fake.failure = errors.New(strings.ReplaceAll(rest, `\n`, "\n"))
	case "panics":
		s.fake.panics = true
	case "holds":
		hold := make(chan struct{})
		s.fake.hold, s.goOn = hold, sync.OnceFunc(func() { close(hold) })
		s.t.Cleanup(s.goOn)
	case "goes":
		s.goOn()
	case "ends":
		s.fake.window(0).sink.Closed(&event.Error{Code: event.Code(what), Reason: more, Message: "over"})
	case "drains":
		s.fake.draining = true
	case "closes":
		s.must(s.real.Close(context.Background()))
	default:
		s.t.Fatalf("the hub does not %s", verb)
	}
}

// messages returns the path of a method, and empty messages for its request and its response.
func (s *stage) messages(method string) (path string, in, out proto.Message) {
	path = pathOf(method)
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	s.must(err)
	made := func(d protoreflect.MessageDescriptor) proto.Message {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
		s.must(err)
		return kind.New().Interface()
	}
	m := d.(protoreflect.MethodDescriptor)
	return path, made(m.Input()), made(m.Output())
}

// call makes a call of the host.
func (s *stage) call(method, rest string) {
	switch method {
	case "gives":
		s.gives[strings.TrimPrefix(rest, "up ")](nil)
		return
	case "metadata":
		key, value, _ := strings.Cut(rest, " ")
		s.ctx = metadata.AppendToOutgoingContext(s.ctx, key, value)
		return
	}
	path, in, out := s.messages(method)
	s.must(protojson.Unmarshal([]byte(cmp.Or(rest, "{}")), in))
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.gives[method] = cancel
	go func() {
		line := "host: " + method + " "
		if err := s.conn.Invoke(ctx, path, in, out); err != nil {
			line += statusWords(err)
		} else {
			line += compact(out)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, line)
	}()
}

// window does what a window does.
func (s *stage) window(name, verb, rest string) {
	v := s.views[name]
	if v == nil {
		v = s.attach(name)
	}
	m := &mcphubv1.AttachRequest{}
	switch {
	case verb == "half-closes":
		s.must(v.stream.CloseSend())
		return
	case verb == "breaks":
		v.snap(nil)
		delete(s.views, name)
		return
	case strings.HasPrefix(verb, "{"):
		for d := json.NewDecoder(strings.NewReader(verb + " " + rest)); ; {
			var one json.RawMessage
			if err := d.Decode(&one); errors.Is(err, io.EOF) {
				return
			} else {
				s.must(err)
			}
			m := &mcphubv1.AttachRequest{}
			s.must(protojson.Unmarshal(one, m))
			v.send(s.t, m)
		}
	case pathOf(verb) != "":
		_, in, _ := s.messages(verb)
		s.must(protojson.Unmarshal([]byte(cmp.Or(rest, "{}")), in))
		m = callOf("", in)
	default:
		s.must(protojson.Unmarshal(fmt.Appendf(nil, "{%q:%s}", verb, cmp.Or(rest, "{}")), m))
	}
	if verb != "closeWindow" {
		v.asked++
		m.MessageId = strconv.Itoa(v.asked)
	}
	v.send(s.t, m)
}

func (v *view) send(t *testing.T, m *mcphubv1.AttachRequest) {
	if err := v.stream.Send(m); err != nil && !errors.Is(err, io.EOF) { // EOF: the end is told by Recv
		t.Fatal(err)
	}
}

// attach opens a window's stream.
func (s *stage) attach(name string) *view {
	ctx, snap := context.WithCancelCause(s.t.Context())
	stream, err := mcphubv1.NewEditorServiceClient(s.conn).Attach(ctx)
	s.must(err)
	v := &view{stream: stream, snap: snap}
	s.views[name] = v
	go func() {
		for {
			m, err := stream.Recv()
			v.mu.Lock()
			if v.end = err; err == nil {
				v.told = append(v.told, m)
			}
			v.mu.Unlock()
			if err != nil {
				snap(nil)
				return
			}
		}
	}()
	return v
}

// told returns what everybody was told since it was asked last.
func (s *stage) told() (lines []string) {
	if s.fake != nil {
		s.fake.mu.Lock()
		for _, asked := range s.fake.asked {
			lines = append(lines, "hub: "+asked)
		}
		s.fake.asked = nil
		s.fake.mu.Unlock()
	}
	lines = append(lines, s.log.lines()...)
	if s.server != nil {
		received := s.server.Received()
		for _, m := range received[s.heard:] {
			switch m.Method {
			case "initialize", "notifications/initialized", "server/discover", "tools/list":
			case "":
				lines = append(lines, fmt.Sprintf("s: answer %s%s", m.Result, words(m.Error)))
			default:
				lines = append(lines, fmt.Sprintf("s: %s %s", m.Method, m.Params))
			}
		}
		s.heard = len(received)
	}
	s.mu.Lock()
	slices.Sort(s.lines)
	lines, s.lines = append(lines, s.lines...), nil
	s.mu.Unlock()
	lines = append(lines, s.seen()...)
	for i := range lines {
		lines[i] = s.fixed(lines[i])
	}
	return lines
}

// seen is what windows were sent since they were asked last. Which of a reply and an event comes first at a real hub
// depends on goroutines, so replies stand first, by their ids. What several windows were told alike stands once.
func (s *stage) seen() (lines []string) {
	texts := map[string]string{}
	names := slices.Sorted(maps.Keys(s.views))
	for _, name := range names {
		v := s.views[name]
		v.mu.Lock()
		var replies []string
		begins := len(v.told) > 0 && v.told[0].GetWelcome() != nil
		for _, m := range v.told {
			if text := s.shown(m); m.GetReply() != nil && !begins && s.real != nil {
				replies = append(replies, name+": "+text)
			} else if text != "" {
				texts[name] += text + "\n"
			}
		}
		slices.Sort(replies)
		lines, v.told = append(lines, replies...), nil
		if v.end != nil {
			texts[name] += "ends " + statusWords(v.end) + "\n"
			delete(s.views, name)
		}
		v.mu.Unlock()
	}
	for _, name := range names {
		alike := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return texts[n] != texts[name] })
		if alike[0] == name {
			for line := range strings.Lines(texts[name]) {
				lines = append(lines, strings.Join(alike, ", ")+": "+strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return lines
}

// shown returns a message of the hub as text, "" for what depends on the order of goroutines or says little here.
func (s *stage) shown(m *mcphubv1.AttachResponse) string {
	if s.real != nil {
		id := cmp.Or(m.GetMcpRequestStarted().GetRequest().GetRequestId(), m.GetMcpRequestFinished().GetRequestId())
		if m.GetServerChanged() != nil || m.GetConfigReloaded() != nil || strings.HasPrefix(id, "start-") ||
			m.GetMcpRequestProgressed() != nil && m.GetMcpRequestProgressed().GetProgress() == nil {
			return ""
		}
		if m.GetSnapshot() != nil {
			m.GetSnapshot().Servers = nil
		}
	}
	m.Time = nil
	text := strings.TrimSuffix(compact(m), "}")
	_, text, _ = strings.Cut(text, ":")
	return nameOf(m) + " " + text
}

var (
	passing = regexp.MustCompile(`"(time|\w+Time|deadline)":"2000-01-01T[^"]*",?|,?"timings":\{[^}]*\}|` +
		`,?"(launchHash|unresolved)":"(\\.|[^"\\])*"|,?"inheritedNames":\[[^]]*\]`) // the latter go by the machine
	meta   = regexp.MustCompile(`,?"_meta":\{[^{}]*\}`)
	result = regexp.MustCompile(`"resultId":"(\w+)"`)
	score  = regexp.MustCompile(`("score":\d+\.\d{3})\d+`)
	undo   = regexp.MustCompile(`"undoId":"\w+"`)
	long   = regexp.MustCompile(`x{50,}`)
)

// fixed replaces what differs in each run, and shortens what is long.
func (s *stage) fixed(line string) string {
	line = strings.ReplaceAll(passing.ReplaceAllString(line, ""), ",}", "}")
	line = strings.ReplaceAll(line, "type.googleapis.com/", "")
	line = strings.ReplaceAll(line, fmt.Sprintf(`"processId":%d`, os.Getpid()), `"processId":"ours"`)
	line = score.ReplaceAllString(line, "$1")
	line = long.ReplaceAllStringFunc(line, func(x string) string { return fmt.Sprintf("x{%d}", len(x)) })
	if s.real != nil {
		line = meta.ReplaceAllString(line, "")
		line = strings.ReplaceAll(line, "-"+s.part(), "-")
		line = strings.ReplaceAll(line, s.real.ID(), "HUB")
		if id := result.FindStringSubmatch(line); id != nil {
			s.result = id[1]
		}
		if s.result != "" {
			line = strings.ReplaceAll(line, s.result, "RESULT")
		}
		line = undo.ReplaceAllString(line, `"undoId":"UNDO"`)
		inside := s.dir + string(filepath.Separator)
		line = strings.NewReplacer(escaped(inside), "DIR/", inside, "DIR/", escaped(s.dir), "DIR").Replace(line)
	}
	return line
}

// part is the part of the hub's ids that differs in each run.
func (s *stage) part() string { return strings.ToLower(s.real.ID()[:6]) + "-" }

// escaped returns text as it stands in a JSON string.
func escaped(text string) string { return strings.Trim(words(text), `"`) }

// words returns the JSON text of v, "" for nil.
func words(v any) string {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "null" {
		return ""
	}
	return string(text)
}

func compact(m proto.Message) string {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	_ = json.Compact(&b, text) // protojson varies its blanks
	return b.String()
}

// statusWords returns a status with its detail.
func statusWords(err error) string {
	if errors.Is(err, io.EOF) {
		return "OK"
	}
	s := status.Convert(err)
	text := fmt.Sprintf("%s: %s", code.Code(s.Code()), s.Message())
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			text = fmt.Sprintf("%s %s: %s %s", code.Code(s.Code()), info.GetReason(), s.Message(), words(info.GetMetadata()))
		}
	}
	return strings.TrimSpace(text)
}
