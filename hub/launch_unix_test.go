//go:build !windows

package hub_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

// played plays steps of a conversation in a hub that keeps its files in state, and returns what followed.
func played(t *testing.T, state string, steps ...string) string {
	t.Helper()
	s := newStage(t, "")
	s.keepFiles("")
	s.options.StateDir, s.about = state, "servers"
	var said []string
	for _, step := range steps {
		said = append(said, s.play(step)...)
	}
	s.close()
	return strings.Join(said, "\n")
}

// Finding C2: no value of an envFile is shown or kept. The sums that are kept are those of one user: nobody can find a
// value by trying.
func TestEnvFileSumsAreOfOneUser(t *testing.T) {
	var kept [2]string
	for i := range kept {
		synctest.Test(t, func(t *testing.T) {
			state := t.TempDir()
			said := played(t, state, `write .env PIN=4711-secret\nREGION=eu\n`, "write bin/s #!/bin/sh",
				`file folder s {"command":"./bin/s","envFile":"${workspaceFolder}/.env"}`, "window one", "host starts s",
				"question prompt-1", "one dismisses", "host starts s", "one accepts always", "host stops s",
				`write .env PIN=4712-secret\n`, "host starts s", "question prompt-2")
			said, _, _ = strings.Cut(strings.ReplaceAll(said, "PIN=4711-secret", ""), "PIN=4712-secret") // not what runs
			if kept[i] = launchesKept(t, state); strings.Contains(said+kept[i], "secret") {
				t.Errorf("a value is shown or kept: %s\n%s", said, kept[i])
			}
		})
	}
	sums := regexp.MustCompile("[0-9a-f]{16,}").FindAllString(kept[0], -1)
	for _, sum := range sums {
		if strings.Contains(kept[1], sum) {
			t.Errorf("two users keep the same sum %s: %s", sum, kept[0])
		}
	}
	if len(sums) == 0 {
		t.Errorf("no sum is kept: %s", kept[0])
	}
}
