// Package bounds defines what one server, folder or window may cost, and what all of them may cost together.
//
// The limits are constants. Each number is defined here only, with the reason for it. A [Budget] is an amount, usually
// of bytes, that all servers of a hub share; each server has an [Account] of it.
//
// # Who gets how much
//
// If a server asks for more than its share, it is refused: only this server is affected, and nothing is ever taken from
// another. Since nothing is taken back, the server that comes first must not get everything. Three rules decide, in
// this order:
//
//  1. No account holds more than the limit for each server.
//  2. A part of the total (one quarter) is a reserve. Only an account that holds little (a 64th of the reserve) may use
//     it, so that a new server finds room whatever the others hold, as long as there are not more than 64 such servers.
//  3. Otherwise an account may hold at most as much as is then left free outside the reserve. So one server alone may
//     hold half of that, two servers that want more a third each, and n such servers 1/(n+1) each: the more the others
//     are refused, the more room there is for the next server. This is the dynamic threshold of A. Choudhury and
//     E. Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (IEEE/ACM Transactions on
//     Networking, 1998), with alpha = 1. It counts only those who hold something: if a hub has only one server that
//     needs much, that server gets much.
//
// An account that was within its share when it took something never has to return it; it only cannot take more.
//
// # The sum of the limits
//
// Different attacks use up different totals, so the worst case is their sum, [HeldBytes]:
//
//	open questions                        QuestionBytes    32 MiB
//	lists                                 HubListBytes     88 MiB
//	checks of schemas                     HubCheckBytes    48 MiB
//	events that wait for windows          WindowsBytes     24 MiB
//	answers that are being compared       AnswersBytes     22 MiB
//	events for windows that come back     JournalBytes     16 MiB
//	requests that are over                HistoryBytes     12 MiB
//	timelines of requests                 TraceBytes        4 MiB
//	short texts of requests that are over KeptMemoryBytes   4 MiB
//	long ones that wait to be written     KeptWaitingBytes  4 MiB
//	                                                      254 MiB
//
// Results in flight (ResultBytes) are not in the sum: they are what the hub is for. Messages below [CountedBytes] are
// not counted.
//
// The package does not import any other package of the hub.
package bounds
