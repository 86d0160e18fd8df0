// Package clitest runs commands for their tests: in the test's own process, in fake time or with the machine's clock,
// or as processes of the built program.
//
// What must not live here: tests, but for those of all commands.
package clitest
