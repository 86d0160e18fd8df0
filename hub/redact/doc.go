// Package redact hides secrets in texts: in what the hub says itself, in what it quotes of a server (its stderr,
// errors, the log, the bundle for a bug report), and in a server's log messages, which people copy into reports.
//
// A [Redactor] knows the secrets of a hub. [Lines] follows a stream of lines, [NewLog] wraps a log.
//
// What must not live here: where secrets come from (hub/config, hub/signin), and which texts pass through (package
// hub).
package redact
