// Package longtext holds texts that are received in pieces and may grow to 64 MiB: a line of a server's output, the
// data of an event, the body of an answer.
//
// The cost of such a text is memory that is touched for the first time: to copy 64 MiB takes 7 ms, but to have the
// kernel provide 16,384 pages for them takes 60 ms and more, 300 ms in some virtual machines. So a [Text] uses memory
// that was not zeroed, and asks Linux for large pages (2 MiB) for it.
//
// What must not live here: how long a text may be and who may hold how much (hub/bounds), and what is in it
// (hub/jsontext).
package longtext
