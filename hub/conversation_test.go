package hub_test

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/script"
)

// TestConversations plays testdata: what people, hosts, servers and files do, and what each of them is then told. Each
// has a hub of its own. At its end all is cancelled and the hub ends, and nothing may be left. Steps that say how the
// hub begins come first:
//
//	each legacy modern                 it is played with servers of each era
//	about servers                      what follows is how servers become and what they run, not how requests go on
//	hub return=3m                      how long windows may take to come back
//	environment NAME=VALUE...          of the hub
//	server s modern tasks offers http guarded slow ask idle=10s approvals={...}
//
// Then, in any order, steps of hosts, programs and people:
//
//	file F TEXT                        a config file is written, and all are read: user, disk (the user's too, and really
//	                                   there), folder and lib (of /repos/site and /repos/lib), trusted (by the host),
//	                                   plain (no scope), host. TEXT is the file, or "NAME {entry}", or "gone"
//	program adds s {ENTRY}, program changes s {PATCH}, program removes s, program undoes [N]
//	write FILE TEXT, link FILE TARGET  another file below /repos/site
//	window w form url no-tools extension-x={} back history=5 folder=/a program (its window)
//	call r1 do {"n":1} server=s owner=w label=x of=client app-of=r0 idle=3s preapproved prefers-task
//	read r1 file:///a, get r1 greet {"who":"Ada"}    with the same: a resource, a prompt template (server s offers)
//	after 10s
//	history r1, trace r1, state s, question prompt-1, remembered    what is kept and shown
//	forget N                           what is in line N of what is remembered
//	next hub                           the hub ends, and another one begins with the same files
//	host cancels r1 "why", cancels all|server=s|label=x, cancels-at s r1 "why", gives-up r1 (user cancels: for a person)
//	host starts s, stops s "why", restarts s, switches-on s, switches-off s, takes s (the folder's entry of a name),
//	  lists s, lists-known s, lists-rest s, completes s greet who A, subscribes s URI, signs-in s, signs-out s,
//	  loads ENTRIES, drains "why", closes
//	w cancels r1 "why", calls r1 do, stops s "why", restarts s "why", switches-off s, unmutes s, shows form,
//	  opens file:///a, browses, breaks (it may come back), closes; old-w is its attachment of before
//	w accepts prompt-1 {"name":"Ada"}, accepts prompt-1 [once|window|workspace|always] [seen] (all of the launch),
//	  declines prompt-1 why, mutes prompt-1, dismisses prompt-1, enters prompt-1 "value", keeps prompt-1 "value" (for the
//	  hub); the newest question needs no name
//
// and steps of servers, in conversationservers_test.go.
func TestConversations(t *testing.T) {
	script.Converse(t, "testdata/*.txtar", func(t *testing.T, text, era string) func(string) []string {
		if runtime.GOOS == "windows" && madeFile.MatchString(text) { // programs are scripts and links there
			return nil
		}
		s := newStage(t, era)
		if configFile.MatchString(text) {
			s.keepFiles(text)
		}
		t.Cleanup(s.close)
		return s.play
	})
}

var (
	madeFile   = regexp.MustCompile(`(?m)^(write|link) `)
	configFile = regexp.MustCompile(`(?m)^file `)
	lasting    = regexp.MustCompile(`(?m)^(next hub|program .*)$`)
)

// stage is a hub with those who take part in a conversation.
type stage struct {
	t       *testing.T
	era     string // of all servers, "" = as each says
	about   string // "servers", "" = requests
	options hub.Options
	entries []string
	files   *configFiles // nil if the entries are those of the servers

	amu    sync.Mutex // guards actors
	actors map[string]*actor

	*world // from the first step that is not about the servers
	web    *webWorld
	views  map[string]*spectator
	told   *witness // of servers, nil if nothing is said of them

	calls   map[string]*pendingCall
	stops   map[string]context.CancelCauseFunc
	said    map[string]bool // calls of which it was told how they ended
	callIDs []string        // in order
	orders  []*order
	asked   []event.PromptInfo
	reply   []string // what a step itself came to
}

// spectator is a window of the stage, and how much of what it was told stands in the conversation.
type spectator struct {
	*view
	heard int
	ended bool
}

// order is something that a host or a window wants and that may take its time.
type order struct {
	what   string
	done   chan struct{}
	said   string
	waited bool // beyond its step
}

func newStage(t *testing.T, era string) *stage {
	return &stage{t: t, era: era, actors: map[string]*actor{}, views: map[string]*spectator{},
		calls: map[string]*pendingCall{}, said: map[string]bool{}, stops: map[string]context.CancelCauseFunc{}}
}

var (
	stepWord = regexp.MustCompile(`\w+="[^"]*"|"[^"]*"|\S+`)
	promptID = regexp.MustCompile(`^(prompt|ask)-`)
)

// play does a step, and returns what followed from it.
func (s *stage) play(step string) []string {
	words := stepWord.FindAllString(step, -1)
	for i, w := range words {
		words[i] = strings.Trim(w, `"`)
		if name, value, has := strings.Cut(w, `="`); has && !strings.Contains(name, "{") {
			words[i] = name + "=" + strings.TrimSuffix(value, `"`)
		}
	}
	switch more := words[1:]; words[0] {
	case "about":
		s.about = more[0]
		return nil
	case "hub":
		s.options.WindowReturn = s.duration(strings.TrimPrefix(more[0], "return="))
		return nil
	case "environment":
		s.environment(strings.Fields(s.outside(step))[1:])
		return nil
	case "server":
		s.addServer(more[0], more[1:])
		return nil
	case "write", "link":
		s.make(words[0], more[0], after(step, 2))
		return nil
	}
	s.begin()
	s.step(step, words)
	synctest.Wait()
	lines := s.follows()
	if bad := s.hub.Inconsistent(); bad != "" {
		s.t.Errorf("after %q: %s", step, bad)
	}
	return lines
}

// after returns what follows the first n words.
func after(step string, n int) string {
	for range n {
		_, step, _ = strings.Cut(step, " ")
		step = strings.TrimSpace(step)
	}
	return step
}

// begin begins a hub, if there is none.
func (s *stage) begin() {
	if s.world != nil {
		return
	}
	fakes := map[string]*fakeserver.Server{}
	for name, a := range s.actors {
		fakes[name] = a.Server
	}
	switch {
	case s.web != nil:
		s.web = newWebWorld(s.t, fakeserver.HTTPOptions{}, fakes, s.entries...)
		s.world = s.web.world
		for name, a := range s.actors {
			s.web.sites[name].guarded = a.guarded
		}
	case s.files != nil: // whose programs come into being when they are started
		s.options.Open = func(c config.Server, stderr func(string)) mcp.Opener {
			s.actor(c.Command)
			return s.open(c, stderr)
		}
		s.world = newWorldWith(s.t, s.options, nil)
		s.world.servers = fakes
	default:
		s.world = newWorldWith(s.t, s.options, fakes, s.entries...)
	}
	if s.about == "servers" {
		s.told = &witness{signIns: map[string]string{}, known: map[string]string{}}
		if _, _, err := s.hub.Attach(hub.Hello{WindowID: "witness"}, s.told); err != nil {
			s.t.Fatal(err)
		}
	}
}

// close cancels what is open and ends the hub, in which nothing may be left then.
func (s *stage) close() {
	if s.world == nil {
		return
	}
	for _, a := range s.actors {
		if a.resume != nil {
			a.resume()
			a.resume = nil
		}
	}
	s.hub.CancelRequests(hub.CancelScope{All: true}, "the end", event.OriginHost)
	pass(2 * time.Minute) // outcomes of cancels, and answers that wait for withdrawals
	if len(s.openOrders()) == 0 {
		s.nothingLeft()
	}
	s.hub.Drain(forGood, "")
	s.nothingLeft()
	for _, id := range s.callIDs {
		if !s.calls[id].over() {
			s.t.Errorf("call %s does not end", id)
		}
	}
	if err := s.hub.Close(forGood); err != nil {
		s.t.Error(err)
	}
	synctest.Wait()
	if open := s.openOrders(); len(open) > 0 {
		s.t.Errorf("%s does not end", open[0].what)
	}
	s.callIDs, s.orders, s.asked, s.world, s.told = nil, nil, nil, nil, nil
	clear(s.views)
}

// ordered has an order carried out in the background.
func (s *stage) ordered(what string, do func() (string, error)) {
	o := &order{what: what, done: make(chan struct{})}
	s.orders = append(s.orders, o)
	go func() {
		defer close(o.done)
		said, err := do()
		if err != nil {
			said = errorWords(err)
		}
		o.said = said
	}()
}

func (s *stage) openOrders() []*order {
	return slices.DeleteFunc(slices.Clone(s.orders), func(o *order) bool {
		select {
		case <-o.done:
			return true
		default:
			return false
		}
	})
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

func (s *stage) say(format string, a ...any) { s.reply = append(s.reply, fmt.Sprintf(format, a...)) }

func (s *stage) trouble(who string, err error) {
	if err != nil {
		s.say("%s: %s", who, errorWords(err))
	}
}

func (s *stage) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *stage) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
