package doortest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// fakeHub behaves like a hub as far as the door can see: it has children, it logs, it closes.
type fakeHub struct {
	mcphubv1.UnimplementedMcpHubServiceServer
	logger *slog.Logger

	mu       sync.Mutex
	children []*exec.Cmd // guarded by mu; nil once closed
	closed   bool        // guarded by mu
}

func newFakeHub(l *slog.Logger, _ func(string)) (plugin.Hub, error) {
	if problem := os.Getenv(NewVariable); problem != "" {
		return nil, errors.New(problem)
	}
	return &fakeHub{logger: l}, nil
}

func (h *fakeHub) Register(s grpc.ServiceRegistrar) { mcphubv1.RegisterMcpHubServiceServer(s, h) }

func (h *fakeHub) ServerOptions() []grpc.ServerOption { return nil }

// Close ends the children. It logs that it has begun, so that a test can act during the close.
func (h *fakeHub) Close(context.Context) error {
	h.logger.Info("fake hub closes")
	if os.Getenv(CloseVariable) == CloseHangs {
		select {}
	}
	h.killChildren()
	return nil
}

func (h *fakeHub) killChildren() {
	h.mu.Lock()
	children := h.children
	h.children, h.closed = nil, true
	h.mu.Unlock()
	for _, child := range children {
		_ = child.Process.Kill()
		_ = child.Wait()
	}
}

func (h *fakeHub) GetInfo(context.Context, *mcphubv1.GetInfoRequest) (*mcphubv1.GetInfoResponse, error) {
	return &mcphubv1.GetInfoResponse{Version: cmp.Or(os.Getenv(VersionVariable), "fake"), ProcessId: int32(os.Getpid())},
		nil
}

func (h *fakeHub) Drain(_ context.Context, r *mcphubv1.DrainRequest) (*mcphubv1.DrainResponse, error) {
	h.logger.Info("fake hub drains", "reason", r.GetReason())
	return &mcphubv1.DrainResponse{}, nil
}

// CallTool does what the name of the tool says.
func (h *fakeHub) CallTool(ctx context.Context, r *mcphubv1.CallToolRequest) (*mcphubv1.CallToolResponse, error) {
	var result string
	var err error
	switch r.GetTool() {
	case "spawn": // starts a child that lives until Close; answers its process id
		result, err = h.spawn()
	case "print": // writes as many bytes as the argument says to os.Stdout and os.Stderr, like a careless library
		err = printBytes(r.GetArgumentsJson(), os.Stdout, os.Stderr)
	case "flood": // writes as many bytes to the standard output of the process, like C code
		err = printBytes(r.GetArgumentsJson(), trueStdout)
	case "log": // logs one line at each level
		h.logger.Debug("a detail", "n", 1)
		h.logger.Info("a fact", "who", "fake", "@level", "mine")
		h.logger.Warn("a worry", slog.Group("g", "level", "inner"))
		h.logger.Error("a failure", "error", errors.New("boom"))
	case "raw": // writes a line that is not a log line, past the door's writer; it need not arrive
		_, _ = fmt.Fprintln(trueStderr, r.GetArgumentsJson())
	case "hang": // runs until the call ends
		h.logger.Info("fake hub hangs")
		<-ctx.Done()
		err = status.FromContextError(ctx.Err()).Err()
	case "fail": // returns a status like that of the hub's services
		err = failure()
	default:
		err = status.Error(codes.Unimplemented, "the fake hub knows no "+r.GetTool())
	}
	if err != nil {
		return nil, err
	}
	return &mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: result}}, nil
}

// The values of os.Stdout and os.Stderr before the door replaced them for go-plugin.
var trueStdout, trueStderr = os.Stdout, os.Stderr

func (h *fakeHub) spawn() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return "", status.Error(codes.Unavailable, "closed")
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), Environment(RoleChild)...)
	if err := child.Start(); err != nil {
		return "", err
	}
	h.children = append(h.children, child)
	return strconv.Itoa(child.Process.Pid), nil
}

func printBytes(count string, to ...io.Writer) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	text := bytes.Repeat([]byte("0123456789abcde\n"), n/16+1)[:n]
	_, err = io.MultiWriter(to...).Write(text)
	return err
}

func failure() error {
	s, err := status.New(codes.NotFound, "there is no server called \"x\"").WithDetails(&errdetails.ErrorInfo{
		Domain: "mcphub", Reason: "SERVER_NOT_FOUND", Metadata: map[string]string{"server": "x"},
	})
	if err != nil {
		return err
	}
	return s.Err()
}

// The roles in which a test binary can be run.
const (
	// RoleHub serves the fake hub.
	RoleHub = "hub"
	// RoleHost opens a hub, makes it spawn a child, prints the process ids of both, and waits to be killed.
	RoleHost = "host"
	// RoleChild does nothing for an hour.
	RoleChild = "child"
	// RoleSilent is a program that writes nothing.
	RoleSilent = "silent"
	// RoleOtherVersion offers version 7 of the contract.
	RoleOtherVersion = "other-version"
	// RoleBanner is a program that writes something other than a handshake.
	RoleBanner = "banner"

	roleVariable = "MCPHUB_DOORTEST_ROLE"
	// CloseVariable sets how the fake hub closes: CloseHangs.
	CloseVariable = "MCPHUB_DOORTEST_CLOSE"
	// CloseHangs never returns from Close.
	CloseHangs = "hangs"
	// VersionVariable sets the version that the fake hub reports.
	VersionVariable = "MCPHUB_DOORTEST_VERSION"
	// NewVariable makes the hub's constructor fail with its value.
	NewVariable = "MCPHUB_DOORTEST_NEW"
)

// Main runs the role of the environment, or the tests if there is none.
func Main(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		end := Begin()
		code := m.Run()
		end()
		os.Exit(code)
	case RoleHub:
		os.Exit(plugin.Serve(newFakeHub))
	case RoleHost:
		beHost()
	case RoleOtherVersion:
		fmt.Println("1|7|unix|/nowhere|grpc|")
	case RoleBanner:
		fmt.Println("Welcome to some program")
	}
	<-time.After(time.Hour) // the process that has started this one ends it
}

// Environment returns the environment that makes this test binary run in a role.
func Environment(role string) []string { return []string{roleVariable + "=" + role} }

// Options returns the options that open this test binary in a role. On a busy machine its start may take long.
func Options(t testing.TB, role string, env ...string) host.Options {
	t.Helper()
	return host.Options{Command: executable(t), Env: append(Environment(role), env...), StartTimeout: faketime.Long}
}

// Command returns a command that runs this test binary in a role, without the environment of a host.
func Command(t testing.TB, role string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(executable(t))
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PLUGIN_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(append(cmd.Env, Environment(role)...), env...)
	return cmd
}

func executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Open opens the fake hub, and closes it at the end of the test.
func Open(t testing.TB, o host.Options) *host.Client {
	t.Helper()
	client, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return client
}

// beHost acts as the middle process.
func beHost() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	client, err := host.Open(context.Background(), host.Options{Command: self, Env: Environment(RoleHub),
		Stderr: io.Discard})
	if err != nil {
		log.Fatal(err)
	}
	child, err := Do(context.Background(), client.Hub, "spawn", "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d %s\n", client.PID(), child)
}

// Do makes the fake hub do something; see fakeHub.CallTool.
func Do(ctx context.Context, hub mcphubv1.McpHubServiceClient, what, arguments string) (string, error) {
	answer, err := hub.CallTool(ctx, &mcphubv1.CallToolRequest{Tool: what, ArgumentsJson: arguments})
	return answer.GetResultJson(), err
}
