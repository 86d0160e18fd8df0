// Package doortest holds what tests of the door (package plugin) and of the built program from outside need: a fake hub
// that the real door serves in its own process, a middle process that acts as a host and dies, observation of processes
// that are not children, and for the real program: where it is or is built, a place for each test whose processes can
// be told from others, and an environment without the user's settings.
//
// A test binary that calls [Main] from TestMain contains all these programs: it is run again with a role in its
// environment.
package doortest
