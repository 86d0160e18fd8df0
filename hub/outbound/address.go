package outbound

import (
	"net/netip"
	"slices"
)

// reach tells which addresses may be spoken to: those of the same kind as the chosen host's own, or more public ones.
type reach int

const (
	reachPublic reach = iota
	reachPrivate
	reachLoopback
)

func (r reach) String() string { return [...]string{"public", "private", "loopback"}[r] }

// reserved is what is neither public nor found by netip's own questions.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT, RFC 6598
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), // IPv4-compatible, out of use
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/32"), // Teredo and 6to4 carry an IPv4 address to somewhere else
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// kindOf is the reach that it takes to speak to a.
func kindOf(a netip.Addr) reach {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		return kindOf(netip.AddrFrom4([4]byte(b[12:])))
	}
	switch {
	case a.IsLoopback():
		return reachLoopback
	case !a.IsValid(), a.IsUnspecified(), a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsMulticast(),
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) }):
		return reachPrivate
	}
	return reachPublic
}
