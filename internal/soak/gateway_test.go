package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// lane is one kind of client that calls one kind of server through a gateway. Beside that server stands always a raw
// one, to which a quarter of the calls goes.
type lane struct {
	client, way, era string // way: http or stdio
	server           string // name of a subject
	clients          int    // how many there are at the same time
	atOnce           int    // calls at a time of each
	how              string // what is special
}

// What is special of a lane: together they are joined.
const (
	cut    = ", cut"            // every 100 ms all connections are cut, on a busy machine less often
	killed = ", killed"         // the last client is killed in the middle
	built  = ", as it is built" // through mcphub mcp, and not through a gateway in the process of the test
)

func (l *lane) is(how string) bool { return strings.Contains(l.how, how) }

const (
	typescript = "typescript2"
	gosdk      = "gosdk"
	raw        = "raw"
)

var lanes = []lane{
	{typescript, "http", legacy, "raw/stdio/legacy", 1, 1, ""},
	{typescript, "http", legacy, "typescript2/http/legacy", 1, 8, ""},
	{typescript, "http", legacy, "gosdk/stdio/modern", 2, 8, ""},
	{typescript, "http", legacy, "typescript2/stdio/legacy", 2, 8, killed},
	{typescript, "http", legacy, "gosdk/http/legacy", 2, 8, cut},
	{typescript, "http", modern, "raw/stdio/modern", 1, 1, ""},
	{typescript, "http", modern, "gosdk/http/legacy", 1, 8, ""},
	{typescript, "http", modern, "typescript2/http/modern", 2, 8, killed},
	{typescript, "http", modern, "gosdk/http/legacy", 2, 8, cut},
	{gosdk, "http", legacy, "typescript2/stdio/legacy", 1, 8, ""},
	{gosdk, "http", modern, "gosdk/http/modern", 2, 8, ""},
	{raw, "http", legacy, "raw/stdio/legacy", 1, 8, ""},
	{raw, "http", legacy, "gosdk/stdio/legacy", 2, 8, cut},
	{raw, "http", legacy, "typescript2/stdio/modern", 1, 8, cut},
	{raw, "http", modern, "raw/stdio/modern", 1, 8, ""},
	{raw, "http", modern, "gosdk/http/legacy", 2, 8, cut},
	{raw, "stdio", legacy, "raw/stdio/legacy", 1, 8, ""},
	{raw, "stdio", legacy, "typescript2/http/modern", 2, 8, killed},
	{raw, "stdio", modern, "typescript2/stdio/legacy", 1, 8, ""},
	{raw, "stdio", modern, "raw/stdio/modern", 2, 8, killed},
	{typescript, "http", legacy, "typescript2/http/modern", 2, 8, built},
	{raw, "http", modern, "gosdk/http/legacy", 2, 8, built + cut},
	{raw, "stdio", legacy, "gosdk/http/legacy", 2, 8, built + killed},
}

func (l *lane) String() string {
	return fmt.Sprintf("%s/%s/%s to %s%s", l.client, l.way, l.era, l.server, l.how)
}

// subject returns the server of the lane.
func (l *lane) subject() *subject {
	for i := range subjects {
		if subjects[i].String() == l.server {
			return &subjects[i]
		}
	}
	_, era, _ := strings.Cut(l.server, "raw/stdio/")
	return &subject{name: raw, transport: "stdio", era: era}
}

// order is one call that a client makes. The times are in milliseconds.
type order struct {
	Tag         string          `json:"tag"`
	Tool        string          `json:"tool"`
	Arguments   json.RawMessage `json:"arguments"`
	CancelAfter float64         `json:"cancelAfter"` // below 0: never
	Reason      string          `json:"reason"`
	AnswerAfter float64         `json:"answerAfter"` // of its question; below 0: never
	Choice      int             `json:"-"`           // for what only some clients do
}

// ending is what became of a call at its client.
type ending struct {
	text, err string
	answered  bool // an answer came, maybe after the cancel
	cancelled bool // before an answer came
	lost      bool // it is not known, since the client was killed or a connection cut
	// waits: the client had a round of questions when it gave up, which nobody learns over HTTP. Unknown of SDKs.
	waits bool
}

// caller is a client that makes calls. call may be called concurrently.
type caller interface {
	call(o order) ending
	close() // abruptly
}

// dialogs are the questions that are open at the clients of a lane.
type dialogs struct {
	*violations
	mu     sync.Mutex
	open   map[string]string // the tag of the call that asks, by client and id
	asked  map[string]bool   // by tag
	opened int
}

func (d *dialogs) opens(client int, id, question string) (tag string) {
	tag = tagged.FindString(question)
	if tag != "" && !strings.HasPrefix(tag, fmt.Sprintf("t%dx", client)) {
		d.bad("a question of another client's call", "%s at client %d", question, client)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[fmt.Sprintf("%d/%s", client, id)] = tag
	d.asked[tag] = true
	d.opened++
	return tag
}

// closes reports whether the dialog was open.
func (d *dialogs) closes(client int, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fmt.Sprintf("%d/%s", client, id)
	_, open := d.open[key]
	delete(d.open, key)
	return open
}

// gone closes the dialogs of a client that was killed.
func (d *dialogs) gone(client int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.open, func(key, _ string) bool { return strings.HasPrefix(key, fmt.Sprintf("%d/", client)) })
}

// count returns how many dialogs were opened. A client that has gone on after its calls may open one now.
func (d *dialogs) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

func (d *dialogs) left() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Values(d.open))
}

// crossing is one run of a lane.
type crossing struct {
	*lane
	violations
	dialogs
	t       *testing.T
	witness *witness
	hub     *hub.Hub
	at      *gateway.Endpoint
	address string
	token   string
	orders  [][]order // of each client
	begun   time.Time

	beginCuts func()       // nil if nothing is cut
	over      atomic.Int64 // how many calls are over
	config    string       // file of mcphub mcp
	process   *exec.Cmd

	mu      sync.Mutex // guards what follows
	endings map[string]ending
	crossed map[string]ending // answers that came after the cancel

	cancels, left, ranOn, waiting, refused, outOfOrder int
	reasons                                            map[string]int // of what was refused
}

// TestGatewayAtRandomMoments: what the hub promises holds for the clients of a gateway, whatever the moment at which
// they cancel. A cancel arrives at most once, at the right server, with the client's reason; no call that was cancelled
// runs on or is answered; no dialog stays open; nothing of one client reaches another; nothing is left.
func TestGatewayAtRandomMoments(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-soak.seed %d", seed)
	only := regexp.MustCompile(*onlyFlag)
	for i := range lanes {
		l := &lanes[i]
		if !only.MatchString(l.String()) {
			continue
		}
		before := runtime.NumGoroutine()
		t.Run(l.String(), func(t *testing.T) {
			c := cross(t, l, rand.New(rand.NewPCG(seed, uint64(2000+i))), *crossingsFlag)
			t.Logf("%s", c)
			c.report(t, l, seed)
		})
		if *crossingsFlag <= shortCrossings { // the short form counts nothing of the process
			continue
		}
		before++ // the goroutine that starts processes stays
		until(func() bool { return runtime.NumGoroutine() <= before })
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%s: %d goroutines are left, %d at the start:\n%s", l, n, before, stacks())
		}
	}
}

// cross makes the calls of a lane and judges them.
func cross(t *testing.T, l *lane, rng *rand.Rand, calls int) *crossing {
	t.Helper()
	c := &crossing{lane: l, t: t, witness: newWitness(), endings: map[string]ending{},
		crossed: map[string]ending{}, reasons: map[string]int{}}
	c.dialogs = dialogs{violations: &c.violations, open: map[string]string{}, asked: map[string]bool{}}
	c.serve()
	callers := make([]caller, l.clients)
	for i := range callers {
		callers[i] = c.connect(i)
	}
	if c.is(cut) {
		c.beginCuts()
	}
	for i := range callers {
		c.orders = append(c.orders, c.order(rng, i, calls/l.clients))
		for _, tool := range []string{"s__slow", "b__slow"} { // its servers are ready
			c.pass(callers[i], i, "first", tool)
		}
	}
	c.begun = time.Now()
	victim := -1
	if l.is(killed) {
		victim = l.clients - 1
	}
	var all sync.WaitGroup
	for i, caller := range callers {
		next := make(chan order)
		for range l.atOnce {
			all.Go(func() {
				for o := range next {
					e := caller.call(o)
					e.waits = e.waits && !strings.HasSuffix(o.Tool, "slow") // which asks nothing
					c.mu.Lock()
					c.endings[o.Tag] = e
					c.mu.Unlock()
					c.over.Add(1)
				}
			})
		}
		all.Go(func() {
			defer close(next)
			for n, o := range c.orders[i] {
				if i == victim && n == len(c.orders[i])/2 {
					caller.close()
					c.orders[i] = c.orders[i][:n]
					return
				}
				next <- o
			}
		})
	}
	all.Wait()
	for i, caller := range callers {
		if i == victim {
			c.dialogs.gone(i)
		} else {
			c.pass(caller, i, "last", "s__slow")
		}
	}
	c.settle()
	for i, caller := range callers {
		if i != victim {
			caller.close()
		}
	}
	until(func() bool { return c.witness.strays() == 0 }) // a call may have been read, and not recorded
	c.end()
	for i := range c.orders {
		for _, o := range c.orders[i] {
			e := c.endings[o.Tag]
			if late, came := c.crossed[o.Tag]; came {
				e.answered, e.text = late.answered, late.text
			}
			c.judge(o, e, i == victim)
		}
	}
	// A call whose cancel did not wait for a busy server to read it, over HTTP, may never be read.
	if n := c.witness.strays(); n > 0 && (c.subject().transport != "http" || n > c.outOfOrder) {
		c.bad("a cancel names a request that the server does not have", "%d", n)
	}
	return c
}

// serve opens the hub with both servers, and the gateway.
func (c *crossing) serve() {
	t := c.t
	if c.is(built) {
		c.serveBuilt()
	} else {
		c.serveHere()
	}
	if c.is(cut) {
		c.address, c.beginCuts = cutting(t, c.address, &c.over)
		if c.client == raw { // the SDK waits for ever for what was cut while it connects
			c.beginCuts()
		}
	}
}

func (c *crossing) serveHere() {
	t := c.t
	entry, open := c.subject().connect(t, c.witness)
	besideEntry, beside := (&subject{name: raw, transport: "stdio", era: legacy}).connect(t, c.witness)
	o := hub.Options{Logger: slog.New(slog.DiscardHandler), Open: func(s config.Server, stderr func(string)) mcp.Opener {
		switch {
		case s.Name == "b":
			return beside(s, stderr)
		case open == nil:
			return nil
		}
		return open(s, stderr)
	}}
	c.hub = load(t, o, fmt.Sprintf(`"s":%s,"b":%s`, entry, besideEntry))
	for _, name := range []string{"s", "b"} {
		if _, err := c.hub.StartServer(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	bounds := mcpserver.Bounds{Stall: faketime.Long}
	if c.is(killed) {
		bounds.Idle = time.Second // a session whose client was killed ends
	}
	g, err := gateway.New(c.hub, gateway.Options{Bounds: bounds})
	if err != nil {
		t.Fatal(err)
	}
	if c.at, err = gateway.Listen(g, "127.0.0.1:0", ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.at.Close(nil) })
	c.address, c.token = c.at.URL, c.at.Token
}

// order chooses the calls of a client.
func (c *crossing) order(rng *rand.Rand, client, n int) (orders []order) {
	s := c.subject()
	most := float64(mostDelay / time.Millisecond)
	switch {
	case c.atOnce == 1 && c.era == legacy:
		most = 3
	case c.era == modern || c.client == gosdk: // a round takes its time, and so does what is instrumented
		most *= 3
	}
	for i := range n {
		tag := fmt.Sprintf("t%dx%dz", client, i)
		o := order{Tag: tag, CancelAfter: rng.Float64() * most, Reason: "because of " + tag, AnswerAfter: -1,
			Choice: rng.IntN(4)}
		if rng.IntN(4) == 0 {
			o.AnswerAfter = rng.Float64() * most / 2
		}
		to, era := "s__", s.era
		if rng.IntN(4) == 0 {
			to, era = "b__", legacy
		}
		switch what := rng.IntN(8); {
		case what == 0 && era == legacy:
			o.Tool, o.Arguments = to+"ask_then_withdraw", json.RawMessage(fmt.Sprintf(`{"after":%d}`, 1+rng.IntN(15)))
		case what < 4:
			o.Tool, o.Arguments = to+"ask", json.RawMessage(fmt.Sprintf(`{"about":%q}`, tag))
		case what < 6:
			o.Tool, o.Arguments = to+"sample", json.RawMessage(fmt.Sprintf(`{"prompt":%q}`, tag))
		default: // of a minute and more, so that it is seen if it runs on
			o.Tool, o.Arguments = to+"slow", json.RawMessage(`{"ms":600000,"steps":60000}`)
		}
		orders = append(orders, o)
	}
	return orders
}

// pass makes a call that nobody cancels. A client of 2026-07-28 on a pipe may be asked in it what a call that was
// cancelled just before asks, and answers.
func (c *crossing) pass(from caller, client int, when, tool string) {
	o := order{Tag: fmt.Sprintf("%s-%d", when, client), Tool: tool, CancelAfter: -1,
		Arguments: json.RawMessage(`{"ms":1,"steps":1}`)}
	if c.is(cut) && c.client == typescript { // which waits for the rest of a stream that was cut before its first event
		o.CancelAfter = 1000
	}
	e := from.call(o)
	for c.is(cut) && (e.lost || e.cancelled) {
		e = from.call(o)
	}
	if e.err != "" || e.text != "done" {
		c.bad("a call that nobody cancelled failed", "%s %s: %+v", when, tool, e)
	}
}

// settle waits until nothing runs and no dialog is open, but for the calls that wait for a retry.
func (c *crossing) settle() {
	// A client that leaves a stream may handle a question that it has read there after the withdrawal that it reads on
	// the other stream. The Go SDK does.
	most := 0
	if c.era == legacy && c.client == gosdk {
		most = 1 + c.dialogs.count()/100
	}
	until(func() bool { return len(c.running()) == 0 && len(c.dialogs.left()) <= most && len(c.notOver()) == 0 })
	c.left = len(c.dialogs.left())
	if c.left > most {
		c.bad("dialogs are open when all calls are over", "%d of %v", c.left, c.dialogs.left())
	}
	if r := c.running(); len(r) > 0 {
		c.bad("requests are left in the hub", "%d, such as %+v", len(r), r[0])
	}
	over := c.notOver()
	c.ranOn = len(over)
	if c.ranOn > 0 {
		c.bad("cancelled calls run on", "%d, such as %s", c.ranOn, over[0])
	}
	if c.is(built) {
		return
	}
	for _, r := range c.hub.Requests("") {
		if r.ParentRequestID == "" {
			c.waiting++
		}
	}
}

// running returns the requests that the hub has open, without those that wait for the retry of a client.
func (c *crossing) running() []event.RequestInfo {
	if c.is(built) {
		return nil
	}
	waits := map[string]bool{}
	return slices.DeleteFunc(c.hub.Requests(""), func(r event.RequestInfo) bool {
		if c.mayWait(tagged.FindString(r.Preview)) || waits[r.ParentRequestID] {
			waits[r.ID] = true
		}
		return waits[r.ID]
	})
}

// late notes an answer that came after the cancel of its call.
func (c *crossing) late(tag string, e ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crossed[tag] = e
}

// mayWait reports whether the gateway cannot know that a call is over for its client.
func (c *crossing) mayWait(tag string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return tag != "" && c.endings[tag].waits
}

// notOver returns the calls that run at a server.
func (c *crossing) notOver() (list []string) {
	for _, orders := range c.orders {
		for _, o := range orders {
			seen := c.witness.of(o.Tag)
			if len(seen) == 0 || c.mayWait(o.Tag) {
				continue
			}
			if last := seen[len(seen)-1]; last.cancels == 0 && !last.closed && !last.answered {
				list = append(list, fmt.Sprintf("%s %s: %+v, %+v", o.Tag, o.Tool, c.endings[o.Tag], seen))
			}
		}
	}
	return list
}

// until polls until holds returns true, or until it is plain that it never will.
func until(holds func() bool) {
	late := time.NewTimer(*patienceFlag)
	defer late.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-late.C:
			return
		case <-look.C:
		}
	}
}

// end closes the gateway and the hub, and checks that nothing is left.
func (c *crossing) end() {
	if c.is(built) {
		c.endBuilt()
	} else {
		c.at.Close(nil)
		if n := c.at.Gateway.Clients(); n > 0 {
			c.bad("clients are left", "%d", n)
		}
	}
	for tag, e := range c.endings { // nothing waits any more
		e.waits = false
		c.endings[tag] = e
	}
	if c.is(built) {
		until(func() bool { return len(c.notOver()) == 0 })
		if run := c.notOver(); len(run) > c.ranOn {
			c.bad("requests are left at the end", "%d at servers: %v", len(run), run)
		}
		return
	}
	until(func() bool { return len(c.hub.Requests("")) == 0 && len(c.notOver()) == 0 })
	if left, run := c.hub.Requests(""), c.notOver(); len(left)+len(run) > c.ranOn {
		c.bad("requests are left at the end", "%d in the hub: %+v; %d at servers: %v", len(left), left, len(run), run)
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), faketime.Long, errors.New("the hub did not close"))
	defer stop()
	if err := c.hub.Close(ctx); err != nil {
		c.bad("the hub did not close", "%v", err)
	}
}

// judge compares what a client saw of a call with what the servers saw.
func (c *crossing) judge(o order, e ending, gone bool) {
	seen := c.witness.of(o.Tag)
	if e.cancelled {
		c.cancels++
	}
	if e.err != "" && !e.cancelled && !e.lost {
		c.refused++
		c.reasons[tagged.ReplaceAllString(e.err, "TAG")]++
	}
	cancels := 0
	for _, x := range seen {
		cancels += x.cancels
		if strings.HasPrefix(x.session, "b#") != strings.HasPrefix(o.Tool, "b__") {
			c.bad("a call came to another server", "%s %s: %+v", o.Tag, o.Tool, seen)
		}
		if x.early > 0 {
			if c.subject().transport == "http" && x.first.Sub(c.begun) >= cancelDelay {
				c.outOfOrder++ // see runner.judge
			} else {
				c.bad("a cancel came before its call", "%s: %+v", o.Tag, seen)
			}
		}
		if x.calls > 1 {
			c.bad("a call was sent twice", "%s: %+v", o.Tag, seen)
		}
		for _, reason := range x.reasons {
			if !slices.Contains(c.expected(o, gone), reason) {
				c.bad("a cancel came with another reason", "%s: %q", o.Tag, reason)
			}
		}
	}
	if cancels > 1 {
		c.bad("two cancels for one call", "%s: %+v", o.Tag, seen)
	}
	if strings.Contains(e.text, lateAnswer) {
		c.bad("the answer to a cancelled call came", "%s: %q", o.Tag, e.text)
	}
	if e.cancelled && e.answered && cancels > 0 && !seen[len(seen)-1].answered {
		c.bad("a cancelled call was answered", "%s: %+v, %+v", o.Tag, e, seen)
	}
	for _, other := range tagged.FindAllString(e.text, -1) {
		if other != o.Tag {
			c.bad("a call got another one's answer", "%s: %q", o.Tag, e.text)
		}
	}
}

// expected returns the reasons with which the servers may hear of a cancel.
func (c *crossing) expected(o order, gone bool) []string {
	var reasons []string
	switch {
	case c.era == modern && c.way == "http": // which sends no reasons
		reasons = []string{"the client closed the stream", mcpserver.ErrGaveWay.Error(), gateway.ErrClosed.Error()}
	case c.client == gosdk:
		reasons = []string{"context canceled"}
	default:
		reasons = []string{o.Reason}
	}
	if gone {
		reasons = append(reasons, "the client is gone", mcpserver.ErrIdle.Error())
	}
	if c.is(built) { // whose end cancels what it had not heard of
		reasons = append(reasons, gateway.ErrClosed.Error(), "the hub is shutting down")
	}
	return reasons
}

func (c *crossing) String() string {
	calls := 0
	for _, orders := range c.orders {
		calls += len(orders)
	}
	text := fmt.Sprintf("%d calls, %d cancelled, %d dialogs, %d left open, %d ran on, %d waited for a retry, %d refused, "+
		"%d out of order", calls, c.cancels, c.dialogs.count(), c.left, c.ranOn, c.waiting, c.refused, c.outOfOrder)
	for _, reason := range slices.Sorted(maps.Keys(c.reasons)) {
		text += fmt.Sprintf("\n\trefused %d times: %.300s", c.reasons[reason], reason)
	}
	return text
}
