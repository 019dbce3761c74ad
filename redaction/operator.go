package redaction

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Operator says what stands in the place of a removed value. Every operator's output is recognised as our own, so that
// redacting twice changes nothing, and none has a length that follows from the value's.
type Operator string

// The operators. A rule without one has [OpClass]. A coarsening that does not fit the value falls back to [OpClass].
const (
	OpClass     Operator = "class"      // [redacted:email]
	OpConst     Operator = "const"      // [redacted], which does not say what it was
	OpDrop      Operator = "drop"       // the member goes; an array keeps null in its place, a part of a text keeps the class
	OpHMAC      Operator = "hmac"       // [redacted:email:k1:…], equal for equal values under one key: a pseudonym, still personal data
	OpPartial   Operator = "partial"    // cards keep 6 and 4 digits, addresses their domain, others the last 4 of at least 12
	OpYear      Operator = "year"       // a date keeps its year
	OpIPPrefix  Operator = "ip-prefix"  // an address keeps its /24 or /48
	OpURLOrigin Operator = "url-origin" // a URL keeps scheme and host
)

// AllOperators returns every operator.
func AllOperators() []Operator {
	return []Operator{OpClass, OpConst, OpDrop, OpHMAC, OpPartial, OpYear, OpIPPrefix, OpURLOrigin}
}

// neverKept are PCI's sensitive authentication data and what has too few values for any trace of it.
var neverKept = set("cvv,pin,track,otp,password,pem")

// operators checks Policy.Operators. Keys are checked in order, so that the same policy has the same first complaint.
func (p Policy) operators(labels map[string]bool) (map[string]Operator, error) {
	chosen := map[string]Operator{}
	for _, rule := range slices.Sorted(maps.Keys(p.Operators)) {
		op := p.Operators[rule]
		switch {
		case !labels[rule]:
			return nil, p.badKey("operators", rule, fmt.Errorf("no such rule, there are %s", strings.Join(slices.Sorted(maps.Keys(labels)), ", ")))
		case !slices.Contains(AllOperators(), op):
			return nil, p.badKey("operators", rule, fmt.Errorf("%q, allowed are %q", op, AllOperators()))
		case op == OpHMAC && len(p.HMACKeys) == 0:
			return nil, p.badKey("operators", rule, fmt.Errorf("hmac needs a key, and none was given"))
		case neverKept[rule] && op != OpClass && op != OpConst && op != OpDrop:
			return nil, p.badKey("operators", rule, fmt.Errorf("%q keeps a trace of the value, allowed are %q", op, []Operator{OpClass, OpConst, OpDrop}))
		}
		if op != OpClass {
			chosen[rule] = op
		}
	}
	if a, b := chosen["card"], chosen["card-number"]; a != b && (a == OpHMAC || b == OpHMAC) && (a == OpPartial || b == OpPartial) {
		return nil, p.badKey("operators", "card-number", fmt.Errorf("card is %s and card-number is %s: a hash and a part of one card number give it away", a, b))
	}
	return chosen, nil
}

func placeholder(rule string) string { return placeholderHead + ":" + rule + "]" }

// replacement is what stands in the place of a value that the rule removes.
func (r *Redactor) replacement(rule, value string) string {
	detail := ""
	switch r.ops[rule] {
	case OpConst:
		return placeholderHead + "]"
	case OpHMAC:
		detail = r.pseudonym(rule, value)
	case OpPartial:
		detail = partly(rule, value)
	case OpYear:
		detail = yearOf(value)
	case OpIPPrefix:
		detail = prefixOf(value)
	case OpURLOrigin:
		detail = originOf(value)
	}
	if detail == "" {
		return placeholder(rule)
	}
	return placeholderHead + ":" + rule + ":" + detail + "]"
}

// ownDetail is true for a detail that this policy's operator for the rule may have written. A pseudonym carries a tag under
// its key, so that a payload cannot pass its own text off as one.
func (r *Redactor) ownDetail(rule, detail string) bool {
	switch r.ops[rule] {
	case OpHMAC:
		return r.isPseudonym(rule, detail)
	case OpPartial:
		return isPartly(rule, detail)
	case OpYear:
		return len(detail) == 4 && yearOf(detail) == detail
	case OpIPPrefix:
		return detail != "" && prefixOf(strings.TrimSuffix(strings.TrimSuffix(detail, "/24"), "/48")) == detail
	case OpURLOrigin:
		return detail != "" && originOf(detail) == detail
	}
	return false
}

const (
	pseudonymBytes = 15 // 24 characters; 120 bits
	tagBytes       = 5  // 8 characters; what a forger has to guess
)

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (r *Redactor) pseudonym(rule, value string) string {
	key := r.policy.HMACKeys[0]
	return key.ID + ":" + key.seal(rule, key.sum("value", rule, normalize(rule, value), pseudonymBytes))
}

func (k HMACKey) seal(rule, body string) string { return body + k.sum("tag", rule, body, tagBytes) }

// sum separates its uses and the classes: a phone number and an account number with the same digits differ.
func (k HMACKey) sum(use, rule, value string, size int) string {
	mac := hmac.New(sha256.New, k.Secret)
	fmt.Fprintf(mac, "redrive/redaction/1\x00%s\x00%s\x00%s", use, rule, value)
	return lowerBase32.EncodeToString(mac.Sum(nil)[:size])
}

func (r *Redactor) isPseudonym(rule, detail string) bool {
	id, sealed, found := strings.Cut(detail, ":")
	size := lowerBase32.EncodedLen(pseudonymBytes)
	if !found || len(sealed) != size+lowerBase32.EncodedLen(tagBytes) {
		return false
	}
	for _, key := range r.policy.HMACKeys {
		if key.ID == id {
			return hmac.Equal([]byte(sealed), []byte(key.seal(rule, sealed[:size])))
		}
	}
	return false
}

// normalize makes spellings of one value equal before it is hashed.
func normalize(rule, value string) string {
	switch rule {
	case "email":
		return strings.ToLower(norm.NFKC.String(strings.TrimSpace(value)))
	case "card", "card-number", "phone", "ssn", "iban", "bank-account":
		return strings.Map(func(c rune) rune {
			if c < 0x80 && isAlnum(byte(c)) {
				return c
			}
			return -1
		}, strings.ToUpper(norm.NFKC.String(value)))
	}
	return strings.TrimSpace(value)
}

const (
	minHidden  = 8 // bytes that a partial value hides at least
	keptAtEnd  = 4
	cardPrefix = 6
)

// partly returns what a partial value shows, or nothing when too little would be hidden.
func partly(rule, value string) string {
	switch rule {
	case "card", "card-number":
		digits := normalize(rule, value)
		if len(digits) < 13 || len(digits) > 19 || !allDigits(digits) || !luhn(digits) {
			return ""
		}
		return digits[:cardPrefix] + "-" + digits[len(digits)-keptAtEnd:]
	case "email":
		if at := strings.LastIndexByte(value, '@'); at > 0 && domainEnd(value, at+1) == len(value) && isASCII(value[at:]) {
			return lower(value[at:])
		}
		return ""
	}
	if cut := len(value) - keptAtEnd; cut >= minHidden && isPartly(rule, "~"+value[cut:]) {
		return "~" + value[cut:]
	}
	return ""
}

func isPartly(rule, detail string) bool {
	switch rule {
	case "card", "card-number":
		return len(detail) == cardPrefix+1+keptAtEnd && detail[cardPrefix] == '-' && allDigits(detail[:cardPrefix]+detail[cardPrefix+1:])
	case "email":
		return len(detail) < 256 && strings.HasPrefix(detail, "@") && domainEnd(detail, 1) == len(detail) && isASCII(detail)
	}
	if len(detail) != 1+keptAtEnd || detail[0] != '~' {
		return false
	}
	for i := range keptAtEnd {
		if !isAlnum(detail[1+i]) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// yearOf returns the only group of four digits that can be a year.
func yearOf(value string) string {
	year := ""
	for i := 0; i < len(value); i++ {
		start := i
		for i < len(value) && isDigit(value[i]) {
			i++
		}
		if group := value[start:i]; len(group) == 4 && group >= "1900" && group < "2100" {
			if year != "" {
				return ""
			}
			year = group
		}
	}
	return year
}

func prefixOf(value string) string {
	address, err := netip.ParseAddr(strings.TrimSpace(value))
	if err != nil || address.Zone() != "" {
		return ""
	}
	bits := 24
	if address.Is6() {
		bits = 48
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}

func originOf(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found || scheme == "" || len(scheme) > 16 {
		return ""
	}
	host := rest[strings.LastIndexByte(rest, '@')+1:]
	end := 0
	for end < len(host) && (isAlnum(host[end]) || host[end] == '.' || host[end] == '-') {
		end++
	}
	for i := range len(scheme) {
		if !isAlnum(scheme[i]) {
			return ""
		}
	}
	if end == 0 || end > 253 || strings.LastIndexByte(rest, '@') > strings.IndexAny(rest+"/", "/?#") {
		return ""
	}
	return lower(scheme) + "://" + lower(host[:end])
}
