package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// seed decides which changes are made. A new one asks the tests new questions.
const seed = 20261127

// The packages whose code is changed, unless -in names others.
const changed = "hub hub/mcp hub/jsonrpc hub/mcpserver ipc"

// What lane B asks first, since it is quick or finds much. All other packages of the module follow.
const cheap = "hub/mcpserver hub/jsonrpc internal/halves internal/matrix hub/mcp ipc/gateway hub ipc"

// The packages of lane C whose tests all belong to it: Makefile, test-real and e2e.
const wholeC = "plugin plugin/host internal/doctor internal/hostile internal/soak internal/e2e"

// The packages that no lane asks: the rules read the tree, which is never changed; the others are of nightly runs.
const left = "internal/rules internal/compat internal/conformance internal/conformance/scenario internal/peers"

type options struct {
	root, out, list string
	in              []string
	number, seed    int
	jobs            int
	only            *regexp.Regexp
	lanes, wholeC   []string
}

func main() {
	var o options
	var only, lanes, ofC, in string
	flag.StringVar(&o.root, "root", filepath.Join("..", ".."), "the `folder` of the repository")
	flag.StringVar(&o.out, "out", filepath.Join("..", "..", "bin", "mutants.jsonl"),
		"the `file` of the results, one line of JSON each; it is added to")
	flag.StringVar(&o.list, "list", "", "make the changes that stand in this `file`, the results of another run")
	flag.IntVar(&o.number, "n", 200, "the number of changes")
	flag.IntVar(&o.seed, "seed", seed, "what decides which ones")
	flag.IntVar(&o.jobs, "jobs", 1, "the number of changes that are tested at once")
	flag.StringVar(&in, "in", changed, "the `folders` of the packages whose code is changed")
	flag.StringVar(&only, "only", "", "only those whose id, file, function or operator match this `pattern`")
	flag.StringVar(&lanes, "lanes", "own,B,C", "the lanes that are asked")
	flag.StringVar(&ofC, "c", wholeC, "the `folders` of the packages whose tests are all of lane C")
	flag.Parse()
	o.wholeC = strings.Fields(ofC)
	o.lanes, o.in = strings.Split(lanes, ","), strings.Fields(in)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := flagError(o, flag.Args())
	if err == nil {
		o.only, err = regexp.Compile(only)
	}
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func flagError(o options, rest []string) error {
	for _, lane := range o.lanes {
		if !slices.Contains([]string{laneOwn, laneB, laneC}, lane) {
			return fmt.Errorf("there is no lane %q", lane)
		}
	}
	if len(rest) > 0 || o.number < 1 || o.jobs < 1 {
		return errors.New("arguments, or numbers below 1: see -help")
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	code, err := load(ctx, o.root, strings.Fields(cheap), o.wholeC, strings.Fields(left))
	if err != nil {
		return err
	}
	chosen, gone, err := choose(o)
	if err != nil {
		return err
	}
	book, err := openBook(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.close()) }()
	for _, m := range gone {
		if err := book.write(result{mutant: m, Verdict: verdictGone}); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	c := check{options: o, code: code, book: book,
		asker: &asker{root: o.root, temp: temp, unchanged: map[suite]time.Duration{}}}
	if err := c.all(ctx, chosen); err != nil {
		return err
	}
	book.summarize(os.Stdout)
	return nil
}

// choose returns the mutants in their order, more than are wanted since some do not compile, and those of the list that
// are not in the code.
func choose(o options) (chosen, gone []mutant, err error) {
	all, err := mutants(o.root, o.in)
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("%d possible changes\n", len(all))
	if o.list == "" {
		shuffle(all, o.seed)
		return all, nil, nil
	}
	by := make(map[string]mutant, len(all))
	for _, m := range all {
		by[m.ID] = m
	}
	listed, err := readResults(o.list)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range listed {
		switch m, ok := by[r.ID]; {
		case r.Verdict == verdictNoCode:
		case ok:
			chosen = append(chosen, m)
		default:
			gone = append(gone, r.mutant)
		}
	}
	return chosen, gone, nil
}

// A check asks the lanes about mutants.
type check struct {
	options
	code  *module
	book  *book
	asker *asker
}

// all goes through the mutants until there are as many as wanted. Whether one compiles is known before the next one is
// looked at; the lanes are asked meanwhile.
func (c *check) all(ctx context.Context, chosen []mutant) error {
	var (
		work    = make(chan *variant)
		workers sync.WaitGroup
		mu      sync.Mutex
		failed  error // guarded by mu
	)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range c.jobs {
		workers.Go(func() {
			for v := range work {
				if err := c.one(ctx, v); err != nil {
					mu.Lock()
					failed = cmp.Or(failed, err)
					mu.Unlock()
					cancel(err)
				}
			}
		})
	}
	err := c.hand(ctx, chosen, work)
	close(work)
	workers.Wait()
	return cmp.Or(failed, err)
}

func (c *check) hand(ctx context.Context, chosen []mutant, work chan<- *variant) error {
	for n := 0; len(chosen) > 0 && (n < c.number || c.list != ""); chosen = chosen[1:] {
		m := chosen[0]
		known := c.book.result(m.ID)
		if known.Verdict == verdictNoCode {
			continue
		}
		v, err := c.asker.vary(&m)
		if err != nil {
			return err
		}
		if known.Verdict == "" && !c.compiles(ctx, v) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			v.remove()
			if err := c.book.write(result{mutant: m, Verdict: verdictNoCode}); err != nil {
				return err
			}
			continue
		}
		n++
		if !c.only.MatchString(m.String()) {
			v.remove()
			continue
		}
		select {
		case work <- v:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// compiles reports whether the package of a mutant compiles, and leaves its tests for the first question.
func (c *check) compiles(ctx context.Context, v *variant) bool {
	began := time.Now()
	defer func() { v.compiling = time.Since(began) }()
	own := c.code.suites(v.mutant.folder(), []string{laneOwn})
	if len(own) > 0 {
		if _, err := v.build(ctx, own[0]); err == nil {
			return true
		}
	}
	return v.compile(ctx, "build", "./"+v.mutant.folder()) == nil
}

// one asks those lanes about a mutant that were not asked yet.
func (c *check) one(ctx context.Context, v *variant) error {
	defer v.remove()
	m := *v.mutant
	r := c.book.result(m.ID)
	lanes := slices.DeleteFunc(slices.Clone(c.lanes), func(l string) bool { return slices.Contains(r.Asked, l) })
	if r.Verdict == verdictFound || len(lanes) == 0 {
		return nil
	}
	began, before := time.Now(), r.Seconds
	r.mutant, r.Verdict = m, verdictSurvived
	for _, s := range c.code.suites(m.folder(), lanes) {
		failed, err := v.ask(ctx, s)
		if err != nil {
			return err
		}
		if failed != nil {
			r.Verdict, r.Lane, r.Package, r.Test, r.How = verdictFound, s.lane, s.folder, failed.test, failed.how
			break
		}
	}
	r.Asked = append(r.Asked, lanes...)
	r.Seconds = before + (v.compiling + time.Since(began)).Seconds()
	return c.book.write(r)
}
