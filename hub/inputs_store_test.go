package hub

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zalando/go-keyring"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
)

const inputFile = "/config/mcp.json"

func plainInput(id string) config.Input {
	return config.Input{ID: id, Origin: config.Origin{File: inputFile, Line: 7}}
}

func secretInput(id string) config.Input {
	in := plainInput(id)
	in.Secret = true
	return in
}

// opened gives a store in dir, its redactor, and what it has logged. No test touches the keyring of its machine.
func opened(t *testing.T, dir string) (*inputStore, *redact.Redactor, *bytes.Buffer) {
	var log bytes.Buffer
	redactor := &redact.Redactor{}
	return openInputs(dir, redactor, slog.New(slog.NewTextHandler(&log, nil))), redactor, &log
}

// withRing gives the system a keyring in memory, withoutRing none.
func withRing(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	keyring.MockInit()
}

func withoutRing() { keyring.MockInitWithError(keyring.ErrUnsupportedPlatform) }

func wantValue(t *testing.T, s *inputStore, in config.Input, want string) {
	t.Helper()
	if got, ok := s.Get(in); !ok || got != want {
		t.Errorf("input %s has %q, %v; want %q", in.ID, got, ok, want)
	}
}

func wantNone(t *testing.T, s *inputStore, in config.Input) {
	t.Helper()
	if got, ok := s.Get(in); ok {
		t.Errorf("input %s has %q", in.ID, got)
	}
}

func put(t *testing.T, s *inputStore, in config.Input, value string, byHost bool) {
	t.Helper()
	if got, ok := s.Put(in, fmt.Sprintf("%q", value), byHost); !ok || got != value {
		t.Fatalf("Put gave %q, %v", got, ok)
	}
}

// An input belongs to its file: one of another file with the same id has no value.
func TestValueIsOfItsFile(t *testing.T) {
	withoutRing()
	s, _, _ := opened(t, "")
	put(t, s, plainInput("token"), "v1", false)
	wantValue(t, s, plainInput("token"), "v1")
	other := plainInput("token")
	other.Origin.File = "/repos/evil/.vscode/mcp.json"
	wantNone(t, s, other)
	wantNone(t, s, plainInput("other"))
	put(t, s, plainInput("token"), "v2", false)
	wantValue(t, s, plainInput("token"), "v2")
	if content := `7`; func() bool { _, ok := s.Put(plainInput("token"), content, false); return ok }() {
		t.Error("a number was kept")
	}
	wantValue(t, s, plainInput("token"), "v2")
}

// Where a value is: what the host keeps in no file, a secret in the keyring if there is one, all else in the file.
func TestWhereValuesAre(t *testing.T) {
	for name, row := range map[string]struct {
		in           config.Input
		byHost, ring bool
		inFile       bool // the value
		survives     bool
	}{
		"plain":                           {plainInput("x"), false, true, true, true},
		"secret":                          {secretInput("x"), false, true, false, true},
		"secret without a keyring":        {secretInput("x"), false, false, true, true},
		"kept by the host":                {plainInput("x"), true, true, false, false},
		"secret that is kept by the host": {secretInput("x"), true, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if withRing(t); !row.ring {
				withoutRing()
			}
			dir := t.TempDir()
			s, redactor, log := opened(t, dir)
			const value = "v-7731-secret"
			put(t, s, row.in, value, row.byHost)
			wantValue(t, s, row.in, value)
			text, _ := os.ReadFile(filepath.Join(dir, "inputs.json"))
			if got := strings.Contains(string(text), value); got != row.inFile {
				t.Errorf("the value is in the file: %v", got)
			}
			if info, err := os.Stat(filepath.Join(dir, "inputs.json")); err == nil && runtime.GOOS != "windows" &&
				info.Mode().Perm()&0o077 != 0 {
				t.Errorf("others may open the file: %s", info.Mode())
			}
			if hidden := !strings.Contains(redactor.Text("it is "+value), value); hidden != row.in.Secret {
				t.Errorf("the hub hides the value: %v", hidden)
			}
			again, redactor, _ := opened(t, dir)
			if !row.survives {
				wantNone(t, again, row.in)
				return
			}
			wantValue(t, again, row.in, value)
			if hidden := !strings.Contains(redactor.Text("it is "+value), value); hidden != row.in.Secret {
				t.Errorf("the next hub hides the value: %v", hidden)
			}
			if strings.Contains(log.String(), value) {
				t.Errorf("the value is in the log: %s", log)
			}
		})
	}
}

// A value that the config does not allow any more counts as none, also one that came from another hub.
func TestValueThatNoLongerFits(t *testing.T) {
	withoutRing()
	for _, byHost := range []bool{false, true} {
		s, _, _ := opened(t, "")
		in := plainInput("size")
		in.Options = []config.InputOption{{Value: "small"}, {Value: "large"}}
		put(t, s, in, "small", byHost)
		wantValue(t, s, in, "small")
		in.Options = in.Options[1:]
		wantNone(t, s, in)
		// The person is asked again, and may choose another keeper: what the host kept must not hide the new value.
		put(t, s, in, "large", false)
		wantValue(t, s, in, "large")
	}
}

func TestForgottenValues(t *testing.T) {
	withRing(t)
	dir := t.TempDir()
	s, _, _ := opened(t, dir)
	put(t, s, plainInput("plain"), "p", false)
	put(t, s, secretInput("secret"), "s-secret", false)
	put(t, s, plainInput("hosts"), "h", true)
	put(t, s, plainInput("both"), "old", false)
	put(t, s, plainInput("both"), "new", true)
	put(t, s, plainInput("stays"), "x", false)
	wantValue(t, s, plainInput("both"), "new")
	want := []event.Remembered{
		{Kind: event.RememberedInput, InputID: "both", Scope: event.ScopeAlways},
		{Kind: event.RememberedInput, InputID: "both", Scope: event.ScopeOnce},
		{Kind: event.RememberedInput, InputID: "hosts", Scope: event.ScopeOnce},
		{Kind: event.RememberedInput, InputID: "plain", Scope: event.ScopeAlways},
		{Kind: event.RememberedInput, InputID: "secret", Scope: event.ScopeAlways},
		{Kind: event.RememberedInput, InputID: "stays", Scope: event.ScopeAlways},
	}
	list := s.remembered()
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(event.Remembered{}, "ID", "Time"),
		cmpopts.SortSlices(func(a, b event.Remembered) bool {
			return a.InputID < b.InputID || a.InputID == b.InputID && a.Scope > b.Scope
		})); diff != "" {
		t.Errorf("Remembered (-want +got):\n%s", diff)
	}
	ids := map[string]bool{"input-unknown": true, "": true}
	for _, r := range list {
		ids[r.ID] = r.InputID != "stays"
	}
	if n := s.forget(ids); n != 4 {
		t.Errorf("%d values were forgotten", n)
	}
	if n := s.forget(ids); n != 0 {
		t.Errorf("%d values were forgotten twice", n)
	}
	again, _, _ := opened(t, dir)
	for _, s := range []*inputStore{s, again} {
		for _, in := range []config.Input{plainInput("plain"), secretInput("secret"), plainInput("hosts"),
			plainInput("both")} {
			wantNone(t, s, in)
		}
		wantValue(t, s, plainInput("stays"), "x")
	}
	for _, r := range list {
		if value, err := keyring.Get("mcphub", r.ID); err == nil {
			t.Errorf("the keyring still has %q", value)
		}
	}
}

// All values of a server, or an error that names the first one that is missing and where it stands.
func TestValuesOfAServer(t *testing.T) {
	withoutRing()
	s, _, _ := opened(t, "")
	conf := config.Server{Name: "s", Command: "run", Args: []string{"${input:b}", "${input:a}", "${input:b}",
		"${input:none}"},
		Origin: config.Origin{File: inputFile, Dialect: config.DialectVSCode}, Inputs: []config.Input{plainInput("a"), plainInput("b")}}
	var ids []string
	for _, in := range inputsOf(conf) {
		ids = append(ids, in.ID)
	}
	if diff := cmp.Diff([]string{"b", "a"}, ids); diff != "" {
		t.Errorf("inputs of the server (-want +got):\n%s", diff)
	}
	put(t, s, plainInput("b"), "vb", false)
	_, err := s.values(conf)
	if e := event.AsError(err); err == nil || e.Reason != event.ReasonInputMissing || e.Meta["input"] != "a" ||
		!strings.Contains(e.Message, inputFile+":7") {
		t.Errorf("error %v", err)
	}
	put(t, s, plainInput("a"), "va", true)
	values, err := s.values(conf)
	if diff := cmp.Diff(map[string]string{"a": "va", "b": "vb"}, values); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
