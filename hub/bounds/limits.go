package bounds

import "time"

// Questions of servers (docs/protocol.md, "What a server may cost").
const (
	// ElicitationBytes bounds the params of one elicitation: a form or a link is for a person to read, who reads no 256
	// KiB.
	ElicitationBytes = 256 << 10
	// PageURLBytes bounds a URL that a person is asked to open. Sign-in pages with everything in the query reach some 4
	// KiB, and browsers and proxies cut at 8 KiB or more.
	PageURLBytes = 8 << 10
	// SamplingBytes bounds the params of one sampling request: a conversation, with pictures perhaps.
	SamplingBytes = 8 << 20
	// RoundBytes bounds all questions of one answer of a modern server together (MRTR), and those of one poll of a task.
	RoundBytes = 8 << 20
	// RoundQuestions bounds their number: each is a goroutine and a card. It is the number that a connection may have open
	// otherwise.
	RoundQuestions = 64
	// TaskQuestions bounds what one task asks in its life: its keys are kept so that nobody is asked twice.
	TaskQuestions = 1024
	// InputKeyBytes bounds the key of a question.
	InputKeyBytes = 1 << 10
	// ServerQuestionBytes bounds the open questions of one server.
	ServerQuestionBytes = 12 << 20
	// QuestionBytes bounds the open questions of all servers.
	QuestionBytes = 32 << 20
)

// Questions after a No. A server that asks again after each No keeps a person from working, at no cost to itself.
const (
	// RefusalsFree is how many a person may refuse one after the other before the server has to wait. People refuse by
	// mistake, and servers ask for the same in other words.
	RefusalsFree = 3
	// RefusalPause is how long a server waits after the first No beyond that, twice as long after each further one.
	RefusalPause = 2 * time.Second
	// RefusalMaxPause is the longest it waits.
	RefusalMaxPause = 5 * time.Minute
)

// Lists: tools, resources, resource templates, prompts.
const (
	// ListBytes bounds one list of a server, all pages together. The largest that was seen in use is 1.3 MiB.
	ListBytes = 32 << 20
	// EntryBytes bounds one entry of a list: a tool whose definition is longer is left out. It is in the question about a
	// call and in what is agreed to.
	EntryBytes = 1 << 20
	// ListEntries bounds the entries of one list: an entry costs the hub some 300 bytes besides its text, also when that
	// is "{}".
	ListEntries = 50_000
	// HubListBytes bounds the lists of all servers, those under way included.
	HubListBytes = 88 << 20
	// ServerListBytes bounds all lists of one server: those that are kept, and the one that is being read in the place of
	// one.
	ServerListBytes = 33 << 20
)

// What a server says of itself in its first answer. It is shown in every window and is in every snapshot.
const (
	InstructionsBytes = 64 << 10
	CapabilitiesBytes = 64 << 10
	NameBytes         = 1 << 10 // its name, title and version
)

// ToolTitleBytes bounds the title of a tool in each request of it. The list of tools has it whole.
const ToolTitleBytes = 256

// ResultBytes bounds the results of calls that the hub holds at once, from the first part read to the last byte handed
// on, for all servers; and every other message that is long, while it is read. One server may hold half of it, and 192
// MiB with its share (see Budget): three results of the largest size (maxMessageBytes, 64 MiB).
const (
	ResultBytes       = 512 << 20
	ServerResultBytes = 256 << 20
)

// What a server says without being asked.
const (
	// LogRate and LogBurst bound the log messages and stderr lines of a server, a second and at once. People read no
	// thousand lines a second; the rest is counted.
	LogRate  = 200
	LogBurst = 1000
	// NoticeRate and NoticeBurst bound the notices of changes of a server (lists, resources).
	NoticeRate  = 50
	NoticeBurst = 500
	// LogTextBytes bounds the data of one log message; of a longer one the beginning is shown, as text.
	LogTextBytes = 64 << 10
	// QuestionRate and QuestionBurst bound the questions of a server, a second and at once. No person answers so many; a
	// server that asks and withdraws in a loop would make the hub tell every window of each.
	QuestionRate  = 500
	QuestionBurst = 1000
	// QuestionsPerCall may come besides, for each call that the server was sent: ten thousand calls at once may ask ten
	// thousand times at once.
	QuestionsPerCall = 16
	// ProgressTextBytes bounds the message of one progress notification.
	ProgressTextBytes = 4 << 10
	// ErrorTextBytes and ErrorDataBytes bound the message and the data of a JSON-RPC error as the windows are told of it.
	// Who made the call gets all of it.
	ErrorTextBytes = 4 << 10
	ErrorDataBytes = 64 << 10
	// KeptLineBytes bounds each of the last lines of stderr that are kept of a server.
	KeptLineBytes = 1 << 10
	// ComplaintBurst is how often at once, and then once a second, people are told that a server goes over a bound.
	ComplaintBurst = 10
	// URIBytes bounds the URI of a resource that changed: the journal keeps each.
	URIBytes = 64 << 10
	// AppURIBytes bounds the URI of the view of a tool: a list brings one for each.
	AppURIBytes = 2 << 10
	// GatewayConnections is how many clients may be connected to an HTTP endpoint of the gateway at once, those without
	// the token among them; PageConnections is that of a port for browsers: of the page, its frames of views and a
	// sign-in's return.
	GatewayConnections = 1024
	PageConnections    = 256
	// Subscriptions bounds the resources of one server that are subscribed to at once.
	Subscriptions = 1024
	// ClientSubscriptions bounds those of them that one client of a gateway, or one window, may have: some are left for
	// others.
	ClientSubscriptions = 256
)

// Schemas of strangers: the outputSchema of a tool, the requestedSchema of a form. Work is counted before the validator
// begins; a unit is about a visit of a value by a schema, or 64 bytes of text, and 2,000,000 of them take about a
// second.
const (
	SchemaBytes        = 256 << 10
	SchemaDepth        = 64     // of the JSON text
	SchemaValues       = 40_000 // of the JSON text, names among them
	SchemaParts        = 10_000
	SchemaPathBytes    = 4 << 20 // of all places in the schema together: the validator keeps each one as text
	SchemaPatternSteps = 20_000  // states of all regular expressions together
	CheckedBytes       = 4 << 20 // of a value that is checked
	CheckedDepth       = 512
	CheckedValues      = 50_000 // names among them
	CheckWork          = 2_000_000
	CheckVisits        = 200_000
	CheckStack         = 2_000
	// SchemaPlans and PlanBytes bound what is kept of a server's schemas, ready for the next check.
	SchemaPlans = 256
	PlanBytes   = 4 << 20
	// ServerCheckBytes bounds the memory of the checks of one server, and HubCheckBytes that of all. What finds no room is
	// not checked. The largest value that may be checked takes 17.2 MiB, the largest schema 14.7 MiB.
	ServerCheckBytes = 18 << 20
	HubCheckBytes    = 48 << 20
)

// Windows.
const (
	// WindowQueue and WindowBytes bound what a window is still to be sent: but for questions, which have a bound of their
	// own.
	WindowQueue = 8192
	WindowBytes = 8 << 20
	// WindowsBytes bounds what all windows are still to be sent.
	WindowsBytes = 24 << 20
	// WindowLogs and WindowLogBytes bound the log messages that wait for a window. One server may have as much of it as is
	// left free: half, if it is alone.
	WindowLogs     = 256
	WindowLogBytes = 1 << 20
	// WindowNotices and WindowNoticeBytes bound the notices of changes that wait for a window, shared in the same way.
	WindowNotices     = 4096
	WindowNoticeBytes = 2 << 20
	// SnapshotServers and SnapshotPrompts bound what one snapshot says of servers and of open questions, in bytes, so that
	// it stays below the 4 MiB that a gRPC client takes that has not said otherwise. What does not fit follows in events
	// of its own.
	SnapshotServers = 1 << 20
	SnapshotPrompts = 256 << 10
	// AnswerBytes bounds the content of one answer to a question of a server: a completion, with a picture perhaps.
	AnswerBytes = 8 << 20
	// WindowAnswers bounds how many answers of one window are compared with what was asked for at a time.
	WindowAnswers = 8
	// AnswersBytes bounds the content of the answers of all windows that are being compared.
	AnswersBytes = 22 << 20
	// ProgressRate is how many progress events a second a window gets for each request.
	ProgressRate = 20
	// WireIDBytes bounds the id of a server's question for all who look at it: the server chooses it, and each event of
	// the request would carry it.
	WireIDBytes = 128
)

// What the hub remembers of what was.
const (
	// JournalBytes bounds the events that a window can miss and still resume: questions and errors are as long as a server
	// makes them.
	JournalBytes = 16 << 20
	// HistoryBytes bounds the requests that are over, with their results.
	HistoryBytes = 12 << 20
	// TraceBytes bounds the timelines of requests: beyond it none becomes larger.
	TraceBytes = 4 << 20
)

// Arguments and results of requests that are over, whole (package kept). Where there is more in all, the oldest of the
// server that holds the most go.
const (
	// KeptRequests bounds their number: more than a window is told of needs nobody.
	KeptRequests       = 1000
	ServerKeptRequests = 500
	// KeptShortBytes is up to how many bytes a text stays in memory, KeptMemoryBytes bounds those of all.
	KeptShortBytes        = 8 << 10
	KeptMemoryBytes       = 4 << 20
	ServerKeptMemoryBytes = 2 << 20
	// KeptDiskBytes bounds the files of the others; one server may keep three results of the largest size.
	KeptDiskBytes       = 512 << 20
	ServerKeptDiskBytes = 256 << 20
	// KeptWaitingBytes bounds the texts that wait to be written and count nowhere else: arguments, and results of less
	// than CountedBytes. KeptWaitingResults bounds the other results, which are in flight until then (ResultBytes).
	KeptWaitingBytes   = 4 << 20
	KeptWaitingResults = 128 << 20
)

// HeldBytes is what the hub may hold for others in the worst case, besides the results in flight: when every total is
// used up at once.
const HeldBytes = QuestionBytes + HubListBytes + HubCheckBytes + WindowsBytes + AnswersBytes + JournalBytes +
	HistoryBytes + TraceBytes + KeptMemoryBytes + KeptWaitingBytes

// ReleasedBytes is how much must have been given back before the memory goes back to the system at once, ReleasePause
// the least time between two times. It costs a full garbage collection.
const (
	ReleasedBytes = 16 << 20
	ReleasePause  = 10 * time.Second
	// ReleaseDelay lets what is let go of together be let go of first.
	ReleaseDelay = time.Second
)

// Headers of HTTP answers.
const (
	// HeaderBytes bounds the headers of one answer, which no other bound counts. Servers themselves take 8 to 32 KiB of a
	// client.
	HeaderBytes = 64 << 10
	// SessionIDBytes bounds a session id: it goes out with every request.
	SessionIDBytes = 4 << 10
)

// AnswersPosted is how many answers to requests of a server are on their way to it over HTTP at once. Beyond that they
// wait, and the answers to pings are dropped and counted.
const AnswersPosted = 16

// Schemas of tools as they are made for models. What is read is bounded by SchemaBytes and SchemaDepth.
const (
	// FitWork bounds the bytes that are read for one schema: each level reads all that is inside it.
	FitWork = 16 << 20
	// FitDepth bounds how deep schemas lie within one another in what is made; OpenAI's strict form takes 10 levels, and
	// people write fewer.
	FitDepth = 24
	// FitParts and FitBytes bound what references add when they are written out: a kilobyte of definitions may lead to the
	// same one on 2^40 ways. A model has to read it all.
	FitParts = 1000
	FitBytes = 64 << 10
	// FitChanges bounds what is told of one schema.
	FitChanges = 50
)

// The search over tools. What a server writes beyond this is not found.
const (
	// SearchedBytes bounds the text of one tool that is read for the index, SearchedWords the different words of it.
	SearchedBytes = 32 << 10
	SearchedWords = 1000
	// SearchTools bounds the tools of one server in the index, SearchQueryBytes a query and SearchQueryWords its words.
	SearchTools      = 10_000
	SearchQueryBytes = 1 << 10
	SearchQueryWords = 32
)

// Views of results for models.
const (
	// ViewBlocks bounds the blocks of a result that are looked at one by one; an empty one has two bytes.
	ViewBlocks = 10_000
	// ViewTokens is the least bound of a view: what was left out has to be told, too.
	ViewTokens = 128
	// ViewCompared bounds a structuredContent that is decoded to find out whether a text says the same.
	ViewCompared = 1 << 20
	// ViewSentence bounds what the caller has said about how to get the rest.
	ViewSentence = 100
)

// Results that are kept, so that models can read on where a view left something out (design: bounded results).
const (
	// KeptResultsBytes bounds what is kept in all.
	KeptResultsBytes = 1 << 30
	// KeptResults bounds the files, which are looked through now and then.
	KeptResults = 10_000
	// KeptResultsAge is how long one is kept at most.
	KeptResultsAge = 7 * 24 * time.Hour
	// DescriptionBytes bounds the description of a tool that models read: what one provider is known to take.
	DescriptionBytes = 1024
	// PieceBytes bounds one piece of a result.
	PieceBytes = 1 << 20
)
