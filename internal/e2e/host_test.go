//go:build unix

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The stages at which a host can be killed, in the order of its life.
const (
	stageShaking    = "before the handshake line was read"
	stageAttached   = "after the window attached"
	stageConnecting = "while a server connects"
	stageApproval   = "while a user is asked to approve"
	stageRunning    = "in the middle of a call, with a question open"
	stageDraining   = "while the hub drains"
)

// reached is what a host prints once it is at its stage: the id of the hub's process.
type reached struct{ Hub int }

// beHost is the host process `host HUB CONFIG STAGE`: it goes on to its stage, prints reached, and waits to be killed.
func beHost(args []string) int {
	log.SetFlags(0)
	log.SetPrefix("host: ")
	hub, config, stage := args[0], args[1], args[2]
	var at reached
	if stage == stageShaking {
		at.Hub = startUnread(hub)
	} else {
		at.Hub = openUpTo(hub, config, stage)
	}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		log.Fatal(err)
	}
	<-time.After(10 * time.Minute)
	return 1
}

// startUnread starts a hub as go-plugin does, waits until it has said something, and reads nothing of it.
func startUnread(hub string) int {
	said, stdout, err1 := os.Pipe()
	logs, stderr, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	unread = []*os.File{said, logs}
	cmd := exec.Command(hub)
	cmd.Env = append(os.Environ(), handshake.CookieKey+"="+handshake.CookieValue, handshake.EnvPlaintext+
		"=1", "PLUGIN_PROTOCOL_VERSIONS=1", stateless)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(said.Fd()), Events: unix.POLLIN}}, int(faketime.Long.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 || err != nil {
			log.Fatalf("the hub says nothing: %v", err)
		}
		return cmd.Process.Pid
	}
}

// unread holds pipes that stay open until the process exits.
var unread []*os.File

// mortal lets fakeeditor fail in a process that is no test.
type mortal struct{}

func (mortal) Helper()                           {}
func (mortal) Errorf(format string, args ...any) { log.Printf(format, args...) }
func (mortal) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func openUpTo(hub, config, stage string) int {
	ctx := context.Background()
	client, err := host.Open(ctx, host.Options{Command: hub, Env: []string{stateless}, Stderr: os.Stderr,
		StartTimeout: faketime.Long})
	if err != nil {
		log.Fatal(err)
	}
	if _,
		err := client.Servers.ReloadConfig(ctx,
		&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: config}}}); err != nil {
		log.Fatal(err)
	}
	w := fakeeditor.Open(ctx, client.Conn(), fakeeditor.Options{TB: mortal{}, Title: "side bar"})
	call := func(tool string) {
		// Nobody waits for its end: the process is killed before.
		go client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{RequestId: tool, Server: "fake", Tool: tool})
	}
	start := func() {
		if _, err := client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: "fake"}); err != nil {
			log.Fatal(err)
		}
	}
	shows := func(state mcphubv1.ServerState) {
		w.WaitEvent("a server that is "+state.String(), func(e *mcphubv1.AttachResponse) bool {
			return e.GetServerChanged().GetServer().GetState() == state
		})
	}
	switch stage {
	case stageAttached:
	case stageConnecting:
		go client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: "fake"})
		shows(mcphubv1.ServerState_SERVER_STATE_CONNECTING)
	case stageApproval:
		call("hang")
		w.WaitPrompt(approval)
	case stageRunning:
		call("hang")
		w.WaitRequest("hang", running)
		call("ask")
		w.WaitPrompt(form)
	case stageDraining:
		start()
		go client.Hub.Drain(ctx, &mcphubv1.DrainRequest{Reason: "the editor closes"})
		shows(mcphubv1.ServerState_SERVER_STATE_STOPPING)
	default:
		log.Fatalf("unknown stage %q", stage)
	}
	return client.PID()
}

// hostProcess is a host that has reached its stage.
type hostProcess struct {
	cmd *exec.Cmd
	hub *doortest.Death
}

// host runs a host up to its stage. Its temporary files, the hub's socket among them, go to a directory of their own.
func (p *place) host(s servers, stage string) (h *hostProcess, temporary string) {
	p.t.Helper()
	config := p.file("mcp.json")
	if err := os.WriteFile(config, []byte(s.config()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	temporary, err := os.MkdirTemp("", "e2e") // short, for the path of the socket
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = os.RemoveAll(temporary) })
	h = &hostProcess{cmd: exec.Command(p.peer, "host", p.hub, config, stage)}
	h.cmd.Dir = p.dir
	h.cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lost := time.AfterFunc(faketime.Long, func() { _ = h.cmd.Process.Kill() })
	defer lost.Stop()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at reached
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
		p.t.Fatal(fmt.Errorf("the host did not come to the stage %q: %w", stage, err))
	}
	h.hub = doortest.Watch(p.t, at.Hub)
	return h, temporary
}

// kill ends the host with SIGKILL.
func (h *hostProcess) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait() // "signal: killed"
}
