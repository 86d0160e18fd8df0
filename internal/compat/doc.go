// Package compat tests this hub and these hosts against those of an older version, which it takes out of the history
// of the repository: the last tag, or the commit before the first one.
//
// What must not live here: what the versions have in common. That is the contract, and `make breaking` keeps it.
package compat
