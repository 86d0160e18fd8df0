//go:build unix

package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// waitDone waits for the end of the hub's process.
func waitDone(t *testing.T, c *host.Client) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(faketime.Long):
		t.Fatal("the hub did not end")
	}
}

func do(t *testing.T, c *host.Client, what, arguments string) string {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the fake hub does not answer"))
	defer cancel()
	answer, err := doortest.Do(ctx, c.Hub, what, arguments)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return answer
}

// tempDir makes a new directory the one for temporary files; its name is short enough for sockets.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "host")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestOpenAndClose is the plain way: open, call, close; Drain comes first, and the child of the hub is gone at the end.
func TestOpenAndClose(t *testing.T) {
	logs := newRecorder()
	o := doortest.Options(t, doortest.RoleHub)
	o.Logger = slog.New(logs)
	c := doortest.Open(t, o)
	info, err := c.Hub.GetInfo(t.Context(), &mcphubv1.GetInfoRequest{})
	if err != nil || int(info.GetProcessId()) != c.PID() {
		t.Fatalf("GetInfo: %v, %v; PID %d", info, err, c.PID())
	}
	pid, _ := strconv.Atoi(do(t, c, "spawn", ""))
	child, hub := doortest.Watch(t, pid), doortest.Watch(t, c.PID())
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if hub.Alive(t) || child.Alive(t) {
		t.Error("something lives after Close")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("second Close: %v", err)
	}
	messages := logs.messages()
	drains, closes := slices.Index(messages, "fake hub drains"), slices.Index(messages, "fake hub closes")
	if drains < 0 || closes < drains {
		t.Errorf("logged %q; want the drain before the close", messages)
	}
}

// TestRealHub: the real binary serves the real hub through the door, in all three services.
func TestRealHub(t *testing.T) {
	c := doortest.Open(t, host.Options{Command: doortest.Binary(t), Env: []string{handshake.EnvStateDir + "="}})
	info, err := c.Hub.GetInfo(t.Context(), &mcphubv1.GetInfoRequest{})
	if err != nil || int(info.GetProcessId()) != c.PID() || info.GetHubId() == "" {
		t.Errorf("GetInfo: %v, %v", info, err)
	}
	_, err = c.Hub.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "nobody", Tool: "nothing"})
	if f, ok := host.ErrorOf(err); !ok || f.Code != "NOT_FOUND" || f.Reason != "SERVER_NOT_FOUND" || f.Message == "" {
		t.Errorf("CallTool: %+v, %v", f, err)
	}
	if _, err := c.Servers.ListServers(t.Context(), &mcphubv1.ListServersRequest{}); err != nil {
		t.Errorf("ListServers: %v", err)
	}
	stream, err := c.Editor.Attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(
		&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{Title: "test"}}}); err != nil {
		t.Fatal(err)
	}
	if welcome, err := stream.Recv(); err != nil || welcome.GetWelcome().GetHubId() != info.GetHubId() {
		t.Errorf("welcome %v, %v", welcome, err)
	}
	// Close with the window still attached: it must not hold up the end.
}

// TestErrorOf: the typed failure survives gRPC and wrapping.
func TestErrorOf(t *testing.T) {
	c := doortest.Open(t, doortest.Options(t, doortest.RoleHub))
	_, err := doortest.Do(t.Context(), c.Hub, "fail", "")
	got, ok := host.ErrorOf(fmt.Errorf("while testing: %w", err))
	want := &host.Failure{Code: "NOT_FOUND", Reason: "SERVER_NOT_FOUND", Message: `there is no server called "x"`,
		Meta: map[string]string{"server": "x"}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	_, err = doortest.Do(t.Context(), c.Hub, "no such thing", "")
	if got, ok := host.ErrorOf(err); !ok || got.Code != "UNIMPLEMENTED" || got.Reason != "" {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, err := range []error{nil, errors.New("plain"), context.Canceled} {
		if got, ok := host.ErrorOf(err); ok {
			t.Errorf("%v: %+v", err, got)
		}
	}
}
