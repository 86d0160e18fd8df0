package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/windows"
	"github.com/mcphub-go/mcphub/internal/script"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// TestCrossing plays the conversations under testdata/crossing: the bytes of clients and of servers, side by side.
// Steps:
//
//	config         the config file, before all others
//	NAME offers    what a server answers by itself: lines of "METHOD RESULT"; without a result it just takes the message
//	NAME http      says that the client NAME comes over HTTP: each of its lines is a POST, what comes back says on which
//	               stream (see webClient)
//	NAME           lines that the server, or the client, NAME sends. A client is one that the config does not name; it
//	               connects when it is first named. STATE stands for the last requestState.
//	do             commands: wait DURATION, eof CLIENT, deaf CLIENT, hears CLIENT, window KIND..., answer ACTION CONTENT,
//	               cancel REASON (all), cancelnewest REASON, stop SERVER, load CONFIG; over HTTP get CLIENT [STREAM],
//	               resume CLIENT STREAM, hangup CLIENT STREAM, delete CLIENT
//
// LONG stands for 50,000 letters.
//
// "want" has, for each step, what each party was sent.
func TestCrossing(t *testing.T) {
	script.Play(t, "testdata/crossing/*.txtar", func(t *testing.T, steps []txtar.File) string {
		s := newStage(t, steps)
		defer s.close()
		return s.play(steps)
	})
}

// party is one end of a pipe whose lines a script writes.
type party struct {
	in    io.WriteCloser
	mu    sync.Mutex
	lines []string
	auto  map[string]string // results by method
	web   *webClient        // of a client over HTTP
	deaf  chan struct{}     // closed when it reads again; nil: it does
}

// hears makes a client read on, or read nothing any more.
func (p *party) hears(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		close(p.deaf)
		p.deaf = nil
	} else {
		p.deaf = make(chan struct{})
	}
}

// wait waits until the client reads.
func (p *party) wait() {
	p.mu.Lock()
	deaf := p.deaf
	p.mu.Unlock()
	if deaf != nil {
		<-deaf
	}
}

// ear is what a client reads from, while it does.
type ear struct {
	*party
	from io.Reader
}

func (e ear) Read(b []byte) (int, error) {
	e.wait()
	return e.from.Read(b)
}

func (p *party) heard(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}

func (p *party) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	if p.web != nil {
		byStream(lines)
	}
	return lines
}

// read reads what the party is sent, and answers what it answers by itself.
func (p *party) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		method := jsontext.String(jsontext.Get(lines.Bytes(), "method"))
		if result, auto := p.auto[method]; auto {
			if id := jsontext.Get(lines.Bytes(), "id"); id != nil && result != "" {
				_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
			}
			continue
		}
		p.heard(lines.Text())
	}
}

// stage is a hub with scripted servers, a gateway, and scripted clients.
type stage struct {
	t       *testing.T
	hub     *hub.Hub
	gateway *gateway.Gateway
	running sync.WaitGroup
	web     *web
	onWeb   map[string]bool // clients

	mu      sync.Mutex
	parties map[string]*party
	order   []string
	offers  map[string]map[string]string
	window  *hub.Window
	prompts []event.PromptInfo
	last    string // id of the newest prompt
}

func newStage(t *testing.T, steps []txtar.File) *stage {
	s := &stage{t: t, parties: map[string]*party{}, offers: map[string]map[string]string{},
		onWeb: map[string]bool{}}
	text, options := `{}`, gateway.Options{}
	for _, step := range steps {
		switch name, what, _ := strings.Cut(step.Name, " "); {
		case step.Name == "config":
			text = string(step.Data)
		case step.Name == "gateway":
			if err := json.Unmarshal(step.Data, &options); err != nil {
				t.Fatal(err)
			}
		case what == "http":
			s.onWeb[name] = true
		case what == "offers":
			s.offers[name] = map[string]string{"notifications/initialized": ""}
			for line := range strings.Lines(string(step.Data)) {
				method, result, _ := strings.Cut(strings.TrimSpace(line), " ")
				s.offers[name][method] = result
			}
		}
	}
	s.hub = hub.New(hub.Options{Version: "test", Open: s.open})
	if _, problems, _, err := s.hub.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Path: "test.json", Scope: "host", JSON: text}}); err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var err error
	if s.gateway, err = gateway.New(s.hub, options); err != nil {
		t.Fatal(err)
	}
	s.web = newWeb(s.gateway.HTTP(webGuard))
	synctest.Wait()
	return s
}

func (s *stage) open(c config.Server, _ func(string)) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		toServer, in := io.Pipe()
		out, fromServer := io.Pipe()
		p := &party{in: fromServer, auto: s.offers[c.Name]}
		s.add(c.Name, p)
		s.running.Go(func() { p.read(toServer) })
		return &mcp.Link{Conn: jsonrpc.NewLineConn(out, in, jsonrpc.LineConnOptions{Close: func() error {
			_ = in.Close()
			return fromServer.Close()
		}})}, nil
	}
}

func (s *stage) add(name string, p *party) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parties[name] == nil {
		s.order = append(s.order, name)
	}
	s.parties[name] = p
}

func (s *stage) party(name string) *party {
	s.mu.Lock()
	p := s.parties[name]
	s.mu.Unlock()
	if p != nil || s.offers[name] != nil {
		return p
	}
	if s.onWeb[name] {
		p = &party{}
		p.web = s.web.client(&s.running, p)
		p.in = p.web
		s.add(name, p)
		return p
	}
	toGateway, in := io.Pipe()
	out, fromGateway := io.Pipe()
	p = &party{in: in}
	s.add(name, p)
	s.running.Go(func() { p.read(ear{p, out}) })
	s.running.Go(func() {
		err := s.gateway.Serve(context.Background(), jsonrpc.NewLineConn(toGateway, fromGateway, jsonrpc.LineConnOptions{
			Close: func() error {
				_ = toGateway.Close()
				return fromGateway.Close()
			}}))
		if err != nil {
			p.heard("ends: " + err.Error())
		}
	})
	return p
}

func (s *stage) close() {
	s.gateway.Close(nil)
	if err := s.hub.Close(context.Background()); err != nil {
		s.t.Error(err)
	}
	for _, p := range s.parties {
		_ = p.in.Close()
		if p.deaf != nil {
			p.hears(true)
		}
	}
	s.web.close()
	s.running.Wait()
}

var (
	stateOf  = regexp.MustCompile(`"requestState":"([A-Z2-7]{26})"`)
	resultOf = regexp.MustCompile(`with the id ([A-Z2-7]{26})`)
	long     = strings.Repeat("x", 50_000)
)

func (s *stage) play(steps []txtar.File) string {
	var got strings.Builder
	state, result := "", ""
	for _, step := range steps {
		name, what, _ := strings.Cut(step.Name, " ")
		if name == "config" || name == "gateway" || what == "offers" || what == "http" {
			continue
		}
		fmt.Fprintf(&got, "# %s\n", step.Name)
		for line := range strings.Lines(string(step.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if name == "do" {
				s.act(line)
			} else {
				p := s.party(name)
				if p == nil {
					s.t.Fatalf("server %q is not connected", name)
				}
				_, _ = io.WriteString(p.in, strings.NewReplacer("STATE", state, "RESULT", result, "LONG", long).Replace(line)+"\n")
			}
			synctest.Wait()
		}
		<-time.After(50 * time.Millisecond) // what gathers has gone
		synctest.Wait()
		for _, name := range s.order {
			for _, line := range s.parties[name].take() {
				if m := stateOf.FindStringSubmatch(line); m != nil {
					state = m[1]
				}
				if m := resultOf.FindStringSubmatch(line); m != nil {
					result = m[1]
				}
				line = strings.ReplaceAll(resultOf.ReplaceAllString(line, "with the id RESULT"), long, "LONG")
				got.WriteString(name + " <- " + stateOf.ReplaceAllString(line, `"requestState":"STATE"`) + "\n")
			}
		}
		s.mu.Lock()
		for _, p := range s.prompts {
			fmt.Fprintf(&got, "window: %s of %s\n", p.Kind, p.Server)
		}
		s.prompts = nil
		s.mu.Unlock()
	}
	return got.String()
}

func (s *stage) act(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	first, second, _ := strings.Cut(rest, " ")
	switch verb {
	case "wait":
		d, err := time.ParseDuration(first)
		if err != nil {
			s.t.Fatal(err)
		}
		<-time.After(d)
	case "get", "resume", "hangup", "delete":
		s.party(first).web.act(verb, second)
	case "eof":
		_ = s.party(first).in.Close()
	case "deaf", "hears":
		s.party(first).hears(verb == "hears")
	case "window":
		kinds := map[string]event.PromptKind{"approval": event.PromptToolApproval, "form": event.PromptElicitationForm,
			"sampling": event.PromptSampling}
		hello := windows.Hello{WindowID: "w"}
		for kind := range strings.FieldsSeq(rest) {
			hello.Kinds = append(hello.Kinds, kinds[kind])
		}
		w, _, err := s.hub.Attach(hello, s)
		if err != nil {
			s.t.Fatal(err)
		}
		s.window = w
	case "answer":
		actions := map[string]event.Action{"accept": event.ActionAccept, "decline": event.ActionDecline}
		a := event.PromptAnswer{PromptID: s.newest(), Action: actions[first], Content: second, Scope: event.ScopeOnce}
		if err := s.window.Answer(a); err != nil {
			s.t.Error(err)
		}
	case "cancel":
		for _, r := range s.hub.Requests("") {
			if r.Direction == event.Outgoing {
				_, _ = s.hub.CancelRequest(r.ID, "", rest, event.OriginUser)
			}
		}
	case "cancelnewest":
		newest := ""
		for _, r := range s.hub.Requests("") {
			if r.Direction == event.Outgoing {
				newest = r.ID
			}
		}
		_, _ = s.hub.CancelRequest(newest, "", rest, event.OriginUser)
	case "load":
		if _, _, _, err := s.hub.LoadConfig(context.Background(),
			[]hub.ConfigSource{{Path: "test.json", Scope: "host", JSON: rest}}); err != nil {
			s.t.Error(err)
		}
	case "stop":
		if _, err := s.hub.StopServer(context.Background(), first, "stopped by a test"); err != nil {
			s.t.Error(err)
		}
	default:
		s.t.Fatalf("unknown command %q", line)
	}
}

// Deliver and Closed make the stage the sink of its window.
func (s *stage) Deliver(e event.Event) {
	if opened, ok := e.Body.(*event.PromptOpened); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.prompts = append(s.prompts, opened.Prompt)
		s.last = opened.Prompt.ID
	}
}

// Closed is the end of the hub.
func (s *stage) Closed(*event.Error) {}

func (s *stage) newest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
