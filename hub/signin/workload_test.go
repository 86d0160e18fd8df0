package signin

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
)

// jwtOf makes a JWT that nobody will verify.
func jwtOf(subject string) string {
	b64 := base64.RawURLEncoding.EncodeToString
	return b64([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + b64([]byte(`{"sub":"`+subject+`"}`)) + "." +
		b64([]byte("signature"))
}

// The token of a workload is read from its file at each exchange: the platform replaces it before it expires.
func TestWorkloadTokenFileIsReadEachTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live(t, Options{Config: config.OAuth{Grant: GrantWorkload, WorkloadTokenFile: path}}, func(t *testing.T, w *world) {
		p := &provider{authority: w.as}
		w.s.guard.Base = inProcess{p}
		write(jwtOf("one") + "\n")
		w.works(t)
		write(jwtOf("two"))
		w.works(t) // the access token is good still
		time.Sleep(2 * time.Hour)
		w.works(t)
		w.as.revoke()
		write(jwtOf("three"))
		w.works(t)
		var sent []string
		for _, form := range p.bearer {
			sent = append(sent, form.Get("assertion"))
		}
		if want := []string{jwtOf("one"), jwtOf("two"), jwtOf("three")}; strings.Join(sent, " ") != strings.Join(want, " ") {
			t.Errorf("sent %q", sent)
		}
	})
}

// A file that cannot be read, or has something other than a JWT, is an error; neither its content nor its path is sent
// or shown. The next request reads it again.
func TestWorkloadTokenFileIsChecked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tell-tale")
	live(t, Options{Config: config.OAuth{Grant: GrantWorkload, WorkloadTokenFile: path}}, func(t *testing.T, w *world) {
		p := &provider{authority: w.as}
		w.s.guard.Base = inProcess{p}
		key := "-----BEGIN OPENSSH PRIVATE KEY-----"
		for _, tt := range []struct{ name, text, want string }{
			{"missing", "", "cannot be read"},
			{"empty", " \n", "holds no JWT"},
			{"private key", key, "holds no JWT"},
			{"dots alone", "..", "holds no JWT"},
			{"words", "aaaa.bbbb.cccc", "holds no JWT"},
			{"two", jwtOf("one") + "\n" + jwtOf("two"), "holds no JWT"},
			{"no signature", jwtOf("one")[:strings.LastIndex(jwtOf("one"), ".")+1], "holds no JWT"},
			{"large", strings.Repeat("a", maxWorkloadToken+1), "more than"},
		} {
			if tt.text != "" {
				if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e := fails[*Error](t, w)
			if !strings.Contains(e.Text, tt.want) || strings.Contains(e.Error(), "tell-tale") ||
				strings.Contains(e.Error(), "PRIVATE") {
				t.Errorf("%s: %v", tt.name, e)
			}
		}
		if n := len(p.bearer); n != 0 {
			t.Errorf("%d token requests", n)
		}
		if err := os.WriteFile(path, []byte(jwtOf("one")), 0o600); err != nil {
			t.Fatal(err)
		}
		w.works(t)
	})
	if _, err := workloadToken(&config.OAuth{WorkloadTokenFile: dir}); err == nil ||
		!strings.Contains(err.Error(), "no file") {
		t.Errorf("a directory: %v", err)
	}
}
