// Package sources holds the config of a hub: it reads, watches and changes the config files, and brings the servers in
// line with them in steps. Each step affects only what changed.
//
// A [Config] takes the lock of the hub's house (hub/servers) itself: its methods are called without the lock, unless
// their comments say otherwise. The hub carries out the steps, as the [Owner].
//
// What must not live here: the syntax of config files (hub/config), how files are watched (hub/config/watch), which of
// the entries of a name counts, and whether it may be launched (hub/launch).
package sources
