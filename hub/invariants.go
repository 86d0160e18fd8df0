package hub

// checkInvariants is Hub.check of every hub that is made from then on: tests set it.
var checkInvariants func(*Hub) string
