// Package compat tests this hub and these hosts against those of an older version, which it takes from the history of
// the repository: the last tag, or, before the first tag, an earlier commit.
//
// What must not live here: what the versions have in common. That is the contract, and `make breaking` checks it.
package compat
