// Package config reads the configuration files of MCP hosts into one normal form, which has an origin for every server
// and a place for every field.
//
// Each application has its dialect: the keys of an entry and their meaning, the unit of a timeout, the transport of a
// server without a type, and the grammar of variables. A dialect is one value in dialect_*.go; what the dialects
// share is in the files named after what is read. The dialect comes from the source, from the file's name, or
// from its keys.
//
// A text that a host passes to the hub may have no name that determines the dialect. It is taken for that of an
// application only if it has keys that no other application uses. "alwaysAllow", "autoApprove" and "disabledTools" are
// not such keys: if one of them is added to an entry, this must not change 60000 from milliseconds to seconds, or give
// "${env:NAME}" a meaning. Such a text is [DialectMcpServers]: it may have the keys of all applications, but no
// variables, and no plain "timeout", which is reported and ignored ("timeouts" has units). A host that passes on what
// was written for one application says so in [Source.Dialect].
//
// A mistake makes one entry unusable and nothing else: [Load] never fails as a whole, and every [Problem] has its file,
// line, column, server and key. Two things are no mistakes: remarks, which JSON can only have as keys, and an entry
// that an application merges into that of another file. Of such a partial entry, the hub uses only that it switches a
// server off. Of two servers of one name, the one of the workspace counts; [All] returns both.
//
// References to variables stay as they are written until [Server.Resolve].
//
// The package says what is configured. It starts nothing, runs no command that a file names, watches no files and keeps
// no secrets. A problem never shows the value of an argument, an environment variable, a header or a URL.
package config
