// Package sources is where the config of a hub comes from: its files are read and watched, and what they say is brought
// to the servers in steps, of which each touches only what changed.
//
// A [Config] has the lock of the hub's house (hub/servers), which it takes itself: its methods are called without it,
// but for those that say otherwise. What a step does is the hub's, its [Owner].
//
// What must not live here: the syntax of config files (hub/config), how files are watched (hub/config/watch), which of
// the entries of a name counts, and whether it may be launched (hub/launch).
package sources
