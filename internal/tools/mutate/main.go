// Mutate measures what the tests see. It changes single lines of the product, one at a time, and asks the tests of each
// lane whether they notice (make mutants):
//
//	cd internal/tools && go run ./mutate
//
// Changes are made within the functions of hub, hub/mcp, hub/jsonrpc, hub/mcpserver and ipc, by the operators that are
// listed in operators.go. Which of all possible changes are made is decided by a seed and by each change itself: other
// changes nearby do not decide it. No file of the tree is written: the changed file reaches go test as an overlay. A
// change that does not compile is left out, and the next one takes its place.
//
// The lanes are asked in this order, until a test fails:
//
//   - own: the tests of the changed package;
//   - B: those of the other packages of make test that contain it.
//
// Tests run without the race detector and in their short form, and a package first without a change: it must pass, and
// takes the time of which its limit is made. A package that fails is run again, and only a second failure counts. A run
// that does not end counts as a failure, and so does one that wants more than 3 GiB of memory. To give the machine to
// somebody else, end the program rather than stop its processes: their limits go on while they are stopped.
//
// The file -out gets one line of JSON for each change, as soon as it is known. After a stop the same command goes on
// where it ended. -lanes own asks the first lane alone; the same command with both lanes then asks the other about what
// was not found. -list FILE makes the changes of an earlier run again, after the code has moved: a change is known by
// its file, function, operator, the text of its line and its place among equal ones, not by the number of the line. If
// it is not there, a function of that name in another file, or of another type, is taken. What is not in the code any
// more is reported as gone. -only PATTERN takes those that match: an id, a file, a function or an operator.
//
// What the figures mean: a change found by "own" is found where a reader looks for the test. One found by B alone is
// found by a test of another package: good enough to land code, but it shows a promise that its own package does not
// test. One that nobody finds has no effect (an equivalent), is found by what is slow (lane C), or is a promise that is
// not tested, or no promise. The shares of two runs can be compared if both made the same changes; they say nothing
// about code of other packages.
//
// Gremlins, which does the same for one package, was tried first. It has no seed and takes no sample, runs one command
// for each change and tells neither which test failed nor in which package, removes no statements, and copies the whole
// folder for each worker, node_modules among it.
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
	"strings"
	"syscall"
	"time"
)

// seed decides which changes are made. A new one asks the tests new questions.
const seed = 20261127

// The packages whose code is changed, unless -in names others.
const changed = "hub hub/mcp hub/jsonrpc hub/mcpserver ipc"

// The lanes, in the order in which they are asked.
const (
	laneOwn = "own"
	laneB   = "B"
)

type options struct {
	root, out, list string
	in, lanes       []string
	number, seed    int
	only            *regexp.Regexp
}

func main() {
	var o options
	var only, lanes, in string
	flag.StringVar(&o.root, "root", filepath.Join("..", ".."), "the `folder` of the repository")
	flag.StringVar(&o.out, "out", filepath.Join("..", "..", "bin", "mutants.jsonl"),
		"the `file` of the results, one line of JSON each; it is added to")
	flag.StringVar(&o.list, "list", "", "make the changes that stand in this `file`, the results of another run")
	flag.IntVar(&o.number, "n", 200, "the number of changes")
	flag.IntVar(&o.seed, "seed", seed, "what decides which ones")
	flag.StringVar(&in, "in", changed, "the `folders` of the packages whose code is changed")
	flag.StringVar(&only, "only", "", "only those whose id, file, function or operator match this `pattern`")
	flag.StringVar(&lanes, "lanes", "own,B", "the lanes that are asked")
	flag.Parse()
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
		if lane != laneOwn && lane != laneB {
			return fmt.Errorf("there is no lane %q", lane)
		}
	}
	if len(rest) > 0 || o.number < 1 {
		return errors.New("arguments, or a number below 1: see -help")
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	book, err := openBook(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.file.Close()) }()
	chosen, err := choose(o, book)
	if err != nil {
		return err
	}
	a, err := newAsker(ctx, o.root)
	if err != nil {
		return err
	}
	defer a.remove()
	for n := 0; len(chosen) > 0 && (n < o.number || o.list != ""); chosen = chosen[1:] {
		r, err := one(ctx, o, a, book, chosen[0])
		if err != nil {
			return err
		}
		if r.Verdict != verdictNoCode {
			n++
		}
	}
	book.summarize(os.Stdout)
	return nil
}

// choose returns the mutants in their order, more than are wanted since some do not compile. Those of the list that are
// not in the code are written down.
func choose(o options, book *book) (chosen []mutant, err error) {
	all, err := mutants(o.root, o.in)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d possible changes\n", len(all))
	shuffle(all, o.seed)
	if o.list != "" {
		listed, err := readResults(o.list)
		if err != nil {
			return nil, err
		}
		found := all
		all = nil
		for _, r := range listed {
			i := find(found, r.mutant)
			switch {
			case r.Verdict == verdictNoCode:
			case i >= 0:
				all = append(all, found[i])
			default:
				err = errors.Join(err, book.write(result{mutant: r.mutant, Verdict: verdictGone}))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(m mutant) bool { return !o.only.MatchString(m.String()) }), nil
}

// one asks those lanes about a mutant that were not asked yet, and returns what is known of it then.
func one(ctx context.Context, o options, a *asker, book *book, m mutant) (result, error) {
	r := book.result(m.ID)
	lanes := slices.DeleteFunc(slices.Clone(o.lanes), func(l string) bool { return slices.Contains(r.Asked, l) })
	if r.Verdict == verdictFound || r.Verdict == verdictNoCode || len(lanes) == 0 {
		return r, nil
	}
	overlay, err := a.overlay(m)
	if err != nil {
		return r, err
	}
	began := time.Now()
	r.mutant, r.Verdict = m, verdictSurvived
	for _, folder := range a.tests(m.folder(), lanes) {
		failed, err := a.ask(ctx, overlay, folder)
		if err != nil {
			return r, err
		}
		if failed == nil {
			continue
		}
		if r.Verdict, r.Lane = verdictFound, laneB; folder == m.folder() {
			r.Lane = laneOwn
		}
		if r.Package, r.Test, r.How = folder, failed.test, failed.how; failed.how == "compile" {
			r = result{mutant: m, Verdict: verdictNoCode}
		}
		break
	}
	r.Asked = append(r.Asked, lanes...)
	r.Seconds += time.Since(began).Seconds()
	return r, book.write(r)
}
