package protocol

// The revisions, oldest first. They are dates, so they also compare as strings.
const (
	Revision20241105 = "2024-11-05"
	Revision20250326 = "2025-03-26"
	Revision20250618 = "2025-06-18"
	Revision20251125 = "2025-11-25"
	Revision20260728 = "2026-07-28"
)

// The error codes by which a peer shows that it is modern (2026-07-28 basic/index "Error Codes").
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// How a session is started, and how it is kept alive.
const (
	MethodInitialize  = "initialize"                // to 2025-11-25
	MethodInitialized = "notifications/initialized" // to 2025-11-25
	MethodDiscover    = "server/discover"           // since 2026-07-28
	MethodPing        = "ping"
)

// Requests of a client to a server.
const (
	MethodListTools             = "tools/list"
	MethodCallTool              = "tools/call"
	MethodListPrompts           = "prompts/list"
	MethodGetPrompt             = "prompts/get"
	MethodListResources         = "resources/list"
	MethodListResourceTemplates = "resources/templates/list"
	MethodReadResource          = "resources/read"
	MethodSubscribe             = "resources/subscribe"   // to 2025-11-25
	MethodUnsubscribe           = "resources/unsubscribe" // to 2025-11-25
	MethodListen                = "subscriptions/listen"  // since 2026-07-28
	MethodComplete              = "completion/complete"
	MethodSetLevel              = "logging/setLevel" // to 2025-11-25
	MethodTaskGet               = "tasks/get"
	MethodTaskResult            = "tasks/result" // only in 2025-11-25
	MethodTaskUpdate            = "tasks/update" // only in the extension
	MethodTaskCancel            = "tasks/cancel"
)

// Requests of a server to a client: as a request of its own, or since 2026-07-28 in a round.
const (
	MethodRoots       = "roots/list"
	MethodSampling    = "sampling/createMessage"
	MethodElicitation = "elicitation/create"
)

// Notifications, except notifications/cancelled, which is in hub/jsonrpc.
const (
	MethodProgress            = "notifications/progress"
	MethodMessage             = "notifications/message"
	MethodToolsChanged        = "notifications/tools/list_changed"
	MethodPromptsChanged      = "notifications/prompts/list_changed"
	MethodResourcesChanged    = "notifications/resources/list_changed"
	MethodResourceUpdated     = "notifications/resources/updated"
	MethodRootsChanged        = "notifications/roots/list_changed"
	MethodElicitationComplete = "notifications/elicitation/complete"
	MethodAcknowledged        = "notifications/subscriptions/acknowledged"
	MethodTaskStatus          = "notifications/tasks/status" // 2025-11-25
	MethodTasks               = "notifications/tasks"        // the extension
)

// The keys of _meta that the protocol reserves (2026-07-28 basic/index, "_meta"), and those of extensions.
const (
	MetaProtocolVersion = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo      = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities    = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel        = "io.modelcontextprotocol/logLevel"
	MetaServerInfo      = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID  = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken   = "progressToken"
	MetaTraceParent     = "traceparent"
	MetaTraceState      = "tracestate"
	MetaBaggage         = "baggage"
	MetaUI              = "ui"
	MetaUIResource      = "ui/resourceUri"
	MetaRelatedTask     = "io.modelcontextprotocol/related-task"
)

// LogLevels are the levels of RFC 5424, in ascending order (server/utilities/logging).
var LogLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
