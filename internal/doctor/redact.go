package doctor

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// A redactor removes from texts what a stranger must not see: tokens, passwords, serial
// numbers, user names, and addresses on the public Internet. It replaces each address by
// one that is reserved for documentation, always by the same one, so that equal addresses
// stay equal. Private addresses, hardware addresses and Thunderbolt identities stay,
// because the cabling cannot be understood without them.
type redactor struct {
	secrets []string // literal
	addrs   map[netip.Addr]netip.Addr
	v4, v6  int
}

func newRedactor(secrets ...string) *redactor {
	r := &redactor{addrs: map[netip.Addr]netip.Addr{}}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= 4 {
			r.secrets = append(r.secrets, s)
		}
	}
	return r
}

const removed = "(removed)"

var (
	secretLine = regexp.MustCompile(`(?i)((?:token|secret|passw(?:or)?d|passphrase|psk|api[_-]?key|authorization)["']?\s*[:=]\s*["']?)[^\s"',]+`)
	serialLine = regexp.MustCompile(`(?i)(serial[ _-]?(?:number|no|num)?(?:_key)?["']?\s*[:=]\s*["']?)[^\s"',]+`)
	homeDir    = regexp.MustCompile(`(/(?:Users|home)/)[^/\s"':]+`)
	ipv4Text   = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)
	ipv6Text   = regexp.MustCompile(`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}`)
)

func (r *redactor) clean(b []byte) []byte {
	s := string(b)
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, removed)
	}
	s = secretLine.ReplaceAllString(s, "${1}"+removed)
	s = serialLine.ReplaceAllString(s, "${1}"+removed)
	s = homeDir.ReplaceAllString(s, "${1}user")
	s = ipv4Text.ReplaceAllStringFunc(s, r.address)
	s = ipv6Text.ReplaceAllStringFunc(s, r.address)
	return []byte(s)
}

func (r *redactor) address(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil || !public(a) {
		return text
	}
	stand, ok := r.addrs[a]
	if !ok {
		if a.Is4() {
			stand = netip.AddrFrom4([4]byte{203, 0, 113, byte(r.v4)})
			r.v4++
		} else {
			stand = netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", r.v6+1))
			r.v6++
		}
		r.addrs[a] = stand
	}
	return stand.String()
}

var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::ffff:0:0/96"),
}

func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	// Only 2000::/3 is in use on the Internet. Other matches are not addresses, but
	// numbers with colons.
	return a.Is4() || a.As16()[0]>>5 == 1
}
