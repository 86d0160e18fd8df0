package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Exit statuses. Scripts depend on them: a number never changes its meaning.
const (
	exitOK        = 0 // a result
	exitToolError = 1 // a result that says isError, or a JSON-RPC error of the server
	exitUsage     = 2 // the command line, the names in it among it, or the arguments of the call
	exitCancelled = 3
	exitTimeout   = 4
	exitDenied    = 5 // by the user, by policy, or because nobody could be asked
	exitServer    = 6 // trouble with the server, the hub, or the ways to them and to the reader of the output
)

// failure is why a command did not succeed, in the words of the contract. It is the object behind "error" in JSON
// output.
type failure struct {
	Code    string `json:"code"`   // name of the gRPC code
	Reason  string `json:"reason"` // reason of the ErrorInfo detail, "" when there is none
	Message string `json:"message"`
	meta    map[string]string
}

func (f *failure) Error() string { return f.Message }

// failuref builds a failure of the command's own.
func failuref(code, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// asFailure reads what the hub said. An error that is no gRPC status is trouble on the way to the hub.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if f, ok := host.ErrorOf(err); ok {
		return &failure{Code: f.Code, Reason: f.Reason, Message: f.Message, meta: f.Meta}
	}
	return failuref("UNAVAILABLE", "%v", err)
}

// message is what a person at the command line reads: a field of the contract or a setting that is at fault is the flag
// that gave it, or would.
func (f *failure) message() string {
	if f.meta["field"] == "arguments_json" {
		return f.Message + `: --args wants one, {"name":"Ada"} say; -a NAME=VALUE gives a single one`
	}
	return asFlags.Replace(f.Message)
}

// asFlags names flags in the place of the settings in the configs that --stdio and --url stand for: nobody finds a file
// of that name.
var asFlags = strings.NewReplacer(
	"timeouts.connect in --stdio:1", "--connect-timeout", "timeouts.connect in --url:1", "--connect-timeout",
	"era: legacy in --stdio:1", "--era legacy", "era: legacy in --url:1", "--era legacy")

// exitOf gives the status for a failure. Some reasons under FAILED_PRECONDITION mean a no of the user or of the lack of
// one; every other code stands for itself.
func exitOf(f *failure) int {
	switch f.Reason {
	case "NO_APPROVER", "DENIED_BY_USER", "DENIED_BY_POLICY", "DISMISSED_BY_USER", "INPUT_DECLINED", "SIGN_IN_DECLINED",
		"LAUNCH_DECLINED", "CONFIG_INPUT_MISSING":
		return exitDenied
	case "SERVER_NOT_FOUND", "TOOL_NOT_FOUND": // the command line names what is not there
		return exitUsage
	}
	switch f.Code {
	case "OK":
		return exitOK
	case "CANCELLED":
		return exitCancelled
	case "DEADLINE_EXCEEDED":
		return exitTimeout
	case "PERMISSION_DENIED":
		return exitDenied
	case "INVALID_ARGUMENT", "ALREADY_EXISTS", "OUT_OF_RANGE":
		return exitUsage
	}
	return exitServer
}

// exitOfResponse gives the status for an answer of the server.
func exitOfResponse(r answer) int {
	if t, ok := r.(*mcphubv1.CallToolResponse); r.GetError() != nil || ok && t.GetIsError() {
		return exitToolError
	}
	return exitOK
}
