// Package allowance is what one server may cost the hub, may say without being asked, and may ask of people: its shares
// of the budgets that all servers have together, its rates, and the quiet that follows when a person refuses its
// questions. What is too much is counted or refused here, before it comes to the hub's lock, and people are told of it.
//
// What must not live here: the numbers ([bounds]), open questions and windows (package hub), the life of a server
// (hub/servers).
package allowance
