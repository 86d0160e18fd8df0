// Package config reads the configuration files of MCP hosts into one normal form
// with an origin for every server and a place for every field.
//
// Each application has its dialect: the keys of an entry and what they mean, the
// unit of a timeout, what a server without a type is, and the grammar of variables.
// A dialect is one value in a file named after it; what the dialects share is in
// the files named after what is read. Whose file it is, is told by the source, the
// file's name or its keys.
//
// A text that a host hands over has no name that tells. It is taken for that of an
// application only by keys that this one alone writes. "alwaysAllow", "autoApprove"
// and "disabledTools" are none of those: one of them more in an entry must not turn
// 60000 from milliseconds into seconds, nor give "${env:NAME}" a meaning. Such a
// text is [DialectMcpServers]: the keys of all applications, no variables, and no
// bare "timeout", which is told and ignored ("timeouts" has units). A host that
// passes on what was written for one application says so in [Source.Dialect].
//
// A mistake costs the entry that holds it and nothing else: [Load] never fails as
// a whole, and every [Problem] has its file, line, column, server and key. Remarks,
// which JSON has no other place for than a key, are no mistakes, and neither is an
// entry that an application merges into that of another file: of such a part only
// "off" is followed. Of two servers of one name that of the workspace counts; [All]
// has both.
//
// References to variables stay as they are spelled until [Server.Resolve].
//
// The package says what is configured. It starts nothing, runs no command that a
// file names, watches no files and keeps no secrets, and a problem never shows the
// value of an argument, an environment variable, a header or a URL.
package config
