//go:build unix

package host_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestOpenErrors: each way in which Open fails has a reason of its own, says what to do, and leaves nothing behind.
func TestOpenErrors(t *testing.T) {
	noExec := filepath.Join(t.TempDir(), "mcphub")
	if err := os.WriteFile(noExec, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the editor closes"))
	short := func(o host.Options) host.Options { o.StartTimeout = 50 * time.Millisecond; return o }
	tests := []struct {
		name   string
		ctx    context.Context
		o      host.Options
		reason host.OpenReason
		says   []string
		is     error
	}{
		{"no such name", t.Context(), host.Options{Command: "mcphub-that-is-not-there"}, host.NotFound,
			[]string{"install mcphub"}, nil},
		{"no such path", t.Context(), host.Options{Command: "/nowhere/mcphub"}, host.NotFound, []string{"/nowhere/mcphub"},
			fs.ErrNotExist},
		{"not executable", t.Context(), host.Options{Command: noExec}, host.NotStarted, []string{"may be executed"},
			fs.ErrPermission},
		{"start fails", t.Context(), doortest.Options(t, doortest.RoleHub, doortest.NewVariable+"=the disk is full"),
			host.Exited, []string{"exit status 1", "the disk is full"}, nil},
		{"wrong version", t.Context(), doortest.Options(t, doortest.RoleOtherVersion), host.WrongVersion,
			[]string{"version 7", "update"}, nil},
		{"an old hub", t.Context(), doortest.Options(t, doortest.RoleHub, doortest.VersionVariable+"=0.0.9"), host.TooOld,
			[]string{`is hub "0.0.9"`, "needs hub " + handshake.OldestHub + " or later"}, nil},
		{"another program", t.Context(), doortest.Options(t, doortest.RoleBanner), host.NotAHub,
			[]string{"Welcome to some program"}, nil},
		{"another program that ends", t.Context(), host.Options{Command: "/bin/echo", Args: []string{"hello"}}, host.NotAHub,
			[]string{"hello"}, nil},
		{"a program that ends in silence", t.Context(), host.Options{Command: "/bin/sh", Args: []string{"-c", "exit 3"}},
			host.Exited, []string{"exit status 3", "wrote nothing"}, nil},
		{"a program that never speaks", t.Context(), short(doortest.Options(t, doortest.RoleSilent)), host.TimedOut,
			[]string{"50ms", "StartTimeout"}, context.DeadlineExceeded},
		{"a program that is stopped", t.Context(),
			short(host.Options{Command: "/bin/sh", Args: []string{"-c", "kill -STOP $$"}}), host.TimedOut, nil, nil},
		{"given up", cancelled, doortest.Options(t, doortest.RoleHub), host.Cancelled, []string{"the editor closes"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := tempDir(t)
			c, err := host.Open(test.ctx, test.o)
			var e *host.OpenError
			if !errors.As(err, &e) {
				t.Fatalf("Open = %v, %v", c, err)
			}
			if e.Reason != test.reason {
				t.Errorf("reason %s, want %s: %v", e.Reason, test.reason, err)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error lacks %q: %v", text, err)
				}
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error is no %v: %#v", test.is, e.Err)
			}
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestOpenWithoutTempDir: Open fails in the host, before it starts a process, and returns an OpenError all the same.
func TestOpenWithoutTempDir(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	_, err := host.Open(t.Context(), doortest.Options(t, doortest.RoleHub))
	var e *host.OpenError
	if !errors.As(err, &e) || e.Reason != host.NotStarted || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("Open: %v", err)
	}
}

// TestLongTempDir: a socket path has room for 104 bytes; a longer directory is not used.
func TestLongTempDir(t *testing.T) {
	long := filepath.Join(tempDir(t), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	do(t, doortest.Open(t, doortest.Options(t, doortest.RoleHub)), "log", "")
}

// TestNestedHost: a host that is itself a plugin does not hand its own plugin variables down.
func TestNestedHost(t *testing.T) {
	for name, value := range map[string]string{
		"PLUGIN_MULTIPLEX_GRPC": "true", handshake.EnvSocketDir: "/nowhere", handshake.CookieKey: "another",
		handshake.EnvClientCert: "junk",
	} {
		t.Setenv(name, value)
	}
	do(t, doortest.Open(t, doortest.Options(t, doortest.RoleHub)), "log", "")
}

// TestOpenAgainstFalseHandshake: the handshake line is valid, but nothing listens at its address.
func TestOpenAgainstFalseHandshake(t *testing.T) {
	o := host.Options{Command: "/bin/sh", Args: []string{"-c", `echo "1|1|unix|/nowhere|grpc|"; exec sleep 3600`},
		StartTimeout: 100 * time.Millisecond}
	_, err := host.Open(t.Context(), o)
	var e *host.OpenError
	if !errors.As(err, &e) || e.Reason != host.NoAnswer && e.Reason != host.TimedOut {
		t.Errorf("Open: %v", err)
	}
}

// TestTwoOpens: two hubs of one host are independent; closing one leaves the other running.
func TestTwoOpens(t *testing.T) {
	a, b := doortest.Open(t, doortest.Options(t, doortest.RoleHub)),
		doortest.Open(t, doortest.Options(t, doortest.RoleHub))
	if a.PID() == b.PID() {
		t.Fatal("one process")
	}
	do(t, a, "log", "")
	if err := a.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	do(t, b, "log", "")
	select {
	case <-b.Done():
		t.Error("the other hub ended too")
	default:
	}
}

// TestCallsAreEncrypted: AutoMTLS is on, always; a caller without the host's certificate is refused.
func TestCallsAreEncrypted(t *testing.T) {
	dir := tempDir(t)
	c := doortest.Open(t, doortest.Options(t, doortest.RoleHub))
	sockets, _ := filepath.Glob(filepath.Join(dir, "*", "plugin*"))
	if len(sockets) != 1 {
		t.Fatalf("sockets: %v", sockets)
	}
	stranger, err := grpc.NewClient("unix:"+sockets[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if info, err := mcphubv1.NewMcpHubServiceClient(stranger).GetInfo(t.Context(),
		&mcphubv1.GetInfoRequest{}); err == nil {
		t.Errorf("a stranger got an answer: %v", info)
	}
	do(t, c, "log", "") // the host's own connection is not disturbed
}
