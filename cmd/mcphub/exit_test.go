package main

import (
	"errors"
	"fmt"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestExitStatusOfEveryReason checks the exit statuses of the codes and reasons that the contract names at CallTool.
func TestExitStatusOfEveryReason(t *testing.T) {
	tests := []struct {
		code   codes.Code
		reason string
		want   int
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
		f := asFailure(s.Err())
		if f.Reason != test.reason || f.Message != "what happened" || test.reason != "" && f.meta["server"] != "x" {
			t.Errorf("%v %s is read as %+v", test.code, test.reason, f)
		}
		if got := exitOf(f); got != test.want {
			t.Errorf("%v %s exits with %d, want %d", test.code, test.reason, got, test.want)
		}
	}
	if got := exitOf(asFailure(errors.New("no status"))); got != exitServer {
		t.Errorf("an error that is no status exits with %d", got)
	}
	own := failuref("CANCELLED", "own")
	if got := asFailure(fmt.Errorf("around: %w", own)); got != own {
		t.Errorf("an own failure is read as %+v", got)
	}
}

func TestExitStatusOfResponses(t *testing.T) {
	tests := []struct {
		response *mcphubv1.CallToolResponse
		want     int
	}{
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: `{}`}}, 0},
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: `{}`}, IsError: true}, 1},
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_Error{Error: &mcphubv1.McpError{Code: -32602}}}, 1},
	}
	for _, test := range tests {
		if got := exitOfResponse(test.response); got != test.want {
			t.Errorf("%v exits with %d, want %d", test.response, got, test.want)
		}
	}
}
