package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// settings are the folder and the variables of the commands that a test runs.
type settings struct {
	t    *testing.T
	dir  string
	path string // of the program

	inside bool     // the commands run in this process, so their variables are its own
	env    []string // of the commands, beside that of the tests; of one name the last counts
	unset  []string // names that the commands do not get from the tests
}

// program is the built binary under a name of its own, so that its processes can be told from those of other tests.
type program struct {
	*doortest.Place
	settings
}

// build returns the program. No process of it may be left at the end of the test.
func build(t *testing.T) *program {
	t.Helper()
	p := doortest.NewPlace(t)
	return &program{Place: p, settings: settings{t: t, dir: p.Dir, path: p.Mcphub()}}
}

// setenv sets a variable for each command that is started from now on. The tests' own environment stays as it is: most
// of them run at once.
func (s *settings) setenv(name, value string) {
	if s.inside {
		s.t.Setenv(name, value)
	}
	s.env = append(s.env, name+"="+value)
}

// unsetenv takes a variable of the tests' own environment away from each command that is started from now on.
func (s *settings) unsetenv(name string) {
	if s.inside {
		s.t.Setenv(name, "") // restores it at the end of the test
		os.Unsetenv(name)
	}
	s.unset = append(s.unset, name)
}

func (s *settings) environ() []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(s.unset, name)
	})
	return append(own, s.env...)
}

// command is one of the program, not started.
func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = p.environ()
	return cmd
}

// demoServer returns the command line of the demo server for --stdio. The server records what it receives in record.
func (p *settings) demoServer() (commandLine, record string) {
	record = filepath.Join(p.dir, "record.jsonl")
	return fmt.Sprintf("'%s' demo-server --record '%s'", p.path, record), record
}

// config writes a config file.
func (s *settings) config(name, text string) string {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// ended is how a command ended.
type ended struct {
	status         int
	stdout, stderr string
}

// run runs a command to its end, without a terminal.
func (p *program) run(args ...string) ended {
	p.t.Helper()
	e := p.Run(p.command(args...))
	return ended{e.Status, e.Stdout, e.Stderr}
}

// started is a command that runs.
type started struct {
	t              *testing.T
	stdout, stderr heard

	// a process
	cmd    *exec.Cmd // nil in this process
	output *os.File  // where its stdout is read
	copied chan struct{}

	// in this process
	said    heard // stdout and stderr, as they came
	signals chan os.Signal
	over    chan struct{} // closed at its end
	status  int
}

// heard keeps what a command writes, so that a test can wait for it. Safe for concurrent use.
type heard struct {
	// mu guards what follows.
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return h.text.Write(b)
}

func (h *heard) now() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.text.String(), h.changed
}

func (h *heard) String() string {
	s, _ := h.now()
	return s
}

// await waits until want was written.
func (h *heard) await(t *testing.T, want string) {
	t.Helper()
	h.line(t, want, func(line string) bool { return strings.Contains(line, want) })
}

// line waits for a line that fits, which may have no end yet, and returns the first one.
func (h *heard) line(t *testing.T, what string, fits func(line string) bool) string {
	t.Helper()
	bound := time.After(faketime.Long)
	for {
		s, changed := h.now()
		for line := range strings.Lines(s) {
			if fits(line) {
				return line
			}
		}
		select {
		case <-changed:
		case <-bound:
			t.Fatalf("it did not say %q but:\n%s", what, s)
		}
	}
}

// first waits for the first line.
func (h *heard) first(t *testing.T) string {
	t.Helper()
	line := h.line(t, "a line", func(line string) bool { return strings.HasSuffix(line, "\n") })
	return strings.TrimSuffix(line, "\n")
}

func (p *program) start(args ...string) *started { return p.startWith(nil, args...) }

// startWith starts a command with a standard input.
func (p *program) startWith(stdin *os.File, args ...string) *started {
	p.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	r := &started{t: p.t, cmd: p.command(args...), output: read, copied: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = write, &r.stderr
	if stdin != nil {
		r.cmd.Stdin = stdin
	}
	// A process that outlives the command must not block the test; its place finds it.
	r.cmd.WaitDelay = faketime.Long
	takeInterrupts(r.cmd)
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	write.Close()
	go func() {
		defer close(r.copied)
		_, _ = io.Copy(&r.stdout, read) // it ends with the process, or when the test closes it
	}()
	bound := time.AfterFunc(faketime.Long, func() {
		p.t.Errorf("mcphub %q took too long", args)
		r.cmd.Process.Kill()
	})
	p.t.Cleanup(func() {
		bound.Stop()
		read.Close()
		<-r.copied
	})
	return r
}

// interrupt is Ctrl-C.
func (r *started) interrupt() {
	r.t.Helper()
	if r.cmd == nil {
		r.signals <- os.Interrupt
		return
	}
	if err := sendInterrupt(r.cmd.Process); err != nil {
		r.cmd.Process.Kill()
		r.t.Fatal(err)
	}
}

func (r *started) wait() (status int) {
	r.t.Helper()
	if r.cmd == nil {
		<-r.over
		return r.status
	}
	err := r.cmd.Wait()
	<-r.copied
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		r.t.Fatalf("%v\n%s", err, r.stderr.String())
	}
	return r.cmd.ProcessState.ExitCode()
}

// read waits for the end of a command, and returns its status and its output.
func (r *started) read() ended {
	r.t.Helper()
	return ended{r.wait(), r.stdout.String(), r.stderr.String()}
}

// conversation is the output of mcphub call --json.
type conversation struct {
	events   []*mcphubv1.AttachResponse
	response *mcphubv1.CallToolResponse // set, or failure is
	failure  *failure
}

// readConversation reads every line strictly and checks what holds for each conversation: a welcome first, then a
// snapshot, one end for each request that started, one answer last.
func readConversation(t *testing.T, out string) conversation {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var c conversation
	ends := map[string]int{}
	for _, line := range lines[:len(lines)-1] {
		event := new(mcphubv1.AttachResponse)
		if err := protojson.Unmarshal([]byte(line), event); err != nil {
			t.Fatalf("a line is no AttachResponse: %v\n%s", err, line)
		}
		// The start of a session is a request too, but outlives the call that needed it.
		if r := event.GetMcpRequestStarted().GetRequest(); r != nil && r.GetMethod() != "initialize" {
			ends[r.GetRequestId()] += 0
		}
		if id := event.GetMcpRequestCancelled().GetRequestId() + event.GetMcpRequestFinished().GetRequestId(); id != "" {
			ends[id]++
		}
		c.events = append(c.events, event)
	}
	for id, n := range ends {
		if n != 1 {
			t.Errorf("request %s ended %d times", id, n)
		}
	}
	if len(c.events) > 0 && c.events[0].GetWelcome() == nil {
		t.Errorf("the first event is %v, not the welcome", c.events[0])
	}
	if len(c.events) > 1 && c.events[1].GetSnapshot() == nil {
		t.Errorf("the second event is %v, not the snapshot", c.events[1])
	}
	c.response, c.failure = lastLine(t, lines[len(lines)-1])
	return c
}

// lastLine reads the last line of mcphub call --json: exactly one of its two forms.
func lastLine(t *testing.T, line string) (*mcphubv1.CallToolResponse, *failure) {
	t.Helper()
	var answer struct {
		Response json.RawMessage `json:"callToolResponse"`
		Error    *failure        `json:"error"`
	}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil || (answer.Response == nil) == (answer.Error == nil) {
		t.Fatalf("the last line is neither response nor error: %v\n%s", err, line)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	response := new(mcphubv1.CallToolResponse)
	if err := protojson.Unmarshal(answer.Response, response); err != nil {
		t.Fatal(err)
	}
	return response, nil
}

// lastFailure returns the failure at the end of an output whose events are not checked.
func lastFailure(t *testing.T, out string) *failure {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	_, f := lastLine(t, lines[len(lines)-1])
	return f
}

// find returns what pick picks from the first event that has it.
func find[T any](c conversation, pick func(*mcphubv1.AttachResponse) (T, bool)) (T, bool) {
	for _, e := range c.events {
		if v, ok := pick(e); ok {
			return v, true
		}
	}
	var none T
	return none, false
}

// heardCancel checks that the demo server received exactly one cancel with this reason, and no second cancel of any
// request. Other requests may have cancels of their own: subscriptions/listen of a modern session ends with one.
func heardCancel(t *testing.T, record, reason string) {
	t.Helper()
	f, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reasons, ids := map[string]int{}, map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct {
			Event, Reason string
			ID            json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Event == "cancel_received" {
			reasons[e.Reason]++
			ids[string(e.ID)]++
		}
	}
	if reasons[reason] != 1 {
		t.Errorf("the server heard the reason %q %d times; all that it heard: %v", reason, reasons[reason], reasons)
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("the server heard %d cancels of the request %s", n, id)
		}
	}
}
