package process

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lists of all systems are tested on every system.
func TestEnvironmentBySystem(t *testing.T) {
	value := func(s string) *string { return &s }
	tests := []struct {
		name, goos string
		parent     []string
		extra      map[string]*string
		want       []string
	}{
		{"nothing", "linux", nil, nil, []string{}},
		{
			"unix is exact about case", "linux",
			[]string{"PATH=/bin", "Path=/x", "HOME=/h", "noequals", "=C:=1", "LC_ALL=C", "LCX=1"}, nil,
			[]string{"HOME=/h", "LC_ALL=C", "PATH=/bin"},
		},
		{
			"the last of a parent's doubles counts", "linux",
			[]string{"HOME=/a", "HOME=/b"}, nil, []string{"HOME=/b"},
		},
		{
			"windows ignores case", "windows",
			[]string{`Path=C:\bin`, `SystemRoot=C:\Windows`, `AppData=C:\a`, "VSCODE_PID=1", "vscode_pid=2", "Plugin_X=1",
				"HOME=/h"},
			map[string]*string{"PATH": value(`D:\bin`), "appdata": nil},
			[]string{`PATH=D:\bin`, `SystemRoot=C:\Windows`},
		},
		{
			"extra wins and may be empty", "darwin",
			[]string{"TMPDIR=/t", "LANG=C"},
			map[string]*string{"LANG": value(""), "ELECTRON_X": value("1"), "TMPDIR": nil, "NUL\x00": value("1")},
			[]string{"ELECTRON_X=1", "LANG="},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, environment(tt.goos, tt.parent, Own, tt.extra)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Finding D13: the variables for proxies, certificates, the SSH agent, containers and clusters reach a server of the
// user. A server from a workspace gets the settings without their passwords, and of the rights only those it names.
func TestEnvironmentOfHeirs(t *testing.T) {
	settings := []string{"HTTPS_PROXY=http://me:p%40ss@proxy.test:8080", "NO_PROXY=localhost,.test",
		"all_proxy=you:word@10.0.0.1:1",
		"NODE_EXTRA_CA_CERTS=/etc/ca@home.pem", "SSL_CERT_DIR=/etc/ssl", "VOLTA_HOME=/v"}
	rights := []string{"DOCKER_HOST=ssh://me@box.test", "KUBECONFIG=/k", "SSH_AUTH_SOCK=/tmp/agent"}
	parent := slices.Concat(settings, rights, []string{"GITHUB_TOKEN=t", "NODE_OPTIONS=-r x", "HTTPS_PROXY_PASSWORD=x"})
	want := slices.Concat(settings, rights)
	slices.Sort(want)
	if diff := cmp.Diff(want, environment("linux", parent, Own, nil)); diff != "" {
		t.Error(diff)
	}
	named := map[string]*string{"SSH_AUTH_SOCK": new("/tmp/agent")}
	want = []string{"HTTPS_PROXY=http://proxy.test:8080", "NODE_EXTRA_CA_CERTS=/etc/ca@home.pem",
		"NO_PROXY=localhost,.test",
		"SSH_AUTH_SOCK=/tmp/agent", "SSL_CERT_DIR=/etc/ssl", "VOLTA_HOME=/v", "all_proxy=10.0.0.1:1"}
	if diff := cmp.Diff(want, environment("darwin", parent, Stranger, named)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Https_Proxy=http://proxy.test"}, environment("windows",
		[]string{"Https_Proxy=http://a:b@proxy.test"}, Stranger, nil)); diff != "" {
		t.Error(diff)
	}
}

// Credentials finds the user name and password of an address, in every spelling that redaction must know, and takes
// nothing else for a secret.
func TestCredentials(t *testing.T) {
	for text, want := range map[string][]string{
		"HTTP_PROXY=http://me:p%40ss@proxy.test:8080":     {"me:p%40ss", "p%40ss", "p@ss", "me:p@ss"},
		"https_proxy=me:word@proxy.test:8080":             {"me:word", "word"},
		"ALL_PROXY=socks5://tok-991@proxy.test":           {"tok-991"},
		"HTTPS_PROXY=http://me:a/b#c@proxy.test":          {"me:a/b#c", "a/b#c"},
		"DOCKER_HOST=unix:///var/run/docker.sock":         nil,
		"HTTP_PROXY=http://proxy.test:8080":               nil,
		"SSL_CERT_FILE=/certificates/me@corp.test/ca.pem": nil,
		"HOME=c:me@corp":         nil,
		"TOKEN=http://me:word@x": nil,
	} {
		if diff := cmp.Diff(want, Credentials([]string{text})); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// docs/config.md has the complete lists of the variables that reach a server, and of those that never do.
func TestInheritedNamesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{inheritUnix, inheritWindows, inheritSettings, inheritRights, neverInherit} {
		before, after, found := strings.Cut(string(text), "`"+strings.Join(list, "`, `")+"`")
		if !found || strings.HasSuffix(before, "`, ") || strings.HasPrefix(after, ", `") {
			t.Errorf("docs/config.md does not have exactly this list: %q", list)
		}
	}
}
