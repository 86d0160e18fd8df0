package bounds

import (
	"time"
)

// Questions of servers (docs/protocol.md, "What a server may cost").
const (
	// ElicitationBytes bounds the params of one elicitation: it is a form or a link for a person, who does not read 256
	// KiB.
	ElicitationBytes = 256 << 10
	// PageURLBytes bounds a URL that a person is asked to open. Sign-in pages with everything in the query reach some 4
	// KiB, and browsers and proxies cut at 8 KiB or more.
	PageURLBytes = 8 << 10
	// SamplingBytes bounds the params of one sampling request, which is a conversation, perhaps with pictures.
	SamplingBytes = 8 << 20
	// RoundBytes bounds all questions of one answer of a modern server together (MRTR), and those of one poll of a task.
	RoundBytes = 8 << 20
	// RoundQuestions bounds how many questions one such answer or poll may hold: each takes a goroutine, and is a card in
	// the windows. A connection may have as many requests of its server open.
	RoundQuestions = 64
	// TaskQuestions bounds how many questions one task asks in its life: their keys are kept so that nobody is asked
	// twice.
	TaskQuestions = 1024
	// InputKeyBytes bounds the key of a question.
	InputKeyBytes = 1 << 10
	// ServerQuestionBytes bounds the open questions of one server: one that is as long as it may be, and what every
	// question takes besides its text.
	ServerQuestionBytes = 9 << 20
	// QuestionBytes bounds the open questions of all servers.
	QuestionBytes = 36 << 20
)

// Questions after a No. A server that asks again after each No keeps a person from working, at no cost to itself.
const (
	// RefusalsFree is how many questions a person may refuse one after the other before the server has to wait. People
	// refuse by mistake, and servers ask for the same in other words.
	RefusalsFree = 3
	// RefusalPause is how long a server waits after the first No beyond these; the pause doubles with each further No.
	RefusalPause = 2 * time.Second
	// RefusalMaxPause is the longest pause.
	RefusalMaxPause = 5 * time.Minute
)

// Lists: tools, resources, resource templates, prompts.
const (
	// ListBytes bounds one list of a server, all pages together. The largest list that was seen in use has 1.3 MiB.
	ListBytes = 16 << 20
	// EntryBytes bounds one entry of a list: a tool with a longer definition is left out. The definition is part of the
	// question about a call, and of what is agreed to.
	EntryBytes = 1 << 20
	// ListEntries bounds the entries of one list: an entry costs the hub about 300 bytes besides its text, even if that is
	// "{}".
	ListEntries = 50_000
	// HubListBytes bounds the lists of all servers, including those that are being read.
	HubListBytes = 72 << 20
	// ServerListBytes bounds all lists of one server: those that are kept, and the list that is being read to replace one
	// of them.
	ServerListBytes = 18 << 20
)

// What a server says about itself in its first answer. Every window shows it, and every snapshot holds it.
const (
	InstructionsBytes = 64 << 10
	CapabilitiesBytes = 64 << 10
	NameBytes         = 1 << 10 // of each of its name, title and version, and of the name of a tool or prompt
)

// ToolTitleBytes bounds the title of a tool in each of its requests. The list of tools has the whole title.
const ToolTitleBytes = 256

// ResultBytes bounds the results of calls that the hub holds at once, for all servers, from the first part that is read
// to the last byte that is passed on. Every other long message also counts while it is read. One server may hold two
// results of the largest size (maxMessageBytes, 64 MiB), and so much of all servers may wait to be written to a file.
const (
	ResultBytes       = 512 << 20
	ServerResultBytes = 128 << 20
)

// What a server sends without being asked.
const (
	// LogRate and LogBurst bound the log messages and stderr lines of a server: LogRate per second, LogBurst at once.
	// Nobody reads a thousand lines a second; the rest is only counted.
	LogRate  = 200
	LogBurst = 1000
	// NoticeRate and NoticeBurst bound the notices of changes (lists, resources) of a server.
	NoticeRate  = 50
	NoticeBurst = 500
	// LogTextBytes bounds the data of one log message. If it is longer, its beginning is shown, as text.
	LogTextBytes = 64 << 10
	// QuestionRate and QuestionBurst bound the questions of a server, per second and at once. No person answers so many.
	// Without the bound, a server that asks and withdraws in a loop would make the hub send all windows an event each
	// time.
	QuestionRate  = 500
	QuestionBurst = 1000
	// QuestionsPerCall is how many questions may come in addition for each call that the server was sent: with ten
	// thousand calls at once it may ask ten thousand questions at once.
	QuestionsPerCall = 16
	// ProgressTextBytes bounds the message of one progress notification.
	ProgressTextBytes = 4 << 10
	// ErrorTextBytes and ErrorDataBytes bound the message and the data of a JSON-RPC error in the events for windows. The
	// caller gets all of it.
	ErrorTextBytes = 4 << 10
	ErrorDataBytes = 64 << 10
	// KeptLineBytes bounds each of the last lines of stderr that are kept of a server.
	KeptLineBytes = 1 << 10
	// ComplaintBurst is how often people are told that a server exceeds a bound: so often at once, and then once a second.
	ComplaintBurst = 10
	// URIBytes bounds the URI of a resource that changed, since the journal keeps each of them.
	URIBytes = 64 << 10
	// SubjectBytes bounds the URI that is read and the name of what is called, since every window is sent it and the
	// history keeps it.
	SubjectBytes = 8 << 10
	// AppURIBytes bounds the URI of a tool's view, since a list has one for each tool.
	AppURIBytes = 2 << 10
	// GatewayConnections is how many connections with the token an HTTP endpoint of the gateway may have at once, and
	// GatewayStrangers how many without it. PageConnections is the number for a port for browsers, with the connections of
	// the page, of the frames of its views, and of a browser that comes back from a sign-in.
	GatewayConnections = 1024
	GatewayStrangers   = 128
	PageConnections    = 256
	// Subscriptions bounds how many resources of one server may be subscribed to at once.
	Subscriptions = 1024
	// ClientSubscriptions bounds how many of these one client of a gateway, or one window, may have, so that some are left
	// for others.
	ClientSubscriptions = 256
)

// Schemas of strangers: the outputSchema of a tool and the requestedSchema of a form. The work is counted before the
// validator begins. A unit is about one visit of a value by a schema, or 64 bytes of text, and 2,000,000 units take
// about a second.
const (
	SchemaBytes        = 256 << 10
	SchemaDepth        = 64     // of the JSON text
	SchemaValues       = 40_000 // in the JSON text, including names
	SchemaParts        = 10_000
	SchemaPathBytes    = 2 << 20 // of the paths to all places in the schema together, which the validator keeps as text
	SchemaPatternSteps = 20_000  // states of all regular expressions together
	CheckedBytes       = 2 << 20 // of a value that is to be checked
	CheckedDepth       = 512
	CheckedValues      = 50_000 // including names
	CheckWork          = 2_000_000
	CheckStack         = 2_000
	// PlanBytes bounds what is kept of a server's schemas for the next checks.
	PlanBytes = 4 << 20
	// ServerCheckBytes bounds the memory of the checks of one server, and HubCheckBytes that of all servers. A check for
	// which there is no room is not made. The largest value that may be checked takes 13.2 MiB, the largest schema 14.7
	// MiB.
	ServerCheckBytes = 16 << 20
	HubCheckBytes    = 64 << 20
)

// Windows.
const (
	// WindowQueue and WindowBytes bound what waits to be sent to a window, except questions, which have a bound of their
	// own.
	WindowQueue = 8192
	WindowBytes = 6 << 20
	// WindowsBytes bounds what waits to be sent to all windows.
	WindowsBytes = 24 << 20
	// WindowLogs and WindowLogBytes bound the log messages that wait for a window. One server may have a quarter of them.
	WindowLogs     = 256
	WindowLogBytes = 1 << 20
	// WindowNotices and WindowNoticeBytes bound the notices of changes that wait for a window. One server may have a
	// quarter of them.
	WindowNotices     = 4096
	WindowNoticeBytes = 2 << 20
	// SnapshotServers and SnapshotPrompts bound the servers and the open questions in one snapshot, in bytes, so that the
	// snapshot stays below the 4 MiB that a gRPC client accepts by default. What does not fit follows in separate events.
	SnapshotServers = 1 << 20
	SnapshotPrompts = 256 << 10
	// AnswerBytes bounds the content of one answer to a question of a server, which is a completion, perhaps with a
	// picture.
	AnswerBytes = 8 << 20
	// WindowAnswers bounds how many answers of one window are compared with what was asked for at the same time.
	WindowAnswers = 8
	// AnswersBytes bounds the content of the answers of all windows that are being compared: two of the longest.
	AnswersBytes = 16 << 20
	// ProgressRate is how many progress events a second a window gets for each request.
	ProgressRate = 20
	// WireIDBytes bounds the id of a server's question in everything that is shown: the server chooses the id, and each
	// event of the request would hold it.
	WireIDBytes = 128
)

// What the hub keeps of the past.
const (
	// HistoryRequests bounds the requests that are over and that a snapshot can hold. HistoryResults and HistoryErrors
	// bound their results and errors, in bytes; those of the latest requests are kept. HistoryTexts bounds their other
	// texts, such as URIs: beyond it the oldest requests are forgotten. A page has to receive all of it before it shows
	// anything.
	HistoryRequests = 1000
	HistoryResults  = 2 << 20
	HistoryErrors   = 1 << 20
	HistoryTexts    = 512 << 10
	// TraceBytes bounds the timelines of requests: beyond it no timeline grows.
	TraceBytes = 4 << 20
	// FlightBytes bounds the record of what the core was told and has ordered: some 700 to 1,400 calls.
	FlightBytes = 2 << 20
)

// Arguments and results of requests that are over, whole (package kept). If there is too much, of one server or in all,
// the oldest are dropped.
const (
	// KeptRequests bounds their number: nobody needs more than a window is sent.
	KeptRequests       = 1000
	ServerKeptRequests = 500
	// KeptShortBytes is the size up to which a text stays in memory, and KeptMemoryBytes bounds all texts in memory.
	KeptShortBytes        = 8 << 10
	KeptMemoryBytes       = 4 << 20
	ServerKeptMemoryBytes = 2 << 20
	// KeptDiskBytes bounds the files of all other texts. One server may keep two results of the largest size.
	KeptDiskBytes       = 512 << 20
	ServerKeptDiskBytes = 128 << 20
)

// HeldBytes is what the hub may hold for others in the worst case, in which every total is used up at once. Results in
// flight are not included.
const HeldBytes = QuestionBytes + HubListBytes + HubCheckBytes + WindowsBytes + AnswersBytes + HistoryResults +
	HistoryErrors + HistoryTexts + TraceBytes + FlightBytes + KeptMemoryBytes

// ReleasedBytes is how much must have been freed before memory is returned to the system at once. ReleasePause is the
// least time between two such returns, since each costs a full garbage collection.
const (
	ReleasedBytes = 16 << 20
	ReleasePause  = 10 * time.Second
	// ReleaseDelay is a short delay before it, so that what is freed together is freed first.
	ReleaseDelay = time.Second
)

// Headers of HTTP answers.
const (
	// HeaderBytes bounds the headers of one answer, which no other bound counts. Servers accept 8 to 32 KiB of headers
	// from a client.
	HeaderBytes = 64 << 10
	// SessionIDBytes bounds a session id, since it is sent with every request.
	SessionIDBytes = 4 << 10
)

// AnswersPosted is how many answers to requests of a server may be in transit to it over HTTP at once. Further answers
// wait, except the answers to pings, which are dropped and counted.
const AnswersPosted = 16

// Schemas of tools in the form for models. SchemaBytes and SchemaDepth bound what is read.
const (
	// FitWork bounds the bytes that are read for one schema: each level reads everything inside it.
	FitWork = 16 << 20
	// FitDepth bounds how deep schemas may be nested in the result. OpenAI's strict form accepts 10 levels, and people
	// write fewer.
	FitDepth = 24
	// FitParts and FitBytes bound what is added when references are replaced by their definitions: a kilobyte of
	// definitions may lead to the same definition in 2^40 ways. A model has to read all of it.
	FitParts = 1000
	FitBytes = 64 << 10
	// FitChanges bounds how many changes are reported for one schema.
	FitChanges = 50
)

// The search over tools. Text of a server beyond these bounds is not found.
const (
	// SearchedBytes bounds the text of one tool that is read for the index, and SearchedWords the different words in it.
	SearchedBytes = 32 << 10
	SearchedWords = 1000
	// SearchTools bounds the tools of one server in the index, SearchQueryBytes a query, and SearchQueryWords its words.
	SearchTools      = 10_000
	SearchQueryBytes = 1 << 10
	SearchQueryWords = 32
)

// Views of results for models.
const (
	// ViewBlocks bounds how many blocks of a result are examined one by one. An empty block has two bytes.
	ViewBlocks = 10_000
	// ViewTokens is the least bound of a view, since a view also has to say what was left out.
	ViewTokens = 128
	// ViewCompared bounds a structuredContent that is decoded to find out whether a text block says the same.
	ViewCompared = 1 << 20
	// ViewSentence bounds the caller's sentence about how to get the rest.
	ViewSentence = 100
)

// Results that are kept, so that models can read what a view left out (design: bounded results).
const (
	// KeptResultsBytes bounds all kept results together.
	KeptResultsBytes = 1 << 30
	// KeptResults bounds the number of files, since the folder is searched now and then.
	KeptResults = 10_000
	// KeptResultsAge is how long a result is kept at most.
	KeptResultsAge = 7 * 24 * time.Hour
	// DescriptionBytes bounds the description of a tool that models read. One provider is known to accept no more.
	DescriptionBytes = 1024
	// PieceBytes bounds one piece of a result.
	PieceBytes = 1 << 20
)

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
