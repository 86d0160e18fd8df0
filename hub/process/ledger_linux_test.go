package process

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// deadHub returns the identity of a process that has exited and was reaped.
func deadHub(t *testing.T) ident {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hub, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if s := hub.sight(); s != absent {
		t.Fatalf("it is %v", s)
	}
	return hub
}

// bystander is a process with a group of its own.
func bystander(t *testing.T) ident {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func putLedger(t *testing.T, dir string, st ledgerFile) {
	t.Helper()
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, ledgerName(st.Hub), string(data))
}

func putFile(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, "processes", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sweep(t *testing.T, dir string) (ended int, log string) {
	t.Helper()
	var b lockedBuffer
	ended = OpenLedger(dir, slog.New(slog.NewTextHandler(&b, nil))).Sweep()
	return ended, b.String()
}

func TestReusedNumberIsNotKilled_real(t *testing.T) {
	for _, tt := range []struct {
		name  string
		later uint64 // than the ledger says
		dies  bool
	}{{"the same process", 0, true}, {"another process with its number", 1, false}} {
		t.Run("by the ledger: "+tt.name, func(t *testing.T) {
			dir, who := t.TempDir(), bystander(t)
			hub := deadHub(t)
			putLedger(t, dir, ledgerFile{Boot: bootID(), Hub: hub, Marker: newMarker(),
				Groups: []groupRecord{{ident: ident{who.PID, who.Start - tt.later}}}})
			n, _ := sweep(t, dir)
			if tt.dies {
				gone(t, who.PID)
			} else if who.sight() != present || n != 0 { // a kill takes its time to show
				t.Errorf("it is gone, of %d", n)
			}
			if files := ledgers(t, dir); len(files) != 0 {
				t.Errorf("left: %q", files)
			}
		})
		t.Run("by the guard: "+tt.name, func(t *testing.T) {
			who := bystander(t)
			g, err := startGuard(guardCommand())
			if err != nil {
				t.Fatal(err)
			}
			l := newGuardLink(guardCommand(), newMarker(), slog.New(slog.DiscardHandler))
			l.guard = g
			go l.watch(g)
			l.mu.Lock()
			l.write(guardLine{Marker: l.marker})
			l.mu.Unlock()
			l.started(groupRecord{ident: ident{who.PID, who.Start - tt.later}})
			l.close() // not clean: a group is left
			within(t, g.gone, "the end of the guard")
			if tt.dies {
				gone(t, who.PID)
			} else if who.sight() != present {
				t.Error("it is gone")
			}
		})
	}
	t.Run("of another boot", func(t *testing.T) {
		dir, who := t.TempDir(), bystander(t)
		putLedger(t, dir, ledgerFile{Boot: "other " + bootID(), Hub: deadHub(t), Marker: newMarker(),
			Groups: []groupRecord{{ident: who}}})
		sweep(t, dir)
		if who.sight() != present {
			t.Error("it is gone")
		}
		if files := ledgers(t, dir); len(files) != 0 {
			t.Errorf("left: %q", files)
		}
	})
	t.Run("of another container", func(t *testing.T) {
		dir, who := t.TempDir(), bystander(t)
		boot, _, _ := strings.Cut(bootID(), " ")
		putLedger(t, dir, ledgerFile{Boot: boot + " pid:[1]", Hub: deadHub(t), Marker: newMarker(),
			Groups: []groupRecord{{ident: who}}})
		sweep(t, dir)
		if who.sight() != present || len(ledgers(t, dir)) != 1 {
			t.Errorf("its ledger was taken: %q", ledgers(t, dir))
		}
	})
}

// Two hubs of one user share a state directory.
func TestLivingHubsLedgerIsLeftAlone_real(t *testing.T) {
	token, dir := newToken(), t.TempDir()
	h := startHub(t, token, dir, 2)
	h.until(t, "all")
	before := withToken(t, token)
	files := ledgers(t, dir)
	if len(before) != 7 || len(files) != 1 { // six of the servers, and the hub
		t.Fatalf("%d processes, ledgers %q", len(before), files)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{token, "sleep", "PATH"} {
		if strings.Contains(string(content), secret) {
			t.Errorf("the ledger shows %q: %s", secret, content)
		}
	}
	for path, mode := range map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	// The files of a running hub are kept, whatever they contain.
	hub, err := identify(h.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, ledgerName(hub)+temporary, "half of it")

	if n, log := sweep(t, dir); n != 0 || log != "" {
		t.Errorf("%d ended: %s", n, log)
	}
	if now := ledgers(t, dir); len(now) != 2 {
		t.Errorf("ledgers: %q", now)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(t, dir)
	if now := ledgers(t, dir); len(now) != 2 {
		t.Errorf("ledgers: %q", now)
	}
	if after := withToken(t, token); len(after) != len(before) {
		t.Errorf("before %v, after %v", before, after)
	}
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	h.kill(t)
	noneLeft(t, token, "after the hub")
	sweep(t, dir)
	if now := ledgers(t, dir); len(now) != 0 {
		t.Errorf("left: %q", now)
	}
}

func TestCorruptLedgerIsRemoved_real(t *testing.T) {
	who := bystander(t)
	hub := deadHub(t)
	name := ledgerName(hub)
	groups := fmt.Sprintf(`"groups":[{"pid":%d,"start":%d}]`, who.PID, who.Start)
	head := fmt.Sprintf(`"boot":%q,"hub":{"pid":%d,"start":%d}`, bootID(), hub.PID, hub.Start)
	for what, content := range map[string]string{
		"empty":   "",
		"no JSON": "secret \x00\xff",
		"cut off": `{` + head + `,"marker":"` + newMarker() + `","gro`,
		"of another hub": `{"boot":"` + bootID() + `","hub":{"pid":1,"start":1},"marker":"` + newMarker() + `",` +
			groups + `}`,
		"without marker":      `{` + head + `,` + groups + `}`,
		"marker fits all":     `{` + head + `,"marker":"",` + groups + `}`,
		"number of all":       `{` + head + `,"marker":"` + newMarker() + `","groups":[{"pid":-1,"start":0}]}`,
		"number of init":      `{` + head + `,"marker":"` + newMarker() + `","groups":[{"pid":1,"start":0}]}`,
		"our own, as a group": `{` + head + `,"marker":"` + newMarker() + `","groups":[{"pid":0,"start":0}]}`,
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			putFile(t, dir, name, content)
			putFile(t, dir, "README", "not a ledger")
			n, log := sweep(t, dir)
			if n != 0 || who.sight() != present {
				t.Errorf("%d ended", n)
			}
			if !strings.Contains(log, "makes no sense") || strings.Contains(log, "secret") {
				t.Errorf("log: %s", log)
			}
			if files := ledgers(t, dir); len(files) != 1 || filepath.Base(files[0]) != "README" {
				t.Errorf("left: %q", files)
			}
		})
	}
	t.Run("a sound one beside it is swept", func(t *testing.T) {
		dir := t.TempDir()
		putFile(t, dir, name, "{")
		other := deadHub(t)
		putLedger(t, dir, ledgerFile{Boot: bootID(), Hub: other, Marker: newMarker(), Groups: []groupRecord{{ident: who}}})
		if n, _ := sweep(t, dir); n != 1 {
			t.Errorf("%d ended", n)
		}
		gone(t, who.PID)
		if files := ledgers(t, dir); len(files) != 0 {
			t.Errorf("left: %q", files)
		}
	})
}

// root may write everywhere, so the directory is one that nobody can make.
func TestReadOnlyLedgerDirectory_real(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	worksWithoutLedger(t, file, nil)
}

func TestFullDiskUnderTheLedger_real(t *testing.T) {
	worksWithoutLedger(t, t.TempDir(), func(string, []byte) error {
		return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	})
}

func worksWithoutLedger(t *testing.T, dir string, write func(string, []byte) error) {
	t.Helper()
	var log lockedBuffer
	c := contained(t, func(o *ContainmentOptions) {
		o.LedgerDir = dir
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	if write != nil {
		c.ledger.write = write
	}
	token := newToken()
	endAll(t, token)
	for range 2 {
		p := startIn(t, c, tree(token))
		ready(t, p.Stdout())
		if e := p.Stop("enough"); e.Err != nil {
			t.Error(e)
		}
	}
	c.Close()
	if pids := withToken(t, token); len(pids) != 0 {
		t.Errorf("%v live on", pids)
	}
	if n := strings.Count(log.String(), "cannot be written"); n != 1 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}
