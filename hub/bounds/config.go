package bounds

// A config file of a workspace: text of a stranger. What of a file goes beyond a bound is not read, and the file's user
// is told where.
const (
	// FolderConfigBytes bounds the file. The largest that were seen in repositories have 30 KiB.
	FolderConfigBytes = 1 << 20
	// FolderServers bounds its servers.
	FolderServers = 200
	// FolderValues bounds each list and each object of one entry: arguments, variables, headers, tools.
	FolderValues = 1000
	// FolderNameBytes bounds the name of a tool or a pattern of such names: it is compared with the name of each tool that
	// is called, in a time that is the product of both lengths. Names of tools have at most 128 characters (MCP
	// 2025-11-25, server/tools, "Tool Names").
	FolderNameBytes = 128
	// FolderProblems bounds what is told of one entry, and of the file besides its entries.
	FolderProblems = 50
)

// A config file of the user or of the host. Nobody harms himself on purpose, but files get broken; and some
// applications keep their history in theirs.
const (
	ConfigBytes    = 64 << 20
	ConfigServers  = 5000
	ConfigValues   = 100_000
	ConfigNames    = 64 << 10
	ConfigProblems = 1000
)
