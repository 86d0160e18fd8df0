package hub_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Each kind of effect matters: if package hub drops all effects of one kind, a test fails, of hub or of the gateway.
// For each kind the package is built with one line more, which drops them.
func TestEveryEffectCounts_nightly(t *testing.T) {
	declared, err := os.ReadFile("core/effect.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("apply.go")
	if err != nil {
		t.Fatal(err)
	}
	const loop = "for _, effect := range effects {\n"
	if bytes.Count(source, []byte(loop)) != 1 {
		t.Fatal("apply.go does not go through the effects as it did")
	}
	for _, kind := range regexp.MustCompile(`(?m)^func \((\w+)\) effect\(\)`).FindAllSubmatch(declared, -1) {
		if string(kind[1]) == "TurnsTaken" { // it is only said in the log
			continue
		}
		t.Run(string(kind[1]), func(t *testing.T) {
			dir := t.TempDir()
			drops := "if _, dropped := effect.(core." + string(kind[1]) + "); dropped {\ncontinue\n}\n"
			changed := bytes.Replace(source, []byte(loop), []byte(loop+drops), 1)
			path, err := filepath.Abs("apply.go")
			if err != nil {
				t.Fatal(err)
			}
			copied, overlay := filepath.Join(dir, "apply.go"), filepath.Join(dir, "overlay.json")
			table, err := json.Marshal(map[string]map[string]string{"Replace": {path: copied}})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string][]byte{copied: changed, overlay: table} {
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, tests := range []string{".", "../ipc/gateway"} { // whose tests are about who is asked
				built := filepath.Join(dir, filepath.Base(tests)+".test")
				if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", built, tests).
					CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				run := exec.Command(built, "-test.short", "-test.failfast", "-test.timeout=3m", "-test.skip=_nightly$|_real$")
				run.Dir = tests
				if err := run.Run(); err != nil {
					return
				}
			}
			t.Error("no test misses it")
		})
	}
}
