package config

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecrets(t *testing.T) {
	s := Server{
		Command: "c", Args: []string{"--key=${input:key}", "${input:plain}", "${env:SPACE}"},
		Env: map[string]*string{
			"A": new("literal-token"), "B": new("${env:SHORT}"), "C": new("true"), "D": new("Debug"), "E": new("123"),
			"F": new("1234"), "G": new(native("/h/me")),
			"H": new(native("/repos/app")), "I": nil, "J": new(""), "K": new("x${env:TOKEN}"),
		},
		Inputs: testInputs, Origin: Origin{Dialect: DialectVSCode},
	}
	r, err := s.Resolve(world())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"literal-token", "xs3cret-token", "s3cret-space", "s3cret-token", "s3cret-key", "1234"}
	if diff := cmp.Diff(want, r.Secrets); diff != "" {
		t.Error(diff)
	}
	s = Server{
		URL:    "https://x.example/?key=${env:Mixed}&key=in%2Bthe+address&eu=1",
		Header: map[string]string{"Authorization": "Bearer  abcdefgh", "X-Plain": "none"},
		OAuth: OAuth{ClientID: "client", ClientSecret: "the-secret", PrivateKeyPEM: "the-pem", WorkloadToken: "the-token",
			IDP: IdentityProvider{IDToken: "id-token"}},
		Origin: Origin{Dialect: DialectVSCode},
	}
	if r, err = s.Resolve(world()); err != nil {
		t.Fatal(err)
	}
	want = []string{"Bearer  abcdefgh", "in+the address", "s3cret-mixed", "the-secret", "the-token", "abcdefgh",
		"id-token", "the-pem"}
	if diff := cmp.Diff(want, r.Secrets); diff != "" {
		t.Error(diff)
	}
	// Roo replaces backslashes in values; either form may appear in a text.
	s = Server{Command: "${env:WIN}", Origin: Origin{Dialect: DialectRoo}}
	if r, err = s.Resolve(world()); err != nil || len(r.Secrets) != 2 ||
		!slices.Contains(r.Secrets, "s3cret/back/slash") || !slices.Contains(r.Secrets, `s3cret\back\slash`) {
		t.Errorf("%q, %v", r.Secrets, err)
	}
}

// Whatever is configured, an error and a warning hold no value: not of the environment, not of inputs, not of files,
// not of the texts.
func TestResolveShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, ".env"), "A=s3cret-file\nno line s3cret\n=s3cret\nB='s3cret")
	putFile(t, filepath.Join(dir, "zero"), "A=s3cret\x00\n")
	v := world()
	pieces := []string{
		"${env:TOKEN}", "${env:LINE}", "${env:NUL}", "${env:UNSET}", "${env:BIG}", "${TOKEN}", "$TOKEN", "${UNSET:-s3cret}",
		"${UNSET}", "$NUL", "${LINE}", "${BIG}", "{env:NUL}",
		"{env:TOKEN}", "{file:key.txt}", "{file:missing}", "{env:BIG}", "${input:key}", "${input:never}", "${input:gone}",
		"${command:x}", "${config:x}", "${workspaceFolder:no}",
		"${s3cret}", "${TOKEN:?s3cret}", "$(s3cret)", "`s3cret`", "https://", "http://s3cret:s3cret@", "x.example/",
		"#s3cret", "s3cret\x00", "s3cret\n", "/", " ", "Bearer s3cret",
		"${env:${input:key}}", "${HOST}", "${env:HOST}", strings.Repeat("s3cret", 400),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range max(rng.IntN(6)-3, 0) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	dialects := append(slices.Sorted(func(yield func(string) bool) {
		for d := range grammars {
			if !yield(d) {
				return
			}
		}
	}), DialectCodex, DialectDesktop)
	failed, warned := 0, 0
	for range 10000 {
		s := Server{Name: "srv", Inputs: testInputs, Origin: Origin{File: filepath.Join(dir, "f"), Line: 1,
			Dialect: dialects[rng.IntN(len(dialects))]}}
		switch rng.IntN(3) {
		case 0:
			s.URL = "https://x.example/" + text()
			s.Header = map[string]string{"X-A": text(), "X-B": text()}
			s.OAuth.ClientSecret = text()
			s.EnvRefs, s.BearerEnv = map[string]string{"X-C": "UNSET", "X-D": []string{"LINE", "TOKEN", "Mixed"}[rng.IntN(3)]},
				"TOKEN"
			if rng.IntN(2) == 0 {
				s.URL = text()
			}
		case 1:
			s.Command, s.Args, s.Dir = "c"+text(), []string{text(), text()}, text()
			s.Env = map[string]*string{"A": new(text()), "B": new(text())}
			s.EnvRefs = map[string]string{"C": "UNSET", "D": []string{"NUL", "TOKEN", "Mixed"}[rng.IntN(3)]}
		default:
			s.Command = "c"
			s.EnvFile = []string{".env", "zero", "${env:TOKEN}", "$TOKEN", "{env:TOKEN}", "${env:NUL}",
				"${TOKEN}/x"}[rng.IntN(7)]
		}
		r, err := s.Resolve(v)
		told := strings.Join(r.Warnings, "\n")
		if err != nil {
			told += err.Error()
			failed++
		}
		if len(r.Warnings) > 0 {
			warned++
		}
		if at := strings.Index(told, "s3c"); at >= 0 {
			t.Fatalf("%s is in %q\n%+v", told[at:min(at+12, len(told))], told, s)
		}
		if len(told) > 4000 {
			t.Fatalf("%d bytes are told", len(told))
		}
	}
	if failed < 1000 || warned < 1000 {
		t.Errorf("%d errors and %d warnings: the texts are no test", failed, warned)
	}
}

func FuzzResolve(f *testing.F) {
	for i := range 11 {
		for _, text := range []string{"${env:A} ${A:-d} $A {env:A}", "${workspaceFolder}${/}", "${input:key} ${input:x}",
			"plain", "\\$A `x` $(x)", "{file:x}", "${A:-${B}}", "${", "${}", "$", "{env:}"} {
			f.Add(i, text, "value ${env:A} $A {env:A}")
		}
	}
	f.Fuzz(func(t *testing.T, which int, text, value string) {
		dialects := []string{
			DialectVSCode, DialectPortable, DialectRoo, DialectCline, DialectDesktop, DialectCursor, DialectGemini, DialectCodex,
			DialectOpencode, DialectCrush, DialectMcpServers,
		}
		dialect := dialects[(which%len(dialects)+len(dialects))%len(dialects)]
		server := func() Server {
			return Server{
				Name: "s", Command: "c", Args: []string{text}, Env: map[string]*string{"E": &text},
				Header: map[string]string{"H": text}, OAuth: OAuth{ClientSecret: text},
				Inputs: []Input{{ID: "key", Secret: true}}, Origin: Origin{File: "/conf/f", Dialect: dialect, Folder: "/work"},
			}
		}
		with := func(value string) Variables {
			return Variables{
				Getenv: func(string) (string, bool) { return value, true }, Home: "/home", Cwd: "/cwd",
				Input:    func(string) (string, bool) { return value, true },
				ReadFile: func(string) ([]byte, error) { return []byte(value), nil },
			}
		}
		s := server()
		r, err := s.Resolve(with(value))
		if diff := cmp.Diff(server(), s); diff != "" {
			t.Fatalf("the server was changed: %s", diff)
		}
		s.Shown(with(value))
		s.InputIDs()
		if err != nil {
			return
		}
		if !strings.ContainsAny(text, "$`{") && (r.Args[0] != text || *r.Env["E"] != text || r.Header["H"] != text) {
			t.Fatalf("%s: a text without references became %q", dialect, r.Args[0])
		}
		var none secrets
		none.places = []string{"/home", "/cwd", "/work"}
		complete := func(what, v string) {
			none.found = nil
			none.add(v)
			for _, v := range none.list() {
				if !slices.Contains(r.Secrets, v) {
					t.Fatalf("%s: %s %q is not in %q", dialect, what, v, r.Secrets)
				}
			}
		}
		complete("the variable", *r.Env["E"])
		complete("the header", r.Header["H"])
		complete("the sign-in", r.OAuth.ClientSecret)
		if !slices.IsSortedFunc(r.Secrets, func(a, b string) int {
			return len(b) - len(a)
		}) || slices.Contains(r.Secrets, "") {
			t.Fatalf("%q", r.Secrets)
		}
		// Nothing is expanded twice: what a value holds makes no difference to what happens to the text.
		const mark = "\x01mark\x02"
		if value == "" || strings.ContainsAny(value, "\\\x00") || strings.TrimSpace(value) != value ||
			strings.Contains(text, mark) {
			return
		}
		marked, err := s.Resolve(with(mark))
		// A header cannot hold the mark, so it is left out of this.
		if err != nil {
			s.Header = nil
			if marked, err = s.Resolve(with(mark)); err != nil {
				t.Fatalf("%s: %v", dialect, err)
			}
		}
		if want := strings.ReplaceAll(marked.Args[0], mark, value); want != r.Args[0] {
			t.Fatalf("%s: %q became %q, want %q", dialect, text, r.Args[0], want)
		}
		if want := marked.Args[0] != text; want && strings.Contains(marked.Args[0], mark) {
			complete("what came in", value)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	s := Server{Command: "npx", Args: []string{"-y", "server", "${workspaceFolder}"}, Env: map[string]*string{},
		Origin: Origin{Dialect: DialectVSCode, Folder: "/w"}}
	for i := range 10 {
		s.Env[fmt.Sprint("V", i)] = new("x${env:TOKEN}")
	}
	v := world()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Resolve(v); err != nil {
			b.Fatal(err)
		}
	}
}
