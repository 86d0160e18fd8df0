package process

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/windows"
)

// argumentsVariable makes the test binary a program that prints its arguments and its command line, and exits.
const argumentsVariable = "TRANSPORT_TEST_ARGUMENTS"

func TestMain(m *testing.M) {
	if os.Getenv(argumentsVariable) != "" {
		_ = json.NewEncoder(os.Stdout).Encode(os.Args[1:])
		_, _ = os.Stdout.WriteString(windows.UTF16PtrToString(windows.GetCommandLine()))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startBatch starts a batch file that passes its arguments to a program, as npx.cmd does, and returns what it prints.
// On a busy machine, Wine's cmd.exe fails to start the program once in some thousand times: with 9009, or with 0 and
// nothing printed. That says nothing about the arguments, and it is started anew, three times in all.
func startBatch(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := "@ECHO OFF\r\nSETLOCAL\r\n\"" + self + "\" %*\r\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := Environment(append(os.Environ(), "PATH="+dir+";"+os.Getenv("PATH")), Own,
		map[string]*string{"PATH": &dir, argumentsVariable: &dir})
	for range 3 {
		p, err := Start(Command{Path: strings.TrimSuffix(name, filepath.Ext(name)), Dir: dir, Args: args, Env: env})
		if err != nil {
			return "", err
		}
		out, err := io.ReadAll(p.Stdout())
		exit := p.Stop("")
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 {
			return string(out), nil
		}
		t.Logf("the program printed nothing: %+v, stderr %q", exit, p.Stderr())
	}
	return "", errors.New("the program printed nothing")
}

// TestBatchFileGetsItsArguments_real: no argument runs a command or becomes another one, whatever is in it.
func TestBatchFileGetsItsArguments_real(t *testing.T) {
	for _, args := range [][]string{
		{"-y", "@scope/server@1.2.3", "--root=C:\\x\\y"},
		{"a b", "", "c"},
		{"a&echo>ran.txt", "b"},
		{"x & echo>ran.txt"},
		{"a|b", "a>ran.txt", "a<b", "(a)", "a;b,c=d"},
		{"a^b", "^", "^&echo>ran.txt"},
		{"!PATH!", "a!b"},
		{`C:\dir with blank\`, `\\srv\share\`},
		{"https://x.example/?a=b&c=d"},
		{"über", "日本"},
	} {
		dir := t.TempDir()
		out, err := startBatch(t, dir, "tool.cmd", args...)
		var got []string
		printed, _, _ := strings.Cut(out, "\n")
		if err != nil || json.Unmarshal([]byte(printed), &got) != nil || !cmp.Equal(args, got) {
			t.Errorf("%q: it got %q, %v", args, out, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "ran*")); len(files) > 0 {
			t.Errorf("%q: a command ran", args)
		}
	}
}

// TestBatchFileArgumentWithQuotes_real: a quote is doubled, which the C runtime of Node and Python reads as one quote,
// and for cmd.exe the argument stays quoted. The command line of the program is compared, because Go splits it by older
// rules.
func TestBatchFileArgumentWithQuotes_real(t *testing.T) {
	for arg, want := range map[string]string{
		`"&echo>ran.txt`:          `"""&echo>ran.txt"`,
		`" & echo>ran.txt & "`:    `""" & echo>ran.txt & """`,
		`{"a":"b c","d":["e\\"]}`: `"{""a"":""b c"",""d"":[""e\\\\""]}"`,
	} {
		dir := t.TempDir()
		out, err := startBatch(t, dir, "tool.cmd", arg)
		_, line, _ := strings.Cut(out, "\n")
		if err != nil || !strings.HasSuffix(strings.TrimRight(line, " "), ".exe\" "+want) {
			t.Errorf("%s: it got %s, %v", arg, line, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "ran*")); len(files) > 0 {
			t.Errorf("%s: a command ran", arg)
		}
	}
}

// TestBatchFileRefuses: for an argument that cannot be passed unchanged, the error names the setting, and nothing is
// started.
func TestBatchFileRefuses(t *testing.T) {
	_, err := startBatch(t, t.TempDir(), "tool.bat", "a\r\necho")
	if e, ok := errors.AsType[*StartError](err); !ok || e.Setting != "args" || e.Command != "tool" ||
		!strings.Contains(e.Message, "line break") {
		t.Errorf("%v", err)
	}
}
