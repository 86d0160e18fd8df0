package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvFile(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		bad        []int
	}{
		{"", "", nil},
		{"A=1\nB=two words \n\n# C=3\n  D = 4", "A=1 B=two words D=4", nil},
		{"\xEF\xBB\xBFA=1\r\nB=2\r\n", "A=1 B=2", nil},
		{"export A=1\nexport\tB=2\nexportC=3\nexport=4", "A=1 B=2 exportC=3 export=4", nil},
		{"A=\nB=''\nC=\"\"", "A= B= C=", nil},
		{"A=a#b\nB=a #b\nC=#x\nD='a #b' # c", "A=a#b B=a C= D=a #b", nil},
		{`A="a\nb\t\"\\\x"` + "\n" + `B='a\nb'` + "\nC=`it's \"c\"`", "A=a\nb\t\"\\\\x B=a\\nb C=it's \"c\"", nil},
		{"A=\"one\ntwo\"\nB=2\nbad\nC='\n'", "A=one\ntwo B=2 C=\n", []int{4}},
		{"A=$B ${B} $(B) `B`\nB=\"$A ${A}\"", "A=$B ${B} $(B) `B` B=$A ${A}", nil}, // nothing is expanded, and nothing run
		{"A=1\nA=2\nB=3\nA=4", "A=4 B=3", nil},
		{"no sign\n=1\n1A=2\nA B=3\nA-b.c=4", "A-b.c=4", []int{1, 2, 3, 4}},
		{"A='open\nB=2", "B=2", []int{1}},
		{"A='x'y\nB=2", "B=2", []int{1}},
		{"A=a=b==\nB=\"{\\\"k\\\": 1}\"", "A=a=b== B={\"k\": 1}", nil},
		{"A\nB=2", "B=2", []int{1}},
	} {
		vars, bad := parseEnvFile([]byte(tt.text))
		var got []string
		for _, v := range vars {
			got = append(got, v.name+"="+v.value)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
		if diff := cmp.Diff(tt.bad, bad); diff != "" {
			t.Errorf("%q: bad lines %s", tt.text, diff)
		}
	}
}

func TestEnvFileIsBelowEnv(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "conf.env"), "A=file\nB=file\nC=file\n")
	env := "own"
	s := Server{
		Name: "s", Command: "c", EnvFile: "${workspaceFolder}/conf.env", Env: map[string]*string{"B": &env, "C": nil},
		Origin: Origin{Dialect: DialectVSCode, Folder: dir, File: filepath.Join(dir, "mcp.json")},
	}
	for _, file := range []string{"${workspaceFolder}/conf.env", "conf.env", "./conf.env", filepath.Join(dir, "conf.env"),
		"~/conf.env"} {
		s.EnvFile = file
		r, err := s.Resolve(Variables{Home: dir})
		if err != nil {
			t.Fatal(err)
		}
		if *r.Env["A"] != "file" || *r.Env["B"] != "own" || r.Env["C"] != nil || len(r.Env) != 3 || r.EnvFile != "" {
			t.Errorf("%s: %v", file, r.Env)
		}
		if diff := cmp.Diff([]string{"file"}, r.Secrets); diff != "" {
			t.Error(diff)
		}
	}
	if _, ok := s.Env["A"]; ok {
		t.Error("the server itself was changed")
	}
}

func TestEnvFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "large"), strings.Repeat("A=b\n", maxFile/4+1))
	putFile(t, filepath.Join(dir, "zero"), "A=x\x00y\n") // Windows keeps "nul" for a device
	putFile(t, filepath.Join(dir, "bad"), "A=x\nthis is s3cret\n")
	s := Server{Name: "s", Command: "c", Fields: map[string]Place{"envFile": {Line: 3, Column: 5, Key: "envFile"}},
		Origin: Origin{File: "f", Dialect: DialectVSCode, Folder: dir}}
	for file, want := range map[string]string{
		"missing": "cannot be read: no such file", "large": "is larger than", "": "", ".": "not a regular file",
		"zero":      "zero byte",
		"/dev/zero": "not a regular file",
	} {
		if file == "/dev/zero" && runtime.GOOS == "windows" {
			continue
		}
		s.EnvFile = file
		_, err := s.Resolve(Variables{})
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", file, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), `f:3:5: server "s": key "envFile": `) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
		if path := filepath.Join(dir, file); file == "missing" && !strings.Contains(err.Error(), fmt.Sprintf("%q", path)) {
			t.Errorf("the path is not named: %v", err)
		}
	}
	s.EnvFile = "bad"
	r, err := s.Resolve(Variables{})
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "line 2") ||
		strings.Contains(r.Warnings[0], "s3cret") {
		t.Errorf("%v, %q", err, r.Warnings)
	}
}

func putFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzEnvFile(f *testing.F) {
	for _, text := range []string{"A=1\nexport B='x\ny' # c\n", "A=\"\\", "=\n\"", "A=`", "\xEF\xBB\xBFA=1\r\n\r",
		"A='\n'x\nB"} {
		f.Add([]byte(text))
	}
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	f.Fuzz(func(t *testing.T, data []byte) {
		vars, bad := parseEnvFile(data)
		lines := strings.Count(string(data), "\n") + 1
		last := 0
		for _, line := range bad {
			if line <= last || line > lines {
				t.Fatalf("bad lines %v of %d", bad, lines)
			}
			last = line
		}
		seen := map[string]bool{}
		for _, v := range vars {
			if !name.MatchString(v.name) || seen[v.name] {
				t.Fatalf("%q", v)
			}
			seen[v.name] = true
		}
		// Written back in double quotes, the values are read the same.
		var b strings.Builder
		for _, v := range vars {
			value := strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(v.value)
			fmt.Fprintf(&b, "%s=\"%s\"\n", v.name, value)
		}
		again, bad := parseEnvFile([]byte(b.String()))
		if diff := cmp.Diff(fmt.Sprint(vars), fmt.Sprint(again)); diff != "" || bad != nil {
			t.Fatalf("%s %v", diff, bad)
		}
	})
}
