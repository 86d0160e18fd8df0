package bounds

// A config file of a workspace is text of a stranger. The parts of a file beyond a bound are not read, and the problem
// that the user is shown says where.
const (
	// FolderConfigBytes bounds the file. The largest files that were seen in repositories have 30 KiB.
	FolderConfigBytes = 1 << 20
	// FolderServers bounds the number of its servers.
	FolderServers = 200
	// FolderValues bounds each list and each object of one entry: arguments, variables, headers, tools.
	FolderValues = 1000
	// FolderNameBytes bounds the name of a tool or a pattern of such names: it is compared with the name of each tool that
	// is called, in a time that is the product of both lengths. Names of tools have at most 128 characters (MCP
	// 2025-11-25, server/tools, "Tool Names").
	FolderNameBytes = 128
	// FolderProblems bounds the number of problems that are reported for one entry, and for the file apart from its
	// entries.
	FolderProblems = 50
)

// A config file of the user or of the host. Nobody harms himself on purpose, but files get broken, and some
// applications keep their history in their config file.
const (
	ConfigBytes    = 64 << 20
	ConfigServers  = 5000
	ConfigValues   = 100_000
	ConfigNames    = 64 << 10
	ConfigProblems = 1000
)
