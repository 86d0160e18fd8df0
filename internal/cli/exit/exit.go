// Package exit has the exit statuses of commands, and the errors that lead to them.
//
// What must not live here: the reasons for an error, which are with the command that returns it.
package exit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// Status is an exit status. As an error it is that of a command that has said itself why it failed.
type Status int

// Error says that everything was said.
func (Status) Error() string { return "the command has said why it failed" }

// Exit statuses. Scripts depend on them: a number never changes its meaning.
const (
	OK        Status = 0 // a result
	ToolError Status = 1 // a result that says isError, or a JSON-RPC error of the server
	Usage     Status = 2 // a mistake in the command line, or in the arguments of the call
	Cancelled Status = 3
	Timeout   Status = 4
	Denied    Status = 5 // by the user, by the policy, or because nobody could be asked
	Server    Status = 6 // a failure of the server, of the hub, of a connection, or of writing the output

	// Broken is that of the commands that check or change config files, search registries, or play the demo: what was
	// asked for is not there, is not so, or was not done.
	Broken Status = 1
)

// Error is an error with an exit status of its own. With the status Usage it is a mistake in the command line.
type Error struct {
	Status Status
	Err    error
}

// Error says what is wrong.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Wrong returns err as a mistake in the command line, nil for nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Usage, err}
}

// Wrongf returns a mistake in the command line.
func Wrongf(format string, args ...any) error { return &Error{Usage, fmt.Errorf(format, args...)} }

// Report prints the error of a command, and returns the exit status.
func Report(s console.Streams, command string, err error) Status {
	if err == nil {
		return OK
	}
	if status, ok := errors.AsType[Status](err); ok {
		return status
	}
	f := FailureOf(err)
	status := StatusOf(f)
	own, ok := errors.AsType[*Error](err)
	if ok {
		status = own.Status
	}
	if f.JSON {
		console.PrintObject(s.Out, "error", f)
		return status
	}
	s.Tell("%s: %s", strings.TrimSpace("mcphub "+command), console.Escape(f.ForPeople()))
	if ok && status == Usage {
		s.Say("%s tells more", strings.TrimSpace("mcphub help "+command))
	}
	return status
}

// Failure is the reason why a command did not succeed, in the terms of the contract. It is the object of "error" in
// JSON output.
type Failure struct {
	Code    string            `json:"code"`   // name of the gRPC code
	Reason  string            `json:"reason"` // reason of the ErrorInfo detail, "" if there is none
	Message string            `json:"message"`
	Meta    map[string]string `json:"-"`
	JSON    bool              `json:"-"` // it is printed as a line of JSON
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Failf returns a failure of the command itself.
func Failf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FailureOf converts an error of the hub. An error that is not a gRPC status is a failure to reach the hub.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if f, ok := host.ErrorOf(err); ok {
		return &Failure{Code: f.Code, Reason: f.Reason, Message: Advised(f.Message, f.Meta),
			Meta: f.Meta}
	}
	return Failf("UNAVAILABLE", "%v", err)
}

// ForPeople returns the message for a person at the command line. It names flags instead of fields of the contract and
// settings.
func (f *Failure) ForPeople() string {
	if f.Meta["field"] == "arguments_json" {
		return f.Message + `: --args wants one, {"name":"Ada"} say; -a NAME=VALUE gives a single one`
	}
	return asFlags.Replace(f.Message)
}

// Advised returns the text of an error with these details. If it says that nobody could be asked, it names the
// flag that answers. Without details the question is one of a start.
func Advised(text string, meta map[string]string) string {
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

// StatusOf returns the exit status for a failure. Some reasons under FAILED_PRECONDITION mean that a person has
// refused, or that nobody could be asked. Any other failure is classified by its code.
func StatusOf(f *Failure) Status {
	switch f.Reason {
	case "NO_APPROVER", "DENIED_BY_USER", "DENIED_BY_POLICY", "DISMISSED_BY_USER", "INPUT_DECLINED", "SIGN_IN_DECLINED",
		"LAUNCH_DECLINED", "CONFIG_INPUT_MISSING":
		return Denied
	case "SERVER_NOT_FOUND", "TOOL_NOT_FOUND": // the command line has a name that does not exist
		return Usage
	}
	switch f.Code {
	case "OK":
		return OK
	case "CANCELLED":
		return Cancelled
	case "DEADLINE_EXCEEDED":
		return Timeout
	case "PERMISSION_DENIED":
		return Denied
	case "INVALID_ARGUMENT", "ALREADY_EXISTS", "OUT_OF_RANGE":
		return Usage
	}
	return Server
}
