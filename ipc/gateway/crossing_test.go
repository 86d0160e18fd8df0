package gateway_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/script"
)

// TestCrossing plays the conversations under testdata/crossing: the bytes of clients and of servers, side by side.
// Steps:
//
//	config         the config file, before all others
//	gateway        the options of the gateways, as JSON
//	NAME offers    what a server answers by itself: lines of "METHOD RESULT"; without a result it just takes the message
//	NAME http      says that the client NAME comes over HTTP: each of its lines is a POST, what comes back says on which
//	               stream (see webClient)
//	NAME second    says that the client NAME comes to a second gateway of the same hub
//	NAME           lines that the server, or the client, NAME sends. A client is one that the config does not name; it
//	               connects when it is first named. STATE stands for the last requestState, RESULT for the id of the
//	               last result that was kept, TOKEN for the last progress token of a task.
//	do             commands: wait DURATION, eof CLIENT, deaf CLIENT, hears CLIENT, window KIND..., answer ACTION CONTENT,
//	               cancel REASON (all), cancelnewest REASON, kill SERVER, stop SERVER, restart SERVER, load CONFIG (the
//	               host's), loadfolder CONFIG (a workspace's), closesecond; over HTTP get CLIENT [STREAM], resume CLIENT
//	               STREAM, hangup CLIENT STREAM, delete CLIENT
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

var (
	stateOf  = regexp.MustCompile(`"requestState":"([A-Z2-7]{26})"`)
	resultOf = regexp.MustCompile(`with the id ([A-Z2-7]{26})`)
	tokenOf  = regexp.MustCompile(`"progressToken":"(p\d+-[A-Z2-7]{26})"`)
	long     = strings.Repeat("x", 50_000)
)

func (s *stage) play(steps []txtar.File) string {
	var got strings.Builder
	state, result, token := "", "", ""
	for _, step := range steps {
		name, what, _ := strings.Cut(step.Name, " ")
		if name == "config" || name == "gateway" || what == "offers" || what == "http" ||
			what == "second" {
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
				_, _ = io.WriteString(p.in, strings.NewReplacer("STATE", state, "RESULT", result, "LONG", long,
					"TOKEN", token).Replace(line)+"\n")
			}
			synctest.Wait()
		}
		<-time.After(50 * time.Millisecond) // changes are gathered for a while before the gateway reports them
		synctest.Wait()
		for _, name := range s.order {
			p := s.parties[name]
			if p == nil {
				continue
			}
			for _, line := range p.take() {
				if m := stateOf.FindStringSubmatch(line); m != nil {
					state = m[1]
				}
				if m := resultOf.FindStringSubmatch(line); m != nil {
					result = m[1]
				}
				if m := tokenOf.FindStringSubmatch(line); m != nil {
					token = m[1]
					line = strings.ReplaceAll(line, token, "TOKEN")
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
		faketime.Pass(d)
	case "get", "resume", "hangup", "delete":
		s.party(first).web.act(verb, second)
	case "eof":
		_ = s.party(first).in.Close()
	case "deaf", "hears":
		s.party(first).hears(verb == "hears")
	case "window":
		kinds := map[string]event.PromptKind{"approval": event.PromptToolApproval, "form": event.PromptElicitationForm,
			"sampling": event.PromptSampling}
		hello := hub.Hello{WindowID: "w"}
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
	case "load", "loadfolder":
		scope := map[string]string{"load": "host", "loadfolder": "workspace"}[verb]
		if _, _, _, err := s.hub.LoadConfig(context.Background(),
			[]hub.ConfigSource{{Path: "test.json", Scope: scope, JSON: rest}}); err != nil {
			s.t.Error(err)
		}
	case "closesecond":
		s.second.Close(nil)
	case "kill":
		s.party(first).hangUp()
	case "restart":
		if _, err := s.hub.RestartServer(context.Background(), first, "restarted by a test"); err != nil {
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

// Deliver makes the stage, with Closed, the sink of its window.
func (s *stage) Deliver(e event.Event) {
	if opened, ok := e.Body.(*event.PromptOpened); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.prompts = append(s.prompts, opened.Prompt)
		s.last = opened.Prompt.ID
	}
}

// Closed does nothing: the scripts do not check how the window ends.
func (s *stage) Closed(*event.Error) {}

func (s *stage) newest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
