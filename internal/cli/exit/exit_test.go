package exit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/cli/console"
)

// TestExitStatusOfEveryReason checks the exit statuses of the codes and reasons that the contract names at CallTool.
func TestExitStatusOfEveryReason(t *testing.T) {
	tests := []struct {
		code   codes.Code
		reason string
		want   Status
	}{
		{codes.InvalidArgument, "INVALID_ARGUMENTS", 2},
		{codes.InvalidArgument, "INVALID_REQUEST", 2},
		{codes.AlreadyExists, "REQUEST_ID_IN_USE", 2},
		{codes.Canceled, "CANCELLED", 3},
		{codes.DeadlineExceeded, "CONNECT_TIMEOUT", 4},
		{codes.DeadlineExceeded, "IDLE_TIMEOUT", 4},
		{codes.DeadlineExceeded, "TOTAL_TIMEOUT", 4},
		{codes.DeadlineExceeded, "HUMAN_TIMEOUT", 4},
		{codes.PermissionDenied, "DENIED_BY_USER", 5},
		{codes.PermissionDenied, "DENIED_BY_POLICY", 5},
		{codes.PermissionDenied, "DISMISSED_BY_USER", 5},
		{codes.FailedPrecondition, "NO_APPROVER", 5},
		{codes.FailedPrecondition, "INPUT_DECLINED", 5},
		{codes.FailedPrecondition, "SIGN_IN_DECLINED", 5},
		{codes.FailedPrecondition, "LAUNCH_DECLINED", 5},
		{codes.FailedPrecondition, "CONFIG_INPUT_MISSING", 5},
		{codes.FailedPrecondition, "NOT_OFFERED", 6},
		{codes.FailedPrecondition, "SERVER_DISABLED", 6},
		{codes.FailedPrecondition, "SERVER_BROKEN", 6},
		{codes.NotFound, "SERVER_NOT_FOUND", 2},
		{codes.NotFound, "TOOL_NOT_FOUND", 2},
		{codes.Unavailable, "SERVER_FAILED", 6},
		{codes.Unavailable, "SERVER_GONE", 6},
		{codes.Unavailable, "SERVER_GIVEN_UP", 6},
		{codes.Unavailable, "EXCHANGE_FAILED", 6},
		{codes.Unavailable, "TASK_LOST", 6},
		{codes.Unavailable, "SIGN_IN_FAILED", 6},
		{codes.Unavailable, "DRAINING", 6},
		{codes.ResourceExhausted, "RESULT_TOO_LARGE", 6},
		{codes.Internal, "PROTOCOL_ERROR", 6},
		{codes.Unavailable, "", 6},
		{codes.Unknown, "", 6},
	}
	for _, test := range tests {
		s := status.New(test.code, "what happened")
		if test.reason != "" {
			var err error
			s, err = s.WithDetails(&errdetails.ErrorInfo{Domain: "mcphub", Reason: test.reason,
				Metadata: map[string]string{"server": "x"}})
			if err != nil {
				t.Fatal(err)
			}
		}
		f := FailureOf(s.Err())
		if f.Reason != test.reason || f.Message != "what happened" || test.reason != "" && f.Meta["server"] != "x" {
			t.Errorf("%v %s is read as %+v", test.code, test.reason, f)
		}
		if got := StatusOf(f); got != test.want {
			t.Errorf("%v %s exits with %d, want %d", test.code, test.reason, got, test.want)
		}
	}
	if got := StatusOf(FailureOf(errors.New("no status"))); got != Server {
		t.Errorf("an error that is no status exits with %d", got)
	}
	own := Failf("CANCELLED", "own")
	if got := FailureOf(fmt.Errorf("around: %w", own)); got != own {
		t.Errorf("an own failure is read as %+v", got)
	}
}

// TestFlagsInThePlaceOfSettings: an error names a flag instead of a setting in --stdio:1, which is no file.
func TestFlagsInThePlaceOfSettings(t *testing.T) {
	f := Failf("DEADLINE_EXCEEDED", `server "stdio" did not start within 3s; raise timeouts.connect in --stdio:1`)
	if got, want := f.ForPeople(), `server "stdio" did not start within 3s; raise --connect-timeout`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFailureAsJSON: the last line of a command that failed under --json has these members alone.
func TestFailureAsJSON(t *testing.T) {
	var out strings.Builder
	f := &Failure{Code: "NOT_FOUND", Reason: "SERVER_NOT_FOUND", Message: "no <x>",
		Meta: map[string]string{"a": "b"}, JSON: true}
	status := Report(console.Streams{Out: &console.Output{W: &out}}, "tools", f)
	const want = `{"error":{"code":"NOT_FOUND","reason":"SERVER_NOT_FOUND","message":"no <x>"}}` + "\n"
	if out.String() != want || status != Usage {
		t.Errorf("status %d, line %s, want %s", status, out.String(), want)
	}
}
