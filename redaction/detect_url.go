package redaction

import (
	"errors"
	"fmt"
	"strings"
)

// findURLs finds what stands between :// and @, and the {parts} of the policy's URL paths. It never asks a URL parser:
// errors quote the URLs that do not parse, and a password may hold any of @ : / ? # %.
func (s *scan) findURLs() {
	text := s.text
	for i := 0; ; {
		next := strings.Index(text[i:], "://")
		if next < 0 {
			return
		}
		start := i + next + len("://")
		end := start
		// A second URL in the same run (x://a,y://b) is looked at on its own.
		for end < len(text) && !isSpace(text[end]) && !indexByte("\"<>`", text[end]) && !strings.HasPrefix(text[end:], "://") {
			end++
		}
		if s.seen&hasAt != 0 {
			if at := userinfoEnd(text[start:end]); at > 0 && !isMasked(s.r, text[start:start+at]) {
				s.add(start, start+at, "url-userinfo")
			}
		}
		for _, template := range s.r.urlPaths {
			template.find(text, start, end, s.add)
		}
		i = end
	}
}

// urlPath is a compiled template: its segments in order, "" for a part that goes.
type urlPath []string

// newURLPath reads /feed/{token}/items.
func newURLPath(template string) (urlPath, error) {
	if !strings.HasPrefix(template, "/") || !strings.Contains(template, "{") {
		return nil, errors.New("allowed are paths from the first slash on, with at least one {part}")
	}
	var path urlPath
	for segment := range strings.SplitSeq(template[1:], "/") {
		braced := strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
		switch {
		case braced:
			segment = ""
		case segment == "" || strings.ContainsAny(segment, "{}?#"):
			return nil, fmt.Errorf("segment %q, allowed are plain segments and {parts}", segment)
		}
		path = append(path, segment)
	}
	return path, nil
}

// find adds the parts that go in a URL whose authority starts at text[start].
func (p urlPath) find(text string, start, end int, add func(start, end int, rule string)) {
	at := start
	for at < end && text[at] != '/' {
		at++
	}
	var parts [][2]int
	for _, want := range p {
		if at >= end || text[at] != '/' {
			return
		}
		from := at + 1
		for at = from; at < end && !indexByte("/?#", text[at]); {
			at++
		}
		if want == "" {
			parts = append(parts, [2]int{from, at})
		} else if text[from:at] != want {
			return
		}
	}
	for _, part := range parts {
		add(part[0], part[1], ruleURLPath)
	}
}

// userinfoEnd returns the place of the @ that ends the userinfo of an authority and what follows it, or -1. Without a
// colon, or with a port behind it, the userinfo ends before the first slash; otherwise a slash may be the password's.
func userinfoEnd(rest string) int {
	authority := rest
	if cut := strings.IndexAny(rest, "/?#"); cut >= 0 {
		authority = rest[:cut]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		return at
	}
	colon := strings.IndexByte(authority, ':')
	if colon < 0 || strings.HasPrefix(authority, "[") || isPort(authority[colon+1:]) {
		return -1
	}
	return strings.LastIndexByte(rest, '@')
}

func isPort(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) <= 5
}

// isMasked is true for userinfo that holds nothing to remove: git@, a user alone with a mask, our own placeholder.
func isMasked(r *Redactor, userinfo string) bool {
	if userinfo == "git" || r.placeholderEnd(userinfo, 0) == len(userinfo) {
		return true
	}
	user, password, found := strings.Cut(userinfo, ":")
	return found && isMask(password) && !strings.Contains(user, "@")
}

// isMask is true for values that others masked already (****, xxxxx, %2A%2A) and for words that stand for no value.
func isMask(value string) bool {
	switch value {
	case "", "xxxxx", "null", "nil", "<nil>", "true", "false", "None", "undefined", "REDACTED", "[REDACTED]", "[FILTERED]":
		return true
	}
	return strings.Trim(strings.ReplaceAll(value, "%2A", "*"), "*") == ""
}

// urlParams are query parameters that grant access or identify a person, although their names alone are harmless in
// a payload. Squashed. It is never written.
var urlParams = set("key,sig,signature,code,state,assertion,awsaccesskeyid,xamzcredential,xamzsignature,xamzsecuritytoken,xgoogcredential," +
	"xgoogsignature,tempurlsig,hmac,ticket,invite,auth,sid,nonce")
