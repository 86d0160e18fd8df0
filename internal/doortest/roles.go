package doortest

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
		os.Exit(plugin.Serve(plugin.Options{New: newFakeHub}))
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
