package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// wireMessage is what raw clients read of a message.
type wireMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func readWire(text []byte) (m wireMessage) {
	_ = json.Unmarshal(text, &m)
	return m
}

// round is a result of 2026-07-28 that asks questions.
type round struct {
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState string
}

// asks returns the questions of a result, or nil if it is the last one of its call.
func (m wireMessage) asks() *round {
	r := &round{}
	if _ = json.Unmarshal(m.Result, r); len(r.InputRequests) == 0 {
		return nil
	}
	return r
}

// ended returns the ending of a call with this answer.
func (m wireMessage) ended() ending {
	if m.Error != nil {
		return ending{err: m.Error.Message, answered: true}
	}
	var result struct{ Content []struct{ Text string } }
	_ = json.Unmarshal(m.Result, &result)
	e := ending{answered: m.asks() == nil}
	for _, c := range result.Content {
		e.text += c.Text
	}
	return e
}

const (
	rawCapabilities = `{"elicitation":{"form":{}},"sampling":{}}`
	rawInitialize   = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":` + rawCapabilities + `,"clientInfo":{"name":"raw %d","version":"1"}}}`
	rawInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// toolCall returns the message of a call. more are further members of params.
func toolCall(id int64, o order, client int, era, more string) string {
	meta := fmt.Sprintf("%q:%q", peers.TagKey, o.Tag)
	if era == modern {
		meta += fmt.Sprintf(`,"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"raw %d","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":%s`, client, rawCapabilities)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}%s}}`,
		id, o.Tool, o.Arguments, meta, more)
}

func cancelOf(id int64, reason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":%q}}`, id,
		reason)
}

// answerTo returns the result that answers a question of either kind.
func answerTo(tag string) string {
	text := "answer of " + tag
	return fmt.Sprintf(`{"action":"accept","content":{"name":%q},"model":"m","role":"assistant"}`, text)
}

// sampled is the same for sampling.
func sampled(tag string) string {
	return fmt.Sprintf(`{"model":"m","role":"assistant","content":{"type":"text","text":%q}}`, "answer of "+tag)
}

func answerOf(method, tag string) string {
	if method == "sampling/createMessage" {
		return sampled(tag)
	}
	return answerTo(tag)
}

// askedOne is the half of a raw client that is asked: it opens, answers and closes dialogs.
type askedOne struct {
	*crossing
	index  int
	orders sync.Map             // by tag
	say    func(message string) // sends a message, however often that takes

	meets     sync.Mutex // of a question and its withdrawal; guards what follows
	withdrawn map[string]int
}

// stream returns the number of a stream that is asked for now, which asked takes.
func (a *askedOne) stream() int {
	a.meets.Lock()
	defer a.meets.Unlock()
	return len(a.withdrawn)
}

// show opens the dialog of a question that came on a stream. When a stream is cut the withdrawal comes on another one,
// and is read at the same time as what was still on its way here.
func (a *askedOne) show(id, question string, stream int) (tag string, open bool) {
	a.meets.Lock()
	defer a.meets.Unlock()
	if n, was := a.withdrawn[id]; !was {
		return a.opens(a.index, id, question), true
	} else if stream >= n {
		a.bad("a question came on a stream that was opened after its withdrawal", "%s", question)
	}
	return "", false
}

// withdraw closes a dialog. If it is unknown nothing else happens, as at other clients.
func (a *askedOne) withdraw(id string) {
	a.meets.Lock()
	defer a.meets.Unlock()
	if a.closes(a.index, id) {
		return
	}
	if a.withdrawn == nil {
		a.withdrawn = map[string]int{}
	}
	if _, was := a.withdrawn[id]; !was {
		a.withdrawn[id] = len(a.withdrawn) + 1
	}
}

// asked takes a message of the gateway that is no answer, and that came on a stream.
func (a *askedOne) asked(m wireMessage, stream int) {
	switch m.Method {
	case "elicitation/create", "sampling/createMessage":
		id := string(m.ID)
		tag, open := a.show(id, string(m.Params), stream)
		if !open {
			return
		}
		wait := -1.0
		if o, known := a.orders.Load(tag); known {
			wait = o.(order).AnswerAfter
		}
		after(wait, func() {
			if a.closes(a.index, id) {
				a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, answerOf(m.Method, tag)))
			}
		})
	case "notifications/cancelled":
		var params struct{ RequestID json.RawMessage }
		_ = json.Unmarshal(m.Params, &params)
		a.withdraw(string(params.RequestID))
	}
}

// rawSession is a client of 2025-11-25 over HTTP.
type rawSession struct {
	askedOne
	http  *http.Client
	id    string
	calls atomic.Int64
	ctx   context.Context
	leave context.CancelCauseFunc
	work  sync.WaitGroup
}

func (c *crossing) openSession(client int) *rawSession {
	c.t.Helper()
	s := &rawSession{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	s.askedOne = askedOne{crossing: c, index: client, say: s.sends}
	s.ctx, s.leave = context.WithCancelCause(context.Background())
	c.t.Cleanup(s.close)
	for s.id == "" { // a connection may be cut
		if r, err := s.send(s.ctx, http.MethodPost, fmt.Sprintf(rawInitialize, client), ""); err == nil {
			s.id = r.Header.Get("Mcp-Session-Id")
			_ = r.Body.Close()
		}
	}
	s.sends(rawInitialized)
	s.work.Go(func() {
		for last := ""; s.ctx.Err() == nil; {
			stream := s.stream()
			if r, err := s.send(s.ctx, http.MethodGet, "", last); err == nil {
				_ = s.read(r, &last, func(m wireMessage) { s.asked(m, stream) })
			}
		}
	})
	return s
}

func (s *rawSession) send(ctx context.Context, method, body, lastEvent string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token},
		"Accept": {"application/json, text/event-stream"}}
	if s.id != "" {
		r.Header.Set("Mcp-Session-Id", s.id)
	}
	if lastEvent != "" {
		r.Header.Set("Last-Event-Id", lastEvent)
	}
	return s.http.Do(r)
}

// sends posts a message until it was taken.
func (s *rawSession) sends(message string) {
	for s.ctx.Err() == nil {
		r, err := s.send(s.ctx, http.MethodPost, message, "")
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode != http.StatusAccepted {
				s.bad("a message was refused", "%s: %s", message, r.Status)
			}
			return
		}
	}
}

// read reads a stream to its end, since withdrawals may come behind the answer, or an ordinary response. last is the id
// of the last event.
func (s *rawSession) read(r *http.Response, last *string, take func(wireMessage)) error {
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errRefused
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			take(readWire(text))
		}
		return err
	}
	lines := bufio.NewReader(r.Body)
	id, data := "", ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": "); name {
		case "id":
			id = value
		case "data":
			data = value
		case "":
			*last = id
			if data != "" {
				take(readWire([]byte(data)))
			}
			data = ""
		}
	}
}

var errRefused = errors.New("the gateway refused it")

// call makes a call, and comes back to its stream as long as it is neither answered nor cancelled.
func (s *rawSession) call(o order) ending {
	s.orders.Store(o.Tag, o)
	id := s.calls.Add(1)
	ctx, leave := context.WithCancelCause(s.ctx)
	defer leave(nil)
	var mu sync.Mutex // guards e, and done
	var e ending
	done := false
	told, read := make(chan struct{}), make(chan struct{}) // read: nothing is read any more
	cancel := func() {
		defer close(told)
		mu.Lock()
		if done {
			mu.Unlock()
			return
		}
		e.cancelled = true
		mu.Unlock()
		if o.Choice == 1 { // leaves the stream. What it has read comes before all that it reads on another one then.
			leave(errLeft)
			<-read
		}
		s.sends(cancelOf(id, o.Reason))
		if o.Choice == 2 {
			s.sends(cancelOf(id, "once more"))
		}
	}
	stop := func() bool { return false }
	if o.Choice == 3 && o.CancelAfter >= 0 && o.CancelAfter < 2 { // the cancel is read before its call
		cancel()
	} else {
		stop = after(o.CancelAfter, cancel)
	}
	stream := s.stream()
	take := func(m wireMessage) {
		if m.Method != "" {
			s.asked(m, stream)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		done = true
		was := e.cancelled
		e = m.ended()
		e.cancelled = was
	}
	last := ""
	r, err := s.send(ctx, http.MethodPost, toolCall(id, o, s.index, legacy, ""), "")
	if err == nil {
		err = s.read(r, &last, take)
	}
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return done || e.cancelled
	}
	for err != nil && !over() && last != "" && !errors.Is(err, errRefused) && ctx.Err() == nil {
		stream = s.stream()
		if r, err = s.send(ctx, http.MethodGet, "", last); err == nil {
			err = s.read(r, &last, take)
		}
	}
	close(read)
	if stop() { // answered, or nobody will answer
		mu.Lock()
		lost := !done
		mu.Unlock()
		if lost {
			cancel()
			mu.Lock()
			e.lost = true
			mu.Unlock()
		}
	} else if o.CancelAfter >= 0 {
		<-told
	}
	mu.Lock()
	defer mu.Unlock()
	if !done && !e.cancelled {
		e.lost = true
	}
	return e
}

func (s *rawSession) close() {
	s.leave(errLeft)
	s.work.Wait()
	s.http.CloseIdleConnections()
}

// rawExchanges is a client of 2026-07-28 over HTTP, one connection for each request. It knows what it has read when it
// closes.
type rawExchanges struct {
	*crossing
	client int
	calls  atomic.Int64
}

func (x *rawExchanges) call(o order) ending {
	stopped := make(chan struct{})
	defer after(o.CancelAfter, func() { close(stopped) })()
	more := ""
	for {
		id := x.calls.Add(1)
		m, came := x.exchange(toolCall(id, o, x.client, modern, more), o.Tool, stopped)
		select {
		case <-stopped:
			if !came {
				return ending{cancelled: true, waits: x.is(cut)} // what cuts may have the round
			}
		default:
			if !came && x.is(cut) { // which is the cancel
				return ending{cancelled: true, lost: true, waits: true}
			} else if !came {
				return ending{err: "no answer came"}
			}
		}
		r := m.asks()
		if r == nil {
			return m.ended()
		}
		answered, retry := x.round(x.client, id, r, o, stopped, nil)
		if !answered {
			return ending{cancelled: true, waits: true}
		}
		more = retry
	}
}

// round shows the questions of a round until they are answered, or until stopped or ended is closed. more are the
// members of the retry's params.
func (c *crossing) round(client int, id int64, r *round, o order, stopped, ended <-chan struct{}) (answered bool,
	more string) {
	answers := map[string]json.RawMessage{}
	for key, q := range r.InputRequests {
		dialog := fmt.Sprint(id, key)
		tag := c.opens(client, dialog, string(q.Params))
		defer c.closes(client, dialog)
		answers[key] = json.RawMessage(answerOf(q.Method, tag))
	}
	due := make(chan struct{})
	defer after(o.AnswerAfter, func() { close(due) })()
	select {
	case <-stopped:
		return false, ""
	case <-ended:
		return false, ""
	case <-due:
	}
	text, err := json.Marshal(answers)
	if err != nil {
		c.t.Error(err)
	}
	return true, fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, r.RequestState, text)
}

// exchange sends a request and reads the answer. If it is stopped it reads no more, and closes the connection. came
// says that the whole answer was read.
func (x *rawExchanges) exchange(body, tool string, stopped <-chan struct{}) (m wireMessage, came bool) {
	at, err := url.Parse(x.address)
	if err != nil {
		x.t.Error(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return m, false
	}
	defer conn.Close()
	over := make(chan struct{})
	var watch sync.WaitGroup
	defer watch.Wait()
	defer close(over)
	watch.Go(func() {
		select {
		case <-stopped:
			_ = conn.SetReadDeadline(time.Unix(1, 0)) // ends the read that is on its way
		case <-over:
		}
	})
	r, err := http.NewRequest(http.MethodPost, x.address, strings.NewReader(body))
	if err != nil {
		x.t.Error(err)
	}
	r.Close = true
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + x.token},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"},
		"Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}}
	if err := r.Write(conn); err != nil {
		return m, false
	}
	// What was read is answered only when all of it was read, whatever is buffered.
	response, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return m, false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return m, false
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		_, data, _ := bytes.Cut(text, []byte("data: "))
		if bytes.Count(text, []byte("data: ")) != 1 {
			x.bad("an answer is not one event", "%q", text)
		}
		text = bytes.TrimSpace(data)
	}
	return readWire(text), true
}

func (x *rawExchanges) close() {}

// rawPipe is a client of either era on pipes.
type rawPipe struct {
	askedOne
	in    *os.File
	calls atomic.Int64
	ended chan struct{} // closed when nothing comes any more

	mu      sync.Mutex // guards what follows, and writes
	waiting map[string]func(wireMessage)
}

func (c *crossing) openPipe(client int) *rawPipe {
	c.t.Helper()
	toGateway, in, err1 := os.Pipe()
	out, fromGateway, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		c.t.Fatal(err)
	}
	p := &rawPipe{in: in, ended: make(chan struct{}), waiting: map[string]func(wireMessage){}}
	p.askedOne = askedOne{crossing: c, index: client, say: p.write}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if c.is(built) {
			c.runBuilt(toGateway, fromGateway)
			return
		}
		_ = c.at.Gateway.Serve(context.Background(), jsonrpc.NewLineConn(toGateway, fromGateway,
			jsonrpc.LineConnOptions{Close: func() error { return errors.Join(toGateway.Close(), fromGateway.Close()) }}))
	}()
	go func() {
		defer close(p.ended)
		defer out.Close()
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.heard(readWire(lines.Bytes()))
		}
	}()
	c.t.Cleanup(func() {
		p.close()
		<-served
	})
	if c.era == legacy {
		<-p.request(`"i"`, fmt.Sprintf(rawInitialize, client))
		p.write(rawInitialized)
	}
	return p
}

func (p *rawPipe) write(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.in, line+"\n") // if it has ended, so have its calls
}

func (p *rawPipe) heard(m wireMessage) {
	if m.Method != "" {
		p.asked(m, math.MaxInt) // in order: there is no other stream
		return
	}
	p.mu.Lock()
	take := p.waiting[string(m.ID)]
	p.mu.Unlock()
	if take == nil {
		p.bad("an answer came to no request", "%s %s", m.ID, m.Result)
		return
	}
	take(m)
}

// request sends a request. Its answer comes on the channel.
func (p *rawPipe) request(id, message string) <-chan wireMessage {
	answer := make(chan wireMessage, 1)
	p.mu.Lock()
	p.waiting[id] = func(m wireMessage) { answer <- m }
	p.mu.Unlock()
	p.write(message)
	return answer
}

func (p *rawPipe) call(o order) ending {
	p.orders.Store(o.Tag, o)
	stopped := make(chan struct{})
	defer after(o.CancelAfter, func() { close(stopped) })()
	more := ""
	for {
		id := p.calls.Add(1)
		answer := p.request(fmt.Sprint(id), toolCall(id, o, p.index, p.era, more))
		select {
		case <-p.ended:
			return ending{lost: true}
		case <-stopped:
			return p.cancels(id, o)
		case m := <-answer:
			r := m.asks()
			if r == nil {
				return m.ended()
			}
			answered, retry := p.round(p.index, id, r, o, stopped, p.ended)
			if !answered {
				return p.cancels(id, o)
			}
			more = retry
		}
	}
}

// cancels sends a cancel. An answer may cross it.
func (p *rawPipe) cancels(id int64, o order) ending {
	p.mu.Lock()
	p.waiting[fmt.Sprint(id)] = func(m wireMessage) { p.late(o.Tag, m.ended()) }
	p.mu.Unlock()
	p.write(cancelOf(id, o.Reason))
	if o.Choice == 2 {
		p.write(cancelOf(id, "once more"))
	}
	return ending{cancelled: true}
}

func (p *rawPipe) close() {
	p.mu.Lock()
	_ = p.in.Close()
	p.mu.Unlock()
	<-p.ended
}

// cutting returns an address that leads to another one, through connections of which all are cut every 100 ms from the
// call of begin on: some are reset and some are closed. over counts the calls that have ended: if none has since the
// last cut, the next one comes 2 s after that.
func cutting(t *testing.T, address string, over *atomic.Int64) (to string, begin func()) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	cutAll := func() {
		mu.Lock()
		defer mu.Unlock()
		for conn := range conns {
			if len(conns)%2 == 0 {
				_ = conn.(*net.TCPConn).SetLinger(0)
			}
			_ = conn.Close()
			delete(conns, conn)
		}
	}
	add := func(conn net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		conns[conn] = true
	}
	var work sync.WaitGroup
	begins, ends := make(chan struct{}), make(chan struct{})
	work.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		begun := begins
		var last time.Time
		var before int64
		for {
			select {
			case <-begun:
				begun = nil
			case <-tick.C:
				// Where nothing gets to its end between two cuts, more cuts show nothing.
				if now := over.Load(); begun == nil && (now != before || time.Since(last) >= 2*time.Second) {
					last, before = time.Now(), now
					cutAll()
				}
			case <-ends:
				return
			}
		}
	})
	work.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.DialTimeout("tcp", target.Host, faketime.Long)
			if err != nil {
				_ = from.Close()
				continue
			}
			add(from)
			add(to)
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				work.Go(func() {
					_, _ = io.Copy(pair[1], pair[0])
					_ = pair[0].Close()
					_ = pair[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		close(ends)
		_ = listener.Close()
		cutAll()
		work.Wait()
	})
	address = (&url.URL{Scheme: target.Scheme, Host: listener.Addr().String(), Path: target.Path}).String()
	return address, sync.OnceFunc(func() { close(begins) })
}
