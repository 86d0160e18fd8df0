// Mutate measures what the tests see. It changes single lines of the product, one at a time, and asks the tests of each
// lane whether they notice (make mutants):
//
//	cd internal/tools && go run ./mutate
//
// Changes are made within the functions of hub, hub/mcp, hub/jsonrpc, hub/mcpserver and ipc, by the operators that are
// listed in operators.go. Which of all possible changes are made is decided by a seed, which stands in main.go, and by
// each change itself: other changes nearby do not decide it. No file of the tree is written: the changed file reaches
// the compiler as an overlay. A change that does not compile is left out, and the next one takes its place.
//
// The lanes are asked in this order, until a test fails:
//
//   - own: the tests of the changed package;
//   - B: those of the other packages of make test that contain it;
//   - C: those that use the built binary from outside, or need real time: the whole packages of lane C, then the tests
//     of other packages whose names end with _real.
//
// Tests run without the race detector and in their short form, four at once. Each package first runs once without a
// change: it must pass, and takes the time of which its limit is made. A test that fails is repeated alone; if it then
// passes, the package is run again, and only a second failure counts. A run that does not end counts as a failure, and
// so does one that wants more than 3 GiB of memory. To give the machine to somebody else, end the program rather than
// stop its processes: their limits go on while they are stopped.
//
// The file -out gets one line of JSON for each change, as soon as it is known. After a stop the same command goes on
// where it ended. -lanes own asks the first lane alone; the same command with more lanes then asks the rest about what
// was not found. -list FILE makes the changes of an earlier run again, after the code has moved: a change is known by
// its file, function, operator, the text of its line and its place among equal ones, not by the number of the line.
// What is not in the code any more is reported as gone. -only PATTERN takes those of the chosen changes that match: an
// id, a file, a function or an operator. -c names other packages as lane C.
//
// What the figures mean: a change found by "own" is found where a reader looks for the test. One found by B alone is
// found by a test of another package: good enough to land code, but it shows a promise that its own package does not
// test. One found by C alone is found by what is slow and may be repeated; it deserves a test in B. One that nobody
// finds has no effect (an equivalent), or is a promise that is not tested, or no promise. The shares of two runs can be
// compared if both made the same changes; they say nothing about code of other packages.
//
// Gremlins, which does the same for one package, was tried first. It has no seed and takes no sample, runs one command
// for each change and tells neither which test failed nor in which package, removes no statements, and copies the whole
// folder for each worker, node_modules among it.
package main
