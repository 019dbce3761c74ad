package redaction

import (
	"net/netip"
	"strings"
)

// findIPv4 finds addresses of four octets. Versions look the same: a v, a word such as version, a fifth part, a leading
// zero or an @ before it spares them. Addresses that mean nothing outside one network stay, unless the policy says otherwise.
func (s *scan) findIPv4() {
	text := s.text
	for i := 0; i+7 <= len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		start := i
		for i < len(text) && (isDigit(text[i]) || text[i] == '.') {
			i++
		}
		quad := strings.TrimRight(text[start:i], ".")
		if len(quad) < 7 || len(quad) > 15 || (start > 0 && (isAlnum(text[start-1]) || indexByte("_-@+", text[start-1]))) {
			continue
		}
		if i < len(text) && (isLetter(text[i]) || text[i] == '_' || (text[i] == '-' && i+1 < len(text) && isAlnum(text[i+1]))) {
			continue
		}
		if address, err := netip.ParseAddr(quad); err == nil && s.isPublic(address) && !isVersion(text[:start]) && !isVersion(s.hint) {
			s.add(start, start+len(quad), "ip")
		}
	}
}

func (s *scan) isPublic(address netip.Addr) bool {
	if s.r.policy.PrivateIPs {
		return true
	}
	return !address.IsPrivate() && !address.IsLoopback() && !address.IsLinkLocalUnicast() && !address.IsUnspecified() && !address.IsMulticast() &&
		address != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// isVersion is true when the words before a number say that it counts releases.
func isVersion(before string) bool {
	words := lower(before[max(0, len(before)-24):])
	for _, word := range []string{"version", "build", "release", "ver ", "ver.", "chrome/", "firmware", "driver", "rev"} {
		if strings.Contains(words, word) {
			return true
		}
	}
	return false
}

// findIPv6 finds addresses of hexadecimal groups. Times, MAC addresses and durations do not parse as one.
func (s *scan) findIPv6() {
	text := s.text
	for i := 0; i < len(text); i++ {
		if !isHex(text[i]) && text[i] != ':' {
			continue
		}
		start := i
		colons := 0
		for i < len(text) && (isHex(text[i]) || text[i] == ':' || text[i] == '.') {
			if text[i] == ':' {
				colons++
			}
			i++
		}
		run := strings.TrimRight(text[start:i], ".")
		if colons < 2 || len(run) > 45 || len(run) < 4 || (start > 0 && isAlnum(text[start-1])) || (i < len(text) && isAlnum(text[i])) {
			continue
		}
		address, err := netip.ParseAddr(run)
		if err == nil && address.Is6() && s.isPublic(address) && strings.ContainsAny(run, "0123456789") {
			s.add(start, start+len(run), "ip")
		}
	}
}
