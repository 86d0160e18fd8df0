// Package bounds defines what one server, folder or window may cost, and what all of them may cost together.
//
// The limits are constants. Each number is defined here only, with the reason for it. A [Budget] is an amount, usually
// of bytes, that all servers of a hub share; each server has an [Account] of it.
//
// # Who gets how much
//
// No account holds more than the limit for each server, and all together no more than the total. If a server asks for
// more, it is refused, and nothing is ever taken from another. A limit for each server is at most a quarter of its
// total, where the total is more than 16 MiB: one server that takes all it may leaves three quarters to the others.
// Four such servers at once use a total up, and then the others are refused as well, until those end: a person who has
// four hostile servers has to switch them off.
//
// # The sum of the limits
//
// Different attacks use up different totals, so the worst case is their sum, [HeldBytes]:
//
//	open questions                        QuestionBytes    36 MiB
//	lists                                 HubListBytes     72 MiB
//	checks of schemas                     HubCheckBytes    64 MiB
//	events that wait for windows          WindowsBytes     24 MiB
//	answers that are being compared       AnswersBytes     16 MiB
//	results of requests that are over     HistoryResults    2 MiB
//	their errors, and their other texts   HistoryErrors     1.5 MiB, with HistoryTexts
//	timelines of requests                 TraceBytes        4 MiB
//	what the core was told and ordered    FlightBytes       2 MiB
//	short texts of requests that are over KeptMemoryBytes   4 MiB
//	                                                      226 MiB
//
// Results in flight (ResultBytes) are not in the sum: they are what the hub is for. Messages below [CountedBytes] are
// not counted.
//
// The package does not import any other package of the hub.
package bounds
