// Package doortest holds what tests of the door share: a fake hub that is served by the real door in a process of its
// own, a middle process that plays a host which dies, and sight of processes that are not our children.
//
// A test binary that calls [Main] from TestMain is all of these programs: it is run again with a role in its
// environment.
package doortest
