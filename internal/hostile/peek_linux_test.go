package hostile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// played is the environment variable that makes the test binary a hostile server with the behaviour that it names.
const played = "MCPHUB_TEST_HOSTILE"

func TestMain(m *testing.M) {
	name := os.Getenv(played)
	if name == "" {
		os.Exit(m.Run())
	}
	s, err := hostile.New(name)
	if err == nil {
		err = s.Serve(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestPeek: a server that looks at its file descriptors finds none that the hub has open or has inherited from the
// editor. Finding C5.
func TestPeek(t *testing.T) {
	private := filepath.Join(t.TempDir(), "private-of-the-editor")
	if err := os.WriteFile(private, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(private, unix.O_RDONLY, 0) // without O_CLOEXEC, as an editor may leave it to the hub
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	s, good := onSockets(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.load(&mcphubv1.ConfigSource{Path: "/user/mcp.json", Scope: "user", Json: fmt.Sprintf(`{"servers":{
		"good":{"type":"http","url":%q,"alwaysAllow":["*"]},
		"peeks":{"command":%q,"env":{%q:"peeks"},"alwaysAllow":["*"]}}}`, good, self, played)})
	attack := s.call("peeks", hostile.Tool)
	s.ends(attack, "the call")
	text := attack.response.GetResultJson()
	if attack.err != nil || !strings.Contains(text, "pipe:") ||
		strings.Contains(text, filepath.Base(private)) || strings.Contains(text, "socket:") {
		t.Errorf("it found %s, %v", text, attack.err)
	}
	s.bystander()
}
