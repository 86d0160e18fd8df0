package hostile_test

import (
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestNonsense: no message of a server, however wrong, makes the hub panic under its lock, which would end the process.
// Two faults once did. One was in an exporter of traces: no server can trigger it, and TestPanicUnderTheLockIsFatal in
// package hub covers it. The other was a schema that refers to itself, which is now checked without the lock
// (TestFormThatCannotBeChecked). Finding A12.
func TestNonsense(t *testing.T) {
	const name = "nonsense"
	var mu sync.Mutex
	var last []string
	s := bareWith(t, hub.Options{Fatal: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		last = append(last, text)
	}})
	evil := newEvil(t, name)
	s.evil[name] = evil
	s.load(users(), &mcphubv1.ConfigSource{
		Path: "/user/more.json", Scope: "user", Json: `{"servers":{"nonsense":{"command":"nonsense","alwaysAllow":["*"]}}}`,
	})
	attack := s.call(name, hostile.Tool)
	s.does(name, "talked", 1)
	s.bystander()
	s.ends(attack, "the call")
	if attack.err != nil {
		t.Errorf("the call failed, though its answer was right: %v", attack.err)
	}
	for n := 1; evil.Count("listed") < hostile.WrongLists; n++ {
		if err := evil.NotifyToolsChanged(); err != nil || n > 10*hostile.WrongLists {
			t.Fatalf("%d lists were asked for after %d changes: %v", evil.Count("listed"), n, err)
		}
		s.ends(s.list(name), "a list")
	}
	if err := evil.NotifyToolsChanged(); err != nil {
		t.Error(err)
	}
	echo := s.call(name, "echo")
	s.ends(echo, "another call of that server")
	if echo.err != nil {
		t.Errorf("another call of that server failed: %v", echo.err)
	}
	s.bystander()
	mu.Lock()
	defer mu.Unlock()
	if len(last) > 0 {
		t.Errorf("the hub would have ended: %q", last)
	}
}
