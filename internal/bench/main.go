package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

// options are the settings of a run.
type options struct {
	rounds int
	quick  bool
	bin    binaries

	finding *regexp.Regexp // which attacks are measured
}

// pick returns quick in a quick run, and full otherwise.
func pick[T any](o options, full, quick T) T {
	if o.quick {
		return quick
	}
	return full
}

// group is a set of measurements that share their subjects.
type group struct {
	name    string
	about   string
	limit   time.Duration // the group fails if it takes longer
	measure func(ctx context.Context, o options) ([]row, error)
}

var groups = []group{
	{"engine", "engine over stdio against the byte loop, go-sdk and mcp-go; allocations", 2 * time.Minute, measureEngine},
	{"path", "whole path against gRPC echo and engine alone", time.Minute, measurePath},
	{"locks", "the hub's lock, for a warm call", time.Minute, measureLocks},
	{"large", "a result of 60 MiB", 3 * time.Minute, measureLarge},
	{"cancel", "CancelRequest received -> notification written", time.Minute, measureCancel},
	{"withdraw", "server's cancel read -> promptClosed handed to gRPC", time.Minute, measureWithdraw},
	{"memory", "memory a request in flight", 90 * time.Second, measureMemory},
	{"leaks", "goroutines left after cancels in each direction", 90 * time.Second, measureLeaks},
	{"idle", "idle hub, idle servers", time.Minute, measureIdle},
	{"config", "a config of many servers", time.Minute, measureConfig},
	{"gateway", "mcphub mcp against the server itself", 4 * time.Minute, measureGateway},
	{"toolset", "tools for models: search and names", time.Minute, measureToolset},
	{"web", "Streamable HTTP against a bare POST loop and go-sdk", time.Minute, measureWeb},
	{"webcancel", "CancelRequest received -> reset seen by an HTTP server; what cancelled calls leave", time.Minute,
		measureWebCancel},
	{"start", "spawn -> first answer", time.Minute, measureStart},
	{"storm", "progress storm", time.Minute, measureStorm},
	{"bystander", "what others feel of the worst that a server or a folder does", 5 * time.Minute, measureBystander},
}

func main() {
	if len(os.Args) == 2 {
		if serve, ok := plugins[os.Args[1]]; ok {
			os.Exit(serve())
		}
	}
	os.Exit(run())
}

func run() int {
	rounds := flag.Int("rounds", 0, "interleaved `rounds` (default 9, quick 7)")
	only := flag.String("only", "",
		"measure only the groups whose name matches this `regexp`: engine, path, locks, large, cancel, withdraw, memory, leaks, idle, config, gateway, toolset, web, webcancel, start, storm, bystander")
	findings := flag.String("finding", "",
		"of the group bystander, measure only the attacks whose finding matches this `regexp`, \"^A4$\" say")
	quick := flag.Bool("quick", false, "less of everything, two minutes")
	asJSON := flag.Bool("json", false, "print JSON")
	profiles := flag.String("profile", "",
		"write CPU and heap profiles into this `folder`, of the hubs too; they slow down what is measured")
	flag.Parse()
	filter, err := regexp.Compile(*only)
	attack, attackErr := regexp.Compile(*findings)
	if err = errors.Join(err, attackErr); err != nil || flag.NArg() > 0 || *rounds < 0 {
		fmt.Fprintln(os.Stderr, "bench: bad arguments;", err)
		flag.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{rounds: *rounds, quick: *quick, finding: attack}
	if o.rounds == 0 {
		o.rounds = pick(o, 9, 7)
	}
	// The hubs under test inherit these settings: no state directory, and the default log level.
	os.Setenv("MCPHUB_STATE_DIR", "")
	os.Unsetenv("MCPHUB_LOG")
	os.Unsetenv(envProfile)
	if *profiles != "" {
		if *profiles, err = filepath.Abs(*profiles); err == nil {
			err = os.MkdirAll(*profiles, 0o777)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 1
		}
		os.Setenv(envProfile, *profiles)
	}
	if o.bin, err = build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer o.bin.remove()

	r := newReport(o)
	if !*asJSON {
		r.printHead(os.Stdout)
	}
	chosen := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !filter.MatchString(g.name) })
	for _, g := range chosen {
		rows, err := measure(ctx, g, o)
		r.add(g, rows, err)
		if !*asJSON {
			r.printLast(os.Stdout)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if *asJSON {
		r.printJSON(os.Stdout)
	} else {
		r.printFoot(os.Stdout)
	}
	if len(r.Failures) > 0 {
		return 1
	}
	return 0
}

var errTooSlow = errors.New("the measurement took too long")

func measure(ctx context.Context, g group, o options) ([]row, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.limit, errTooSlow)
	defer cancel()
	var rows []row
	var err error
	profiled(g.name, func() { rows, err = g.measure(ctx, o) })
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return rows, err
}
