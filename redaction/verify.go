package redaction

import (
	"errors"
	"io"
	"strings"
)

// verify is the second look. It reads the finished bytes with a fresh decoder, searches every name, string and number for
// what had to go, and looks for the plainest secrets with code of its own: nothing that redacting computed is trusted but
// the list of what was removed. Bytes in which nothing changed have just been read; without escapes in them, strings stand
// there as they are and one pass over all of them is the same look.
func (r *Redactor) verify(out output, rec *record) error {
	text := out.text
	if !out.changed && len(rec.findings) == 0 && !strings.Contains(text, `\u`) {
		if r.plainSecret(text) {
			return stop(ReasonVerification)
		}
		return nil
	}
	set := r.needles(rec)
	decoder := r.decoder(text, out.bytes)
	for {
		before := decoder.InputOffset()
		_, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return stop(ReasonVerification)
		}
		raw := text[before:decoder.InputOffset()]
		for len(raw) > 0 && (isSpace(raw[0]) || raw[0] == ',' || raw[0] == ':') {
			raw = raw[1:]
		}
		if len(raw) < minTaint {
			continue
		}
		if err := r.verifyToken(raw, set); err != nil {
			return err
		}
	}
}

// verifyToken looks at a name, a string or a number.
func (r *Redactor) verifyToken(raw string, set *needleSet) error {
	number := raw[0] == '-' || isDigit(raw[0])
	if raw[0] != '"' && !number {
		return nil
	}
	text := raw
	if !number {
		var err error
		if text, err = unquote(raw); err != nil {
			return stop(ReasonVerification)
		}
	}
	if r.plainSecret(text) {
		return stop(ReasonVerification)
	}
	if set == nil {
		return nil
	}
	missed := false
	err := set.search(text, func(_ *needle, start, end int) {
		missed = missed || !r.insidePlaceholder(text, start, end)
	})
	if missed {
		return stop(ReasonVerification)
	}
	return err
}

// insidePlaceholder is true for a hit within the words of a placeholder.
func (r *Redactor) insidePlaceholder(text string, start, end int) bool {
	open := strings.LastIndex(text[:min(len(text), start+len(placeholderHead))], placeholderHead)
	return open >= 0 && open <= start && r.placeholderEnd(text, open) >= end
}

// plainShape is a secret as simple as they come: a prefix and a tail.
type plainShape struct {
	prefix, rule, alphabet string
	tail                   int
}

const (
	upperDigits  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	lettersUnder = upperDigits + "abcdefghijklmnopqrstuvwxyz_"
)

// plainShapes are fewer and stricter than the engine's, so that a hit means that the engine is wrong.
var plainShapes = []plainShape{
	{"AKIA", "aws-key", upperDigits, 16},
	{"ASIA", "aws-key", upperDigits, 16},
	{"ghp_", "github-token", lettersUnder, 30},
	{"ghs_", "github-token", lettersUnder, 30},
	{"gho_", "github-token", lettersUnder, 30},
	{"github_pat_", "github-token", lettersUnder, 22},
	{"glpat-", "gitlab-token", lettersUnder + "-", 20},
	{"xoxb-", "slack-token", lettersUnder + "-", 20},
	{"xoxp-", "slack-token", lettersUnder + "-", 20},
	{"sk_live_", "stripe-key", lettersUnder, 16},
	{"AIza", "google-key", lettersUnder + "-", 35},
	{"GOCSPX-", "google-key", lettersUnder + "-", 20},
}

// plainFirsts are the bytes that a plain shape starts with. It is never written.
var plainFirsts = func() (firsts [256]bool) {
	for _, shape := range plainShapes {
		firsts[shape.prefix[0]] = true
	}
	return firsts
}()

// minPlain is the length of the shortest plain secret.
const minPlain = 16

// plainSecret looks at one text with a loop of its own. What it knows has no breaks, so that looking at every sixteenth byte
// finds each run that is long enough.
func (r *Redactor) plainSecret(text string) bool {
	for i := minPlain - 1; i < len(text); i += minPlain {
		if !plainBytes[text[i]] {
			continue
		}
		start, end := i, i+1
		for start > 0 && plainBytes[text[start-1]] {
			start--
		}
		for end < len(text) && plainBytes[text[end]] {
			end++
		}
		if end-start >= minPlain && r.plainRun(text, start, end) {
			return true
		}
		i = end
	}
	return false
}

// plainBytes are what plain secrets are made of. It is never written.
var plainBytes = func() (table [256]bool) {
	for i := range len(lettersUnder) {
		table[lettersUnder[i]] = true
	}
	table['-'] = true
	return table
}()

func (r *Redactor) plainRun(text string, start, end int) bool {
	if end-start == minPlain && isDigit(text[start]) && r.plainCard(text, start) {
		return true
	}
	for i := start; i+minPlain <= end; i++ {
		if plainFirsts[text[i]] && r.plainToken(text, i) {
			return true
		}
	}
	return false
}

func (r *Redactor) plainToken(text string, i int) bool {
	for s := range plainShapes {
		shape := &plainShapes[s]
		if text[i] != shape.prefix[0] || text[i+1] != shape.prefix[1] || !strings.HasPrefix(text[i:], shape.prefix) {
			continue
		}
		rest := text[i+len(shape.prefix):]
		if len(rest) >= shape.tail && strings.Trim(rest[:shape.tail], shape.alphabet) == "" && r.active[shape.rule] && !r.insidePlaceholder(text, i, i+len(shape.prefix)) {
			return true
		}
	}
	return false
}

// plainCard is sixteen digits of Visa or Mastercard between spaces, quotes or the ends of the text.
func (r *Redactor) plainCard(text string, i int) bool {
	if (i > 0 && text[i-1] != ' ' && text[i-1] != '"') || (i+16 < len(text) && text[i+16] != ' ' && text[i+16] != '"') {
		return false
	}
	digits := text[i : i+16]
	sum := 0
	for at := range 16 {
		if !isDigit(digits[at]) {
			return false
		}
		d := int(digits[at] - '0')
		if at%2 == 0 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	visa, mastercard := digits[0] == '4', digits[0] == '5' && digits[1] >= '1' && digits[1] <= '5'
	return sum%10 == 0 && (visa || mastercard) && r.active["card-number"]
}
