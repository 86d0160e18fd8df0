// Package redact hides secrets in texts: in those of the hub itself, in what the hub quotes of a server (its stderr,
// errors, the log, the bundle for a bug report), and in a server's log messages, which people copy into reports.
//
// A [Redactor] knows the secrets of a hub. [Lines] processes a sequence of lines, and [NewLog] wraps a log handler.
//
// What must not live here: where secrets come from (hub/config, hub/signin), and which texts are redacted (package
// hub).
package redact
