package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers/program"
)

// Server is a server process that lives as long as its test. Its methods may be called concurrently, but Wait only from
// the test's goroutine.
type Server struct {
	// URL is the Streamable HTTP endpoint, or "" if it has none.
	URL string
	// SSEURL is the endpoint of the transport of 2024-11-05, or "" if it has none.
	SSEURL string

	t     testing.TB
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process and its pipes have ended

	mu      sync.Mutex    // guards all fields below, and both URLs until start returns
	changed chan struct{} // closed and renewed with each line
	ready   bool
	events  []Event
	log     []string    // lines that are not events
	observe func(Event) // nil: events are stored
}

// start starts a server in its own process group and waits until a line of its output says that it is ready.
func start(t testing.TB, cmd *exec.Cmd, ready func(s *Server, line string) bool) *Server {
	t.Helper()
	s := &Server{t: t, cmd: cmd, ended: make(chan struct{}), changed: make(chan struct{})}
	ownGroup(cmd)
	cmd.Dir = t.TempDir()
	_, err1 := cmd.StdinPipe() // open until this process ends; then the server ends, too
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	var readers sync.WaitGroup
	for _, stream := range []io.Reader{stdout, stderr} {
		readers.Go(func() {
			lines := bufio.NewReader(stream)
			for {
				line, err := lines.ReadString('\n')
				if line != "" {
					s.take(strings.TrimSuffix(line, "\n"), ready)
				}
				if err != nil {
					return
				}
			}
		})
	}
	go func() {
		readers.Wait()
		_ = cmd.Wait() // usually "signal: killed"
		close(s.ended)
	}()
	if !s.await(func() bool { return s.ready }) {
		t.Fatalf("%s did not come to listen%s; it says:\n%s", cmd.Path, s.exit(), s.Log())
	}
	return s
}

func (s *Server) take(line string, ready func(s *Server, line string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := parseEvent(line); ok && s.observe != nil {
		s.observe(e)
		return
	} else if ok {
		s.events = append(s.events, e)
	} else {
		s.log = append(s.log, line)
		s.ready = s.ready || ready(s, line)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until holds, which is called with mu held, returns true. It returns false if the server ended or the time
// is up.
func (s *Server) await(holds func() bool) bool {
	patience := time.NewTimer(faketime.Long)
	defer patience.Stop()
	over := false
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok || over {
			return ok
		}
		select {
		case <-changed:
		case <-s.ended:
			over = true // check the last lines once more
		case <-patience.C:
			over = true
		}
	}
}

// Wait waits for the first event, past or future, for which match returns true, and fails the test if none comes.
func (s *Server) Wait(what string, match func(Event) bool) Event {
	s.t.Helper()
	var found Event
	seen := 0
	ok := s.await(func() bool {
		for ; seen < len(s.events); seen++ {
			if match(s.events[seen]) {
				found = s.events[seen]
				return true
			}
		}
		return false
	})
	if !ok {
		s.t.Fatalf("the server did not note %s, but:\n%s\nand said:\n%s", what, describe(s.Events()), s.Log())
	}
	return found
}

// Observe passes every event from now on to f, in order and from one goroutine at a time, and stores none of them. It
// is for servers that run for hours.
func (s *Server) Observe(f func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe = f
}

// Events returns the journal so far.
func (s *Server) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Log returns the server's other output, on stdout and stderr.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// Kill kills the server and everything that it started, and waits until they have ended.
func (s *Server) Kill() {
	select {
	case <-s.ended: // its pid may belong to another group by now
	default:
		killGroup(s.cmd)
		<-s.ended
	}
}

// exit says how the process has ended, and nothing while it runs.
func (s *Server) exit() string {
	select {
	case <-s.ended:
		return " (" + s.cmd.ProcessState.String() + ")"
	default:
		return ""
	}
}

// PID returns the pid of the server, which is also the id of its process group.
func (s *Server) PID() int { return s.cmd.Process.Pid }

func describe(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	return b.String()
}

// Names of events. A server over stdio records no request, disconnected and answered.
const (
	// an HTTP request came: HTTP, Method, ID, Session, Revision; Tool is params.name, Reason params.reason
	EventRequest      = "request"
	EventDisconnected = "disconnected" // the client left before the server had ended its answer: HTTP, Method, ID
	EventAnswered     = "answered"     // the server ended its answer to an HTTP request: HTTP, Method, ID
	EventSession      = "session"      // a legacy session began
	EventClosed       = "closed"       // a legacy session ended
	EventStarted      = "started"      // a tool was called, or a task began
	EventAsked        = "asked"        // a tool asked its question
	EventWithdrawn    = "withdrawn"    // a tool withdrew its question
	EventCancelled    = "cancelled"    // a tool was cancelled; Reason is the reason that the SDK reports
	EventFinished     = "finished"     // a tool returned its result; Detail is input_required if that asks a question
	EventFailed       = "failed"       // a tool failed
)

// Event is one line of a server's journal.
type Event = program.Event

// TagKey is the member of a request's _meta that the journal records, so that a test recognizes its call.
const TagKey = program.TagKey

func parseEvent(line string) (Event, bool) {
	var e Event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		return e, false
	}
	return e, e.Event != ""
}

// ReadJournal reads the journal file of a server over stdio. The file does not exist before the first event.
func ReadJournal(t testing.TB, path string) []Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var events []Event
	for line := range strings.Lines(string(data)) {
		if e, ok := parseEvent(strings.TrimSuffix(line, "\n")); ok {
			events = append(events, e)
		}
	}
	return events
}
