package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Exit statuses. Scripts depend on them: a number never changes its meaning.
const (
	exitOK        = 0 // a result
	exitToolError = 1 // a result that says isError, or a JSON-RPC error of the server
	exitUsage     = 2 // a mistake in the command line, or in the arguments of the call
	exitCancelled = 3
	exitTimeout   = 4
	exitDenied    = 5 // by the user, by the policy, or because nobody could be asked
	exitServer    = 6 // a failure of the server, of the hub, of a connection, or of writing the output
)

// failure is the reason why a command did not succeed, in the terms of the contract. It is the object of "error" in
// JSON output.
type failure struct {
	Code    string `json:"code"`   // name of the gRPC code
	Reason  string `json:"reason"` // reason of the ErrorInfo detail, "" if there is none
	Message string `json:"message"`
	meta    map[string]string
}

func (f *failure) Error() string { return f.Message }

// failuref returns a failure of the command itself.
func failuref(code, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// asFailure converts an error of the hub. An error that is not a gRPC status is a failure to reach the hub.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if f, ok := host.ErrorOf(err); ok {
		return &failure{Code: f.Code, Reason: f.Reason, Message: withoutTerminal(f.Message, f.Meta),
			meta: f.Meta}
	}
	return failuref("UNAVAILABLE", "%v", err)
}

// message returns the message for a person at the command line. It names flags instead of fields of the contract and
// settings.
func (f *failure) message() string {
	if f.meta["field"] == "arguments_json" {
		return f.Message + `: --args wants one, {"name":"Ada"} say; -a NAME=VALUE gives a single one`
	}
	return asFlags.Replace(f.Message)
}

// withoutTerminal returns the text of an error with these details. If it says that nobody could be asked, it names the
// flag that answers. Without details the question is one of a start.
func withoutTerminal(text string, meta map[string]string) string {
	flag := "--launch allow, --sign-in print or --input ID=VALUE answers"
	switch meta[event.MetaPromptKind] {
	case event.PromptToolApproval.String():
		flag = "--approve allow lets the tool run"
	case event.PromptSignIn.String():
		flag = "--sign-in print shows the page's address and waits"
	case event.PromptServerLaunch.String():
		flag = "--launch deny shows what it would run, --launch allow starts it"
	case event.PromptConfigInput.String():
		flag = "--input " + meta["input"] + "=VALUE gives the value"
	}
	return event.Advised(text, "there is no terminal; "+flag)
}

// asFlags replaces the settings of the configs that --stdio and --url stand for by flags, since there are no files with
// these names.
var asFlags = strings.NewReplacer(
	"timeouts.connect in --stdio:1", "--connect-timeout", "timeouts.connect in --url:1", "--connect-timeout",
	"era: legacy in --stdio:1", "--era legacy", "era: legacy in --url:1", "--era legacy")

// exitOf returns the exit status for a failure. Some reasons under FAILED_PRECONDITION mean that a person has refused,
// or that nobody could be asked. Any other failure is classified by its code.
func exitOf(f *failure) int {
	switch f.Reason {
	case "NO_APPROVER", "DENIED_BY_USER", "DENIED_BY_POLICY", "DISMISSED_BY_USER", "INPUT_DECLINED", "SIGN_IN_DECLINED",
		"LAUNCH_DECLINED", "CONFIG_INPUT_MISSING":
		return exitDenied
	case "SERVER_NOT_FOUND", "TOOL_NOT_FOUND": // the command line has a name that does not exist
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

// exitOfResponse returns the exit status for an answer of the server.
func exitOfResponse(r answer) int {
	if t, ok := r.(*mcphubv1.CallToolResponse); r.GetError() != nil || ok && t.GetIsError() {
		return exitToolError
	}
	return exitOK
}
