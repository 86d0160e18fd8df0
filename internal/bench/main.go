// Bench measures the numbers that the hub promises, side by side in one run: against floors (a bare byte loop, a bare
// POST loop, a relay behind the same door) and against peers (the official Go SDK and mcp-go). It is a module of its
// own, so that the peers stay out of the product's dependencies.
//
//	go run .                                everything
//	go run . -only 'cancel|start' -rounds 15
//
// The table of all rows with their floors is in floors.go. Rates and times depend on the machine and on its other load.
// The ratios hardly do, since both sides are measured within one round, in turns. A group that misses a floor is
// measured once more, and the better of the two counts. The run ends with 0 if every row was measured and reached its
// floor. Above a floor the simpler code is better, and below it a change does not land. Whether a change costs
// something is told by the commit before it, measured in turns with it.
//
// The program also serves what it measures from inside: it starts itself again as a plugin or as a server (see
// door.go). The MCP server that all subjects talk to is the program echoserver beside it, which editors/bench uses as
// well. The hub that is measured from outside is the real mcphub. All are built once, into a directory that is removed
// at the end.
//
// What must not live here: tests of behaviour, and anything that the product imports.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the settings of a run.
type options struct {
	rounds int
	bin    programs
}

// measurement measures the rows of a group, and puts what it found into the figures.
type measurement func(ctx context.Context, o options, f figures)

// stop is the value of the panic by which a measurement ends at its first error, as a test ends. Only its own goroutine
// may end so.
type stop struct{ error }

func must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

func got[T any](v T, err error) T {
	must(err)
	return v
}

// ended returns the error that has ended do, nil if none has.
func ended(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = r.error
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// of is ended for a part of a measurement: its error says of which.
func of(part string, do func()) {
	if err := ended(do); err != nil {
		must(fmt.Errorf("%s: %w", part, err))
	}
}

func main() {
	if len(os.Args) == 2 {
		if serve, ok := roles[os.Args[1]]; ok {
			os.Exit(serve())
		}
	}
	os.Exit(run())
}

func run() int {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	rounds := flag.Int("rounds", 9, "interleaved `rounds`")
	only := flag.String("only", "", "measure only the groups whose name matches this `regexp`: "+strings.Join(names, ", "))
	flag.Parse()
	filter, err := regexp.Compile(*only)
	var chosen []group
	if err == nil {
		chosen = slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !filter.MatchString(g.name) })
	}
	if err != nil || flag.NArg() > 0 || *rounds < 1 || len(chosen) == 0 {
		fmt.Fprintln(os.Stderr, "bench: bad arguments;", err)
		flag.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bin, err := build(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer bin.remove()
	// What is under test inherits these settings: no state directory, the default log level, and a server for relays.
	os.Setenv("MCPHUB_STATE_DIR", "")
	os.Unsetenv("MCPHUB_LOG")
	os.Setenv(envEcho, bin.echo)
	o := options{rounds: *rounds, bin: bin}

	fmt.Printf("commit %s, %s, %s/%s, %d CPUs, %d rounds\n\n", bin.commit, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.GOMAXPROCS(0), o.rounds)
	r := report{out: os.Stdout}
	for _, g := range chosen {
		start := time.Now()
		f, err := measure(ctx, g, o)
		r.add(g, f, err, time.Since(start))
	}
	return r.finish()
}

// measure measures a group, and a second time if a number missed its floor: a machine has moods. A row is reached if
// one of the two measurements reached it.
func measure(ctx context.Context, g group, o options) (figures, error) {
	first, err := measureOnce(ctx, g, o)
	if err != nil || !slices.ContainsFunc(g.rows, func(r row) bool { return !r.reached(first) }) {
		return first, err
	}
	second, err := measureOnce(ctx, g, o)
	for _, r := range g.rows {
		if !r.reached(first) && r.reached(second) {
			better, before := second[r.what], first[r.what].value
			better.detail += "\nmeasured twice; at first it was " + format(before, r.unit)
			first[r.what] = better
		}
	}
	return first, err
}

// groupLimit is several times what a group takes on an idle machine: it ends what hangs.
const groupLimit = 8 * time.Minute

// grace is how long a group may take to end when its time is over.
const grace = 30 * time.Second

var errTooSlow = errors.New("the measurement took too long")

func measureOnce(ctx context.Context, g group, o options) (figures, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, groupLimit, errTooSlow)
	defer cancel()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	defer time.AfterFunc(groupLimit+grace, func() {
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) // nothing can be done about a failed write
		fmt.Fprintf(os.Stderr, "bench: %s did not end with its time; its goroutines are above\n", g.name)
		os.Exit(1) // what it left running would disturb the others
	}).Stop()
	f := figures{}
	err := ended(func() { g.measure(ctx, o, f) })
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return f, err
}
