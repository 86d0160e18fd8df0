package soak

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/peers"
)

var (
	seedFlag  = flag.Uint64("soak.seed", 0, "repeat the choices of a run; 0 = of the clock")
	callsFlag = flag.Int("soak.calls", 0, "calls in all of the long form; 0 = the short form")
	timeFlag  = flag.Duration("soak.time", 9*time.Minute, "bound of the long form")
	onlyFlag  = flag.String("soak.only", "", "regular expression over the names of the subjects")
)

// shortCalls is the number of calls of each subject in the short form.
const shortCalls = 60

// leastTime is the least time limit of a subject, because its server has to start.
const leastTime = 15 * time.Second

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mcphub-soak")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build builds the servers written in Go once for all tests, unless an environment variable names a built one.
func build(dir string) error {
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	for variable, folder := range map[string]string{peers.GoSDKVariable: "gosdk", peers.MCPGoVariable: "mcpgo"} {
		if os.Getenv(variable) != "" {
			continue
		}
		path := filepath.Join(dir, folder+suffix)
		cmd := exec.Command("go", "build", "-o", path, ".")
		cmd.Dir = filepath.Join("..", "peers", folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", folder, err, out)
		}
		if err := os.Setenv(variable, path); err != nil {
			return err
		}
	}
	return nil
}

// TestCancelsAtRandomMoments runs the short form, or the long form with -soak.calls.
func TestCancelsAtRandomMoments(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-soak.seed %d", seed)
	only := regexp.MustCompile(*onlyFlag)
	weights := 0
	var chosen []int
	for i := range subjects {
		if only.MatchString(subjects[i].String()) {
			weights += subjects[i].weight
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(i, j int) int { return subjects[j].weight - subjects[i].weight })
	start, weightsLeft := time.Now(), weights
	var total figures
	for _, i := range chosen {
		s := &subjects[i]
		t.Run(s.String(), func(t *testing.T) {
			calls, limit := shortCalls, 3*time.Minute
			if *callsFlag > 0 {
				// Time that fast subjects do not use is added to the limits of slower ones.
				calls = (*callsFlag*s.weight + weights - 1) / weights
				limit = max(leastTime, (*timeFlag-time.Since(start))*time.Duration(s.weight)/time.Duration(weightsLeft))
				weightsLeft -= s.weight
			}
			f := soak(t, i, s, calls, limit, seed)
			f.report(t)
			total.add(f)
		})
	}
	if *callsFlag > 0 && *onlyFlag == "" && 2*total.asking < total.calls {
		t.Errorf("%d of %d calls ask: fewer than half", total.asking, total.calls)
	}
	t.Logf("%s", &total)
}

func quoted(args []string) string {
	text := "["
	for i, a := range args {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%q", a)
	}
	return text + "]"
}
