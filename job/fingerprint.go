package job

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// What differs between two occurrences of one defect: quoted values, UUIDs and long hex, numbers. A quote within a word
// is an apostrophe and opens nothing.
var (
	quoted   = regexp.MustCompile(`"[^"]*"|\B'[^']*'|` + "`[^`]*`")
	longHex  = regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{8,}\b`)
	anyDigit = regexp.MustCompile(`[0-9]+`)
)

// Fingerprint groups failures that look alike: 12 hex digits over type, class and the first line of the scrubbed
// message with quoted values, hex and numbers folded. It holds no payload data.
func Fingerprint(t Type, class Class, message string) string {
	line, _, _ := strings.Cut(message, "\n")
	line = quoted.ReplaceAllString(line, "?")
	line = longHex.ReplaceAllString(line, "#")
	line = anyDigit.ReplaceAllString(line, "#")
	sum := sha256.Sum256([]byte(string(t) + "\x00" + string(class) + "\x00" + line))
	return hex.EncodeToString(sum[:6])
}
