//go:build unix

package conformance

import (
	"os/exec"
	"strings"
	"testing"
)

// TestControl_nightly runs the client of the official Go SDK, which is known to pass. If a scenario fails here and for
// the hub, look for the fault in the harness, the machine and the suite first.
func TestControl_nightly(t *testing.T) {
	for _, revision := range []string{legacy, modern} {
		t.Run(revision, func(t *testing.T) {
			scored, _ := newest(t).required(t, revision)
			runAll(t, newest(t), sdkDriver, revision, scored)
		})
	}
}

// TestHarnessFailsBrokenClients_nightly: the harness reports clients that do not work, and a scenario that does not
// exist.
func TestHarnessFailsBrokenClients_nightly(t *testing.T) {
	for _, name := range []string{"true", "false"} {
		client, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		// The client gets the URL as its argument and sends nothing.
		if err := newest(t).verdict(t, client, "tools_call", modern); err == nil {
			t.Errorf("a client that only runs %q passes tools_call", name)
		}
	}
	if err := newest(t).verdict(t, sdkDriver, "no-such-scenario", modern); err == nil {
		t.Error("a scenario that does not exist passes")
	}
	// The control client does not implement this grant, and exits with an error that says so.
	err := newest(t).verdict(t, sdkDriver, extauth[0], modern)
	if err == nil || !strings.Contains(err.Error(), "the control does not do the grant") {
		t.Errorf("a client that fails: %v", err)
	}
}

func TestJudge(t *testing.T) {
	good := check{ID: "a", Status: "SUCCESS"}
	tests := []struct {
		name   string
		checks []check
		exit   error
		want   string
	}{
		{"good", []check{good, {Status: "INFO"}, {Status: "SKIPPED"}}, nil, ""},
		{"one failure", []check{good, {ID: "b", Status: "FAILURE", ErrorMessage: "bad header"}}, nil,
			"1 of 2 checks:\nFAILURE b: : bad header"},
		{"a warning", []check{good, {ID: "b", Status: "WARNING"}}, nil, "WARNING b"},
		{"exit code", []check{good}, exec.ErrNotFound, "and yet"},
		{"nothing checked", []check{{Status: "INFO"}}, nil, "checked nothing"},
		{"no result", nil, nil, "checked nothing"},
	}
	for _, tt := range tests {
		err := judge(tt.checks, tt.exit, "")
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
