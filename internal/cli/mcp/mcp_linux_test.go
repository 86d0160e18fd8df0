package mcp_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestMCPClientKilled_real: when a client is killed during a call, its ends of both pipes close while the server sends
// progress: the server is sent a cancel, and no process is left.
func TestMCPClientKilled_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file, record := p.RecordedDemo("allow")
	s := speakWith(p, file)
	s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__sleep","arguments":{"seconds":60},` +
		`"_meta":{"progressToken":"t"}}}`)
	s.progresses()
	var deaths []*doortest.Death
	for _, pid := range p.Running(p.Binary) {
		deaths = append(deaths, doortest.Watch(t, pid))
	}
	if len(deaths) < 3 { // the gateway, the guard and the server
		t.Fatalf("there are %d processes", len(deaths))
	}
	s.Output.Close() // as the exit of a process does; the gateway sees this one when it writes its next line
	s.In.Close()
	if status := s.Wait(); status != exit.OK {
		t.Errorf("status %d\n%s", status, s.Stderr.String())
	}
	for _, d := range deaths {
		d.Wait(t, faketime.Long)
	}
	clitest.HeardCancel(t, record, "the client is gone")
}

// TestMCPKilled_real: when the gateway itself is killed, its servers end within five seconds.
func TestMCPKilled_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file, _ := p.RecordedDemo("allow")
	s := speakWith(p, file)
	s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) // it is answered once the server is known
	s.answer("1")
	var deaths []*doortest.Death
	for _, pid := range p.Running(p.Binary) {
		if pid != s.Cmd.Process.Pid {
			deaths = append(deaths, doortest.Watch(t, pid))
		}
	}
	if len(deaths) < 2 { // the guard and the server
		t.Fatalf("%d processes beside the gateway", len(deaths))
	}
	if err := s.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	for _, d := range deaths {
		d.Wait(t, faketime.Long)
	}
}
