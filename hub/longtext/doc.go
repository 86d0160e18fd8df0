// Package longtext holds texts that come piece by piece and may grow to 64 MiB: a line of a server's output, the data
// of an event, the body of an answer.
//
// What such a text costs is memory that is touched for the first time: to copy 64 MiB takes 7 ms, and to have the
// kernel find 16,384 pages for them takes 60 ms and more, 300 ms in some virtual machines. So a [Text] takes memory
// that nobody has cleared, and asks Linux for large pages (2 MiB) under it.
//
// What must not live here: how long a text may be and who may hold how much (hub/bounds), and what stands in it
// (hub/jsontext).
package longtext
