package doctor

// check holds what the specification says about one subject, and what to do if a server behaves differently.
// doURL takes the place of do for a server behind a URL; "" if that is the same.
type check struct{ spec, says, do, doURL string }

// The checks by name. A check that is not based on the specification has no spec.
var checks = map[string]check{
	"start.ready": {"2025-11-25 basic/lifecycle", "the server answers initialize with its revision and capabilities",
		"start it by hand with the same command and folder, and read what it writes on stderr",
		"ask the address with curl, with the same headers: is it that of the MCP endpoint, path included, and does it answer " +
			"a POST of initialize?"},
	"start.time": {"", "", "do what takes long after initialize has been answered, or on the first call", ""},
	"start.stdout": {"2025-11-25 basic/transports, stdio", "nothing but MCP messages may be written to stdout",
		"write logs to stderr; look for print, console.log, or a wrapper that announces itself (npm run, a shell profile)", ""},
	"start.utf8": {"2025-11-25 basic/transports", "JSON-RPC messages must be encoded in UTF-8",
		"write UTF-8 on every system (PYTHONUTF8=1, Console.OutputEncoding): clients replace or drop what is not", ""},
	"start.signin": {"2025-11-25 basic/authorization", "401 means that a client has to sign in", "", ""},
	"start.stderr": {"2025-11-25 basic/transports, stdio", "stderr is for logs of any kind", "", ""},

	"era.revisions": {"2025-11-25 basic/lifecycle, version negotiation",
		"a server that does not know the offered revision answers with one that it knows", "", ""},
	"era.modern": {"2026-07-28 basic/versioning", "server/discover tells revisions and capabilities", "", ""},
	"era.unknown": {"JSON-RPC 2.0, 5.1", "an unknown method is answered with -32601",
		"answer every request that is not known with -32601: clients ask for newer methods first", ""},

	"capability.tools":     {"2025-11-25 server/tools", "a server that declares tools answers tools/list", "", ""},
	"capability.prompts":   {"2025-11-25 server/prompts", "a server that declares prompts answers prompts/list", "", ""},
	"capability.resources": {"2025-11-25 server/resources", "a server that declares resources answers resources/list", "", ""},
	"capability.logging": {"2025-11-25 server/utilities/logging",
		"a server that declares logging takes logging/setLevel", "", ""},
	"capability.undeclared": {"2025-11-25 basic/lifecycle, capability negotiation",
		"only what was declared may be used: clients will not ask for it", "declare the capability", ""},
	"ping": {"2025-11-25 basic/utilities/ping", "a ping is answered promptly with an empty result",
		"answer pings whatever else is running: clients take silence for death", ""},

	"list.size": {"", "",
		"offer fewer tools, or shorter descriptions and schemas: each request to a model carries them all", ""},
	"list.read": {"2025-11-25 server/utilities/pagination",
		"each cursor leads to another page, and the last page has none",
		"answer every list that is declared, and leave nextCursor out of the last page", ""},
	"list.duplicates": {"2025-11-25 server/tools, tool names", "names are unique within a server",
		"give each tool a name of its own", ""},
	"tool.name": {"2025-11-25 server/tools, tool names", "1 to 64 letters, digits, _ - . /",
		"use letters, digits, _ and -, begin with a letter, and stay below 64: the APIs of models refuse other names", ""},
	"tool.description": {"2025-11-25 server/tools", "a description says what the tool does",
		"say in two or three sentences what it does, when to use it and what it answers", ""},
	"tool.schema": {"2025-11-25 server/tools", "inputSchema is a JSON Schema whose root is an object",
		`give the root "type": "object" and "properties", and each array "items"; keep combiners off the root: the APIs of ` +
			"models refuse the whole request over one such tool", ""},
	"tool.annotations": {"2025-11-25 server/tools, annotations",
		"hints are optional, and the worst is assumed without them",
		"set readOnlyHint and destructiveHint, so that people are not asked about what changes nothing", ""},
	"tool.output": {"2025-11-25 server/tools, output schema", "structured results must conform to outputSchema",
		"make the result conform, or the schema true", ""},

	"cancel.stop": {"2025-11-25 basic/utilities/cancellation", "the receiver should stop the work and free its resources",
		"pass the request's cancellation (context, AbortSignal) on to everything that the tool waits for", ""},
	"cancel.answer": {"2025-11-25 basic/utilities/cancellation", "no response should be sent for a cancelled request",
		"drop the answer: the client has forgotten the request", ""},
	"cancel.progress": {"2025-11-25 basic/utilities/progress", "progress stops once a request is over",
		"send no progress after the cancel", ""},
	"cancel.questions": {"2025-11-25 basic/utilities/cancellation", "a sender may withdraw its own request at any time",
		"cancel the questions of a call with the call, so that nobody is asked for nothing", ""},
	"cancel.delivery": {"2025-11-25 basic/transports, Streamable HTTP", "a notification is answered with 202",
		"accept notifications/cancelled on the same address as every other message", ""},
	"cancel.next": {"", "",
		"a cancelled call must leave nothing behind that the next one trips over (locks, state, broken pipes)", ""},
	"cancel.unknown": {"2025-11-25 basic/utilities/cancellation",
		"cancels of requests that are unknown or over, and malformed ones, should be ignored",
		"look the id up, and do nothing when it is not there", ""},

	"end.stdin": {"2025-11-25 basic/lifecycle, shutdown, stdio",
		"the client closes stdin and waits for the server to exit",
		"leave when stdin ends", ""},
	"end.sigterm": {"2025-11-25 basic/lifecycle, shutdown, stdio", "SIGTERM comes when the server has not left",
		"leave on SIGTERM, with its children", ""},
	"end.children": {"2025-11-25 basic/lifecycle, shutdown, stdio", "nothing should outlive the connection",
		"end child processes when the server ends", ""},
}
