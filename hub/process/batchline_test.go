package process

import (
	"errors"
	"strings"
	"testing"
)

// TestBatchLine: the command line by which cmd.exe gives a batch file its arguments. No character of an argument is
// outside quotes unless it is harmless; quotes are doubled; no % is followed by a variable's name. That cmd.exe reads
// such a line so is what TestBatchFileGetsItsArguments_real shows, on Windows.
func TestBatchLine(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ``},
		{[]string{"-y", "@scope/server@1.2.3", `--root=C:\x\y`}, ` -y @scope/server@1.2.3 "--root=C:\x\y"`},
		{[]string{"a b", "", "c"}, ` "a b" "" c`},
		{[]string{"a&echo>ran.txt", "b"}, ` "a&echo>ran.txt" b`},
		{[]string{"a|b", "a>ran.txt", "a<b", "(a)", "a;b,c=d"}, ` "a|b" "a>ran.txt" "a<b" "(a)" "a;b,c=d"`},
		{[]string{"a^b", "^", "!PATH!"}, ` "a^b" "^" "!PATH!"`},
		{[]string{`C:\dir with blank\`, `\\srv\share\`}, ` "C:\dir with blank\\" "\\srv\share\\"`},
		{[]string{"%PATH%", "50%", "plain"}, ` "%%cd:~,%PATH%%cd:~,%" "50%%cd:~,%" plain`},
		{[]string{`"&echo>ran.txt`, `" & echo>ran.txt & "`, `{"a":"b c","d":["e\\"]}`}, ` """&echo>ran.txt" """ & echo>ran.txt & """ "{""a"":""b c"",""d"":[""e\\\\""]}"`},
		{[]string{"über", "a\u00a0b", "\u3000", "\u201cq\u201d", "\xff"}, " \"über\" \"a\u00a0b\" \"\u3000\" \"\u201cq\u201d\" \"\xff\""},
	} {
		line, err := batchLine(`C:\x y\npx.cmd`, test.args)
		if want := `cmd.exe /e:ON /v:OFF /d /c ""C:\x y\npx.cmd"` + test.want + `"`; err != nil || line != want {
			t.Errorf("%q:\n%s\nwant\n%s, %v", test.args, line, want, err)
		}
	}
}

// TestBatchLineRefuses: what no quoting can protect is an error that names the setting.
func TestBatchLineRefuses(t *testing.T) {
	for _, test := range []struct {
		path, arg, setting string
	}{
		{`C:\npx.cmd`, "a\nb", "args"},
		{`C:\npx.cmd`, "a\r\necho", "args"},
		{`C:\npx.cmd`, "a\x00", "args"},
		{`C:\100%\npx.cmd`, "a", "command"},
		{`C:\a"b\npx.cmd`, "a", "command"},
		{"C:\\a\nb.cmd", "a", "command"},
	} {
		line, err := batchLine(test.path, []string{"ok", test.arg})
		if failed := (*StartError)(nil); !errors.As(err, &failed) || failed.Setting != test.setting || line != "" ||
			!strings.Contains(failed.Message, "batch file") {
			t.Errorf("%q %q: %q, %v", test.path, test.arg, line, err)
		}
	}
}
