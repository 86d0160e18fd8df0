// Package doortest holds helpers for tests of the door (package plugin): a fake hub that the real door serves in its
// own process, a middle process that acts as a host and dies, and observation of processes that are not children.
//
// A test binary that calls [Main] from TestMain contains all these programs: it is run again with a role in its
// environment.
package doortest
