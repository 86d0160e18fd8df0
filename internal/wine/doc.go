// Wine runs what is built for Windows on Linux, under Wine: the demo of the cross-compiled binary, and the Go tests of
// hub, plugin, ipc and cmd/mcphub (make test-windows). What does not pass there stands in skipped.txt with its reason.
// Such a test runs all the same, and one that passes or is gone must leave the file, so that it only shrinks.
//
// Here live the Wine prefix with what Wine lacks, the cross-compilation, and the verdict on what the tests wrote. What
// tests do differently on Windows does not: that is said where the tests are.
package main
