package e2e

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// notKept is what a hub logs when it keeps secrets in a file.
const notKept = "are not kept in the system's keyring"

// sessionBus is a session bus of its own, without a service that could be started by a message. GNOME's keyring is a
// service on it as long as the test has one.
type sessionBus struct {
	*place
	address string
	data    string // where GNOME's keyring has its collections
}

func newSessionBus(t *testing.T) *sessionBus {
	t.Helper()
	for program, debian := range map[string]string{"dbus-daemon": "dbus", "gnome-keyring-daemon": "gnome-keyring"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("this test needs %s: install Debian's package %s", program, debian)
		}
	}
	b := &sessionBus{place: newPlace(t)}
	b.data = b.file("data")
	config := b.file("bus.conf")
	if err := os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:dir=`+b.dir+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>`),
		0o600); err != nil {
		t.Fatal(err)
	}
	b.address = b.starts(exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file="+config))
	return b
}

// starts starts a program that prints a line once it serves, and returns the line. It is killed at the end of the test.
func (b *sessionBus) starts(c *exec.Cmd) string {
	b.t.Helper()
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.t.Fatalf("%s: %v", c.Path, err)
	}
	return strings.TrimSpace(line)
}

// keyring makes GNOME's keyring a service of the bus. With a password it makes and unlocks the collection of the user;
// without one a collection that is there is locked. It returns a function that ends the service.
func (b *sessionBus) keyring(password string) (end func()) {
	b.t.Helper()
	args := []string{"--foreground", "--components=secrets"}
	if password != "" {
		args = append(args, "--unlock")
	}
	c := exec.Command("gnome-keyring-daemon", args...)
	c.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+b.address, "XDG_DATA_HOME="+b.data, "XDG_RUNTIME_DIR="+b.dir)
	c.Stdin = strings.NewReader(password)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	b.t.Cleanup(end)
	b.served()
	return end
}

// served waits until the bus has the Secret Service, of which the bus tells by itself.
func (b *sessionBus) served() {
	b.t.Helper()
	const secrets = "org.freedesktop.secrets"
	conn, err := dbus.Connect(b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	owners := make(chan *dbus.Signal, 64)
	conn.Signal(owners)
	if err := conn.AddMatchSignal(dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, secrets)); err != nil {
		b.t.Fatal(err)
	}
	for has := false; ; <-owners {
		if err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, secrets).Store(&has); err != nil {
			b.t.Fatal(err)
		}
		if has {
			return
		}
	}
}

// hub opens a hub that has this bus, with a server whose variable KEY is a secret input, and one that wants a sign-in.
func (b *sessionBus) hub(a *authority) (*door, *fakeeditor.Window, *book) {
	b.t.Helper()
	d, logs := b.openLogged(servers{}, handshake.EnvStateDir+"="+b.file("state"), "XDG_RUNTIME_DIR="+b.dir,
		"DBUS_SESSION_BUS_ADDRESS="+b.address)
	config := b.file("mcp.json")
	text := jsonText(b.t, object{
		"inputs": []object{{"id": "key", "type": "promptString", "password": true}},
		"servers": object{"web": a.web.entry("legacy"), "teller": object{"command": b.peer, "args": []string{"teller"},
			"env": object{"GORACE": atOnce["GORACE"], "KEY": "${input:key}"}, "approvals": allowAll}},
	})
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	d.loadFiles(&mcphubv1.ConfigSource{Path: config, Scope: "user", Folder: b.dir})
	return d, d.window("side bar"), logs
}

// inFiles returns the first file of the hub's state that has one of the texts, "" for none.
func (b *sessionBus) inFiles(secrets ...string) string {
	b.t.Helper()
	for path, text := range files(b.t, b.file("state")) {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				return path
			}
		}
	}
	return ""
}

// TestKeyring_nightly: a token and a secret input are written into GNOME's keyring and into no file, are there for the
// next hub and for a second one, and go when the user says so.
func TestKeyring_nightly(t *testing.T) {
	const value = "input-value-5521"
	b, a := newSessionBus(t), newAuthority(t)
	b.keyring("correct horse")
	d, w, logs := b.hub(a)
	c := d.variable("teller", "KEY")
	fill(t, w, "key", value)
	if got := c.text(); got != value {
		t.Errorf("the server has %q", got)
	}
	c = d.call("web", "echo", `{"text":"hello"}`)
	signsIn(t, a, w)
	if got := c.text(); got != "hello" {
		t.Errorf("the call gave %q", got)
	}
	d.shut()
	secrets := append(a.secretsGiven(), value)
	if found := b.inFiles(secrets...); found != "" || strings.Contains(logs.String(), notKept) {
		t.Errorf("a secret is in %q; the log:\n%s", found, logs)
	}

	d, w, _ = b.hub(a)
	second, w2, _ := b.hub(a)
	for _, d := range []*door{d, second} {
		if got := d.variable("teller", "KEY").text(); got != value {
			t.Errorf("after a restart the server has %q", got)
		}
		d.echoes("web", "again")
	}
	if n := questions(w) + questions(w2); n != 0 {
		t.Errorf("%d questions", n)
	}
	for _, m := range d.remembered(mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT) {
		forget := &mcphubv1.ForgetRequest{RememberedIds: []string{m.GetRememberedId()}}
		if _, err := d.Servers.Forget(d.ctx, forget); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Servers.SignOut(d.ctx, &mcphubv1.SignOutRequest{Server: "web"}); err != nil {
		t.Error(err)
	}
	d.shut()
	second.shut()

	d, w, logs = b.hub(a)
	c = d.variable("teller", "KEY")
	fill(t, w, "key", "another")
	if got := c.text(); got != "another" {
		t.Errorf("the server has %q", got)
	}
	c = d.call("web", "echo", `{"text":"anew"}`)
	signsIn(t, a, w)
	if got := c.text(); got != "anew" {
		t.Errorf("the call gave %q", got)
	}
	d.shut()
	if found := b.inFiles(append(a.secretsGiven(), value, "another")...); found != "" {
		t.Errorf("a secret is in %q; the log:\n%s", found, logs)
	}
}

// TestKeyringLocked_nightly: a collection that is locked, with nobody who could unlock it, and a bus without a keyring
// cost a word in the log, and what is kept is in files of the user alone.
func TestKeyringLocked_nightly(t *testing.T) {
	for _, locked := range []bool{true, false} {
		b, a := newSessionBus(t), newAuthority(t)
		if locked {
			b.keyring("correct horse")()
			if found, _ := filepath.Glob(filepath.Join(b.data, "keyrings", "*.keyring")); len(found) == 0 {
				t.Fatal("there is no collection that could be locked")
			}
			b.keyring("")
		}
		d, w, logs := b.hub(a)
		c := d.variable("teller", "KEY")
		fill(t, w, "key", "input-value-5521")
		if got := c.text(); got != "input-value-5521" {
			t.Errorf("locked: %v: the server has %q", locked, got)
		}
		c = d.call("web", "echo", `{"text":"hello"}`)
		signsIn(t, a, w)
		if got := c.text(); got != "hello" {
			t.Errorf("locked: %v: the call gave %q", locked, got)
		}
		d.shut()
		if n := strings.Count(logs.String(), notKept); n != 2 { // inputs, sign-ins
			t.Errorf("locked: %v: told %d times:\n%s", locked, n, logs)
		}
		for _, path := range append(b.kept(), b.inFiles("input-value-5521")) {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("locked: %v: others may read %q: %v", locked, path, err)
			}
		}
		if len(b.kept()) == 0 {
			t.Errorf("locked: %v: no sign-in is kept", locked)
		}
		for _, secret := range append(a.secretsGiven(), "input-value-5521") {
			if strings.Contains(logs.String(), secret) {
				t.Errorf("locked: %v: the log has a secret", locked)
			}
		}
	}
}
