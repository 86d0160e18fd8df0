// Wine runs the Windows build on Linux, under Wine: the demo of the cross-compiled binary, and the Go tests of hub,
// plugin, ipc and internal/cli (make test-windows). Tests that do not pass there are listed in skipped.txt with a
// reason. They run all the same, and a test that passes or no longer exists must be removed from the file, so that it
// only shrinks.
//
// This command contains the Wine prefix with what Wine lacks, the cross-compilation, and the evaluation of the tests'
// output. What tests do differently on Windows is in the tests themselves.
package main
