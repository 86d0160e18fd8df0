// Package allowance limits what one server may cost the hub, say without being asked, and ask of people: its shares of
// the budgets that all servers have together, its rates, and the pause that follows when a person refuses its
// questions. What exceeds a limit is counted or refused here, before it takes the hub's lock, and people are told about
// it.
//
// What must not live here: the numbers ([bounds]), open questions and windows (package hub), the life of a server
// (hub/servers).
package allowance
