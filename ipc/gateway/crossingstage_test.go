package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// party is a server or a client of a script, which writes its lines.
type party struct {
	in    io.WriteCloser
	mu    sync.Mutex
	lines []string
	auto  map[string]string // results by method
	web   *webClient        // of a client over HTTP
	deaf  chan struct{}     // not nil while it does not read; closed when it reads again

	hangUp func() // of a server: ends its connection, as when its process exits
}

// hears makes a client that does not read go on, or stop reading.
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

// wait blocks while the client does not read.
func (p *party) wait() {
	p.mu.Lock()
	deaf := p.deaf
	p.mu.Unlock()
	if deaf != nil {
		<-deaf
	}
}

// ear is a reader that blocks while its client does not read.
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

// read reads what the party is sent, and answers the methods in auto.
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
	second  *gateway.Gateway
	atOther map[string]bool // clients of the second gateway

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
		onWeb: map[string]bool{}, atOther: map[string]bool{}}
	text, options := `{}`, gateway.Options{}
	for _, step := range steps {
		switch name, what, _ := strings.Cut(step.Name, " "); {
		case step.Name == "config":
			text = string(step.Data)
		case step.Name == "gateway":
			if err := json.Unmarshal(step.Data, &options); err != nil {
				t.Fatal(err)
			}
		case what == "second":
			s.atOther[name] = true
		case what == "http":
			s.onWeb[name] = true
		case what == "offers":
			s.offers[name] = map[string]string{"notifications/initialized": ""}
			s.order = append(s.order, name) // servers start concurrently: the order is fixed here
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
	if len(s.atOther) > 0 {
		if s.second, err = gateway.New(s.hub, options); err != nil {
			t.Fatal(err)
		}
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
		p.hangUp = func() { _, _ = fromServer.Close(), toServer.Close() }
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
	if s.parties[name] == nil && s.offers[name] == nil {
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
	at := s.gateway
	if s.atOther[name] {
		at = s.second
	}
	s.running.Go(func() {
		err := at.Serve(context.Background(), jsonrpc.NewLineConn(toGateway, fromGateway, jsonrpc.LineConnOptions{
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
	if s.second != nil {
		s.second.Close(nil)
	}
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
