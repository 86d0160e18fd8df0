package outbound

import (
	"net/netip"
	"slices"
)

// reach says which addresses may be contacted: those of the same kind as the address of the chosen host, or more public
// ones.
type reach int

const (
	reachPublic reach = iota
	reachPrivate
	reachLoopback
)

func (r reach) String() string { return [...]string{"public", "private", "loopback"}[r] }

// reserved are prefixes of addresses that are not public, but are not recognized by the methods of netip.Addr.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT, RFC 6598
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/32"),     // Teredo and 6to4 contain an IPv4 address that leads elsewhere
	netip.MustParsePrefix("2001:db8::/32"), // for documentation, as 3fff::/20
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

var (
	// nat64 is the well-known prefix of RFC 6052, behind which the last four bytes are the IPv4 address that is reached.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global has all IPv6 addresses that are assigned for the Internet. Whatever else there is belongs to a network: the
	// prefixes of its own translators, for instance (64:ff9b:1::/48 of RFC 8215, ::ffff:0:0:0/96 of RFC 7915), which
	// lead to any IPv4 address, in a place of the address that only the network knows.
	global = netip.MustParsePrefix("2000::/3")
)

// kindOf returns the reach that is needed to contact a.
func kindOf(a netip.Addr) reach {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		return kindOf(netip.AddrFrom4([4]byte(b[12:])))
	}
	switch {
	case a.IsLoopback():
		return reachLoopback
	case !a.IsValid(), a.Is6() && !global.Contains(a), a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsMulticast(),
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) }):
		return reachPrivate
	}
	return reachPublic
}
