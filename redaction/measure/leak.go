package measure

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The decoders here share no code with the engine: what both got wrong would stay unseen.

var (
	placeholders = regexp.MustCompile(`\[redacted(:[^\]\s]*)?\]`)
	quotedText   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	base64Run    = regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}`)
	hexRun       = regexp.MustCompile(`[0-9a-fA-F]{12,}`)
	separators   = regexp.MustCompile(`[\s\x{200b}-\x{200f}\x{2060}\x{feff}\x{00ad}.\-_\x{00a0}]+`)
)

// Leak returns a part of value that can still be read in text, as it is or behind an encoding, or "". A part counts from six
// characters and from two fifths of the value on; of a value shorter than six all of it.
func Leak(text, value string) string {
	size := max(6, (len(value)*2+4)/5)
	if size > len(value) {
		size = len(value)
	}
	if size < 4 {
		return ""
	}
	for _, wanted := range []string{fold(value), separators.ReplaceAllString(fold(value), "")} {
		if len(wanted) < size {
			continue
		}
		for _, seen := range views(text, 2) {
			for at := 0; at+size <= len(wanted); at++ {
				if part := wanted[at : at+size]; strings.Contains(seen, part) {
					return part
				}
			}
		}
	}
	return ""
}

func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

// views returns what a reader with decoders sees in a text.
func views(text string, depth int) []string {
	plain := placeholders.ReplaceAllString(text, "\x00")
	all := []string{fold(plain), separators.ReplaceAllString(fold(plain), "")}
	if depth == 0 {
		return all
	}
	var decoded []string
	for _, quoted := range quotedText.FindAllString(plain, -1) {
		var s string
		if json.Unmarshal([]byte(quoted), &s) == nil && s != quoted[1:len(quoted)-1] {
			decoded = append(decoded, s)
		}
	}
	if s, err := url.PathUnescape(plain); err == nil && s != plain {
		decoded = append(decoded, s)
	}
	if s := html.UnescapeString(plain); s != plain {
		decoded = append(decoded, s)
	}
	for _, run := range base64Run.FindAllString(plain, -1) {
		for offset := range 4 {
			std := strings.NewReplacer("-", "+", "_", "/").Replace(run[offset:])
			if s, err := base64.RawStdEncoding.DecodeString(std[:len(std)/4*4]); err == nil {
				decoded = append(decoded, string(s))
			}
		}
	}
	for _, run := range hexRun.FindAllString(plain, -1) {
		if s, err := hex.DecodeString(run[:len(run)/2*2]); err == nil {
			decoded = append(decoded, string(s))
		}
	}
	for _, s := range decoded {
		all = append(all, views(s, depth-1)...)
	}
	return all
}
