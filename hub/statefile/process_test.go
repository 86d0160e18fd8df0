package statefile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary starts itself as another hub, which does what this variable says: "add DIR WHO COUNT", "hang DIR
// STEP" or "rewrite FILE STEP".
const roleVariable = "STATEFILE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(otherHub(strings.Fields(role)))
	}
	os.Exit(m.Run())
}

func otherHub(role []string) int {
	number := func(i int) int {
		n, err := strconv.Atoi(role[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	switch role[0] {
	case "add":
		f := Open(role[1], "state.json", Options{wait: time.Minute})
		for i := range number(3) {
			if err := f.Update(add(entryName(number(2), i))); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return 0
	case "rewrite": // hangs before a step
		at := number(2)
		d := &trace{at: func(step int, name string) error {
			if step == at {
				fmt.Println(name)
				select {}
			}
			return nil
		}}
		if err := Rewrite(context.Background(), role[1], Rewriting{at: d.step}, add("new")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("done")
		return 0
	case "hang":
		at := number(2)
		d := &trace{at: func(step int, name string) error {
			if step == at {
				fmt.Println(name)
				select {}
			}
			return nil
		}}
		if err := Open(role[1], "state.json", Options{at: d.step}).Update(add("new")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("done")
		return 0
	}
	return 2
}

func otherProcess(t *testing.T, role ...any) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.TrimSpace(fmt.Sprintln(role...)))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestManyWritersLoseNothing_real(t *testing.T) {
	const writers, each = 8, 10
	dir := t.TempDir()
	var writing sync.WaitGroup
	fail := make(chan error, 2*writers)
	for who := range writers {
		cmd := otherProcess(t, "add", dir, who, each)
		must(t, cmd.Start())
		writing.Go(func() { fail <- cmd.Wait() })
	}
	shared := Open(dir, "state.json", Options{wait: time.Minute})
	for who := writers; who < 2*writers; who++ {
		f := shared
		if who%2 == 0 {
			f = Open(dir, "state.json", Options{wait: time.Minute}) // a hub of its own
		}
		writing.Go(func() {
			for i := range each {
				if err := f.Update(add(entryName(who, i))); err != nil {
					fail <- err
					return
				}
			}
			fail <- nil
		})
	}

	// Meanwhile a reader sees whole lists only, and nothing that was there goes away.
	wrote := make(chan struct{})
	go func() { defer close(wrote); writing.Wait() }()
	reader := Open(dir, "state.json", Options{})
	var before []string
	for reading := true; reading; {
		select {
		case <-wrote:
			reading = false
		default:
		}
		text, err := reader.Read()
		must(t, err)
		var list []string
		if text != nil {
			must(t, json.Unmarshal(text, &list))
		}
		if len(list) < len(before) || !slices.Equal(list[:len(before)], before) {
			t.Fatalf("the list %q became %q", before, list)
		}
		before = list
	}
	for range 2 * writers {
		must(t, <-fail)
	}
	list := entries(t, statePath(dir))
	for who := range 2 * writers {
		for i := range each {
			if !slices.Contains(list, entryName(who, i)) {
				t.Errorf("%s was lost", entryName(who, i))
			}
		}
	}
	if len(before) != 2*writers*each {
		t.Errorf("the reader saw %d entries at the end", len(before))
	}
}

// A writer is killed before each of its steps in turn: the file is whole, the lock is free at once, and no other file
// is left.
func TestKilledWriterLeavesTheOldTextOrTheNew_real(t *testing.T) {
	seen := map[string]bool{}
	for step := 1; ; step++ {
		if step > 50 {
			t.Fatal("the writer never comes to an end")
		}
		dir := t.TempDir()
		must(t, Open(dir, "state.json", Options{}).Update(add("old")))
		cmd := otherProcess(t, "hang", dir, step)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		name, err := bufio.NewReader(out).ReadString('\n')
		must(t, err)
		if name == "done\n" {
			must(t, cmd.Wait())
			break
		}
		seen[strings.TrimSpace(name)] = true
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()

		list := entries(t, statePath(dir))
		if !slices.Equal(list, []string{"old"}) && !slices.Equal(list, []string{"old", "new"}) {
			t.Errorf("killed at %s: the file holds %q", name, list)
		}
		must(t, Open(dir, "state.json", Options{}).Update(add("next")))
		if got := entries(t, statePath(dir)); !slices.Equal(got, append(list, "next")) {
			t.Errorf("killed at %s: the next hub made %q of %q", name, got, list)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"state.json", "state.json.lock"}) {
			t.Errorf("killed at %s: left behind %q", name, got)
		}
	}
	for _, name := range []string{"makeDir", "lock", "read", "create", "write", "sync", "close", "rename", "syncDir"} {
		if !seen[name] {
			t.Errorf("no writer was killed at %s", name)
		}
	}
}

func TestLockOfAnotherProcessIsAnErrorThatNamesIt_real(t *testing.T) {
	dir := t.TempDir()
	cmd := otherProcess(t, "hang", dir, 3) // after the lock
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if name, err := bufio.NewReader(out).ReadString('\n'); err != nil || name != "read\n" {
		t.Fatalf("%q, %v", name, err)
	}
	f := Open(dir, "state.json", Options{wait: 50 * time.Millisecond})
	err = f.Update(add("a"))
	wantError(t, err, errBusy)
	if want := fmt.Sprintf("held by process %d", cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}

	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	must(t, f.Update(add("b")))
	wantOnDisk(t, statePath(dir), `["b"]`)
}
