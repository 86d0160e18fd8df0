// Package bounds says what one server, folder or window may cost, and what all of them may cost together.
//
// Its limits are constants: each is the only place of its number, with the reason for it. A [Budget] is an amount of
// something, of bytes as a rule, that all servers of a hub share; each server has an [Account] with it.
//
// # Who gets how much
//
// What a server takes beyond its share is refused, and that is the loss of this server: nothing is ever taken from
// another. As nothing is taken back, a server that comes first must not take all. Three rules decide, in this order:
//
//  1. No account holds more than the limit for each server.
//  2. A part of the total (one quarter) is a reserve. Only an account that holds little (a 64th of the reserve) may use
//     it, so that a newcomer finds room whatever the others hold, as long as there are not more than 64 such newcomers.
//  3. Otherwise an account may hold at most as much as is left free outside the reserve afterwards. One server alone
//     may so hold a half of that, two of equal hunger a third each, n of them 1/(n+1) each: the room for whoever comes
//     next grows with what the others are refused. This is the dynamic threshold of A. Choudhury and E. Hahne, "Dynamic
//     queue length thresholds for shared-memory packet switches" (IEEE/ACM Transactions on Networking, 1998), with
//     alpha = 1. It counts those who hold something only: a hub with one server that needs much gives it much.
//
// An account that was within its share when it took is never made to give back; it can only take no more.
//
// # What all of it comes to
//
// Each total is used up by other attacks, so the worst case is their sum, [HeldBytes]:
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
// Results in flight (ResultBytes) come besides: they are what the hub is for. What is below [CountedBytes] is not
// counted one by one.
//
// The package imports nothing of the hub.
package bounds
