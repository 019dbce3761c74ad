package redaction

import (
	"strings"
)

// findEmails finds addresses around each @, also as %40. The last label must be letters, which spares pkg@1.2.3; file
// names such as icon@2x.png and the user of git@host: stay. In a URL, what stands before the host is userinfo.
func (s *scan) findEmails() {
	text := s.text
	low := 0 // nothing before it belongs to this address
	authority := false
	for i := 0; i < len(text); i++ {
		size := 1
		switch {
		case strings.HasPrefix(text[i:], "://"):
			authority = true
			i += 2
			continue
		case isSpace(text[i]) || strings.IndexByte("/?#\"<>`", text[i]) >= 0:
			authority = false
		}
		if strings.HasPrefix(text[i:], "%40") {
			size = len("%40")
		} else if text[i] != '@' {
			continue
		}
		start := i
		for start > low && isLocalByte(text[start-1]) {
			start--
		}
		end := domainEnd(text, i+size)
		if start < i && end > 0 && !authority && !isGit(text[start:i], text, end) {
			s.add(start, end, "email")
		}
		low = i + size
		i = low - 1
	}
}

func isLocalByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || strings.IndexByte("._%+-", c) >= 0
}

func isGit(local, text string, end int) bool {
	if escape := strings.LastIndexByte(local, '%'); escape >= 0 && escape+3 <= len(local) {
		local = local[escape+3:]
	}
	return local == "git" && end < len(text) && text[end] == ':'
}

// domainEnd returns the end of the domain at text[i], or 0 when there is none with a top-level label of letters.
func domainEnd(text string, i int) int {
	end, dot := i, -1
	for end < len(text) && (isAlnum(text[end]) || text[end] >= 0x80 || text[end] == '.' || text[end] == '-') {
		if text[end] == '.' {
			if end == i || text[end-1] == '.' {
				break
			}
			dot = end
		}
		end++
	}
	if dot == end-1 && dot > i { // a full stop that ends the sentence
		end = dot
		dot = strings.LastIndexByte(text[i:end], '.') + i
	}
	if dot <= i || end-dot < 3 {
		return 0
	}
	for _, c := range []byte(text[dot+1 : end]) {
		if !isLetter(c) && c < 0x80 {
			return 0
		}
	}
	if fileSuffixes[lower(text[dot+1:end])] {
		return 0
	}
	return end
}

// fileSuffixes stand behind image@2x. It is never written.
var fileSuffixes = set("png,jpg,jpeg,gif,svg,webp,css,js,mjs,ts,json,html")
