package redaction

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxLayers is how many encodings inside each other are looked into.
	maxLayers = 4
	// maxUnzipped bounds what one compressed run may become.
	maxUnzipped = 1 << 20
	// minStretch is the shortest readable part of decoded bytes that detectors look at.
	minStretch = 12
)

// findEncoded looks into runs of base64 and hex. What is found inside removes the whole run: what is left of an encoding
// that was cut in the middle can often be decoded.
func (s *scan) findEncoded() {
	text := s.text
	for i := 0; i < len(text); i++ {
		if classOf[text[i]]&hasEncoded == 0 {
			continue
		}
		start := i
		hexadecimal := true
		for i < len(text) && classOf[text[i]]&hasEncoded != 0 {
			hexadecimal = hexadecimal && isHex(text[i])
			i++
		}
		if i-start < minEncoded {
			continue
		}
		for i < len(text) && text[i] == '=' {
			i++
		}
		run := text[start:i]
		if rule := s.inside(run, hexadecimal); rule != "" {
			s.add(start, i, rule)
		}
		if s.r.policy.HighEntropy && len(run) >= 24 && isRandom(run) {
			s.add(start, i, "high-entropy")
		}
	}
}

// inside returns the rule of what a run decodes to, or "".
func (s *scan) inside(run string, hexadecimal bool) string {
	if s.depth >= maxLayers {
		return ""
	}
	if hexadecimal && len(run)%2 == 0 {
		if len(run) < 2*minStretch || !readableHex(run) || !s.budget.spend(len(run)) {
			return ""
		}
		decoded, err := hex.DecodeString(run)
		if err != nil {
			return ""
		}
		return s.look(decoded)
	}
	offsets := readableOffsets(run)
	for offset := range 4 {
		if offsets&(1<<offset) == 0 && !isCompressed(run[offset:]) {
			continue
		}
		if !s.budget.spend(len(run)) {
			return ""
		}
		if rule := s.look(decodeBase64(run[offset:])); rule != "" {
			return rule
		}
	}
	return ""
}

// look searches the readable parts of decoded bytes.
func (s *scan) look(decoded []byte) string {
	if unzipped := s.unzip(decoded); unzipped != nil {
		decoded = unzipped
	}
	if wide := fromUTF16(decoded); wide != nil {
		decoded = wide
	}
	for start, i := 0, 0; i <= len(decoded); {
		size := 0
		if i < len(decoded) {
			size = readable(decoded[i:])
		}
		if size > 0 {
			i += size
			continue
		}
		if i-start >= minStretch {
			if found := s.r.detectOnce(string(decoded[start:i]), s.hint, s.budget, s.depth+1); len(found) > 0 {
				return found[0].rule
			}
		}
		i++
		start = i
	}
	return ""
}

// readable returns the size of a character of text, or 0.
func readable(b []byte) int {
	if c := b[0]; c < utf8.RuneSelf {
		if c >= ' ' && c != 0x7f || isSpace(c) {
			return 1
		}
		return 0
	}
	char, size := utf8.DecodeRune(b)
	if char == utf8.RuneError && size == 1 {
		return 0
	}
	return size
}

// sextets holds the value of a base64 character in either alphabet. It is never written.
var sextets = func() (table [256]byte) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range len(alphabet) {
		table[alphabet[i]] = byte(i)
	}
	table['-'], table['_'] = 62, 63
	return table
}()

// readableOffsets decodes at all four offsets without storing, and has a bit for each at which enough text stands in a row.
// Nearly every run of letters that is no encoded text has none.
func readableOffsets(run string) (offsets uint) {
	if len(run) < minEncoded {
		return 0
	}
	var rows [4]int
	bits := uint32(sextets[run[0]])<<12 | uint32(sextets[run[1]])<<6 | uint32(sextets[run[2]])
	for i := 3; i < len(run); i++ {
		bits = bits<<6 | uint32(sextets[run[i]])
		if !textTable[byte(bits>>16)] || !textTable[byte(bits>>8)] || !textTable[byte(bits)] {
			rows[i&3] = 0
			continue
		}
		if rows[i&3] += 3; rows[i&3] >= minStretch {
			offsets |= 1 << ((i + 1) & 3)
		}
	}
	return offsets
}

// textTable has the bytes of ASCII text, and zero for that of UTF-16. It is never written.
var textTable = func() (table [256]bool) {
	for c := range table {
		table[c] = isText(byte(c)) || c == 0
	}
	return table
}()

// isText is ASCII: what detectors look for is, and nearly every byte would pass otherwise.
func isText(c byte) bool { return c >= ' ' && c < 0x7f || isSpace(c) }

// readableHex looks at the first digit of each byte: 2 to 7 in ASCII, 0 in between for UTF-16 and line breaks.
func readableHex(run string) bool {
	row := 0
	for i := 0; i+2 <= len(run); i += 2 {
		if c := run[i]; c > '7' || c == '1' {
			row = 0
		} else if row++; row >= minStretch {
			return true
		}
	}
	return false
}

func decodeBase64(run string) []byte {
	plain := make([]byte, 0, len(run))
	for i := range len(run) {
		switch c := run[i]; c {
		case '-':
			plain = append(plain, '+')
		case '_':
			plain = append(plain, '/')
		case '=':
		default:
			plain = append(plain, c)
		}
	}
	if len(plain)%4 == 1 {
		plain = plain[:len(plain)-1]
	}
	decoded := make([]byte, base64.RawStdEncoding.DecodedLen(len(plain)))
	n, err := base64.RawStdEncoding.Decode(decoded, plain)
	if err != nil && n == 0 {
		return nil
	}
	return decoded[:n]
}

// isCompressed is true for the base64 of gzip's first bytes.
func isCompressed(run string) bool { return len(run) > 24 && run[:4] == "H4sI" }

func (s *scan) unzip(data []byte) []byte {
	if len(data) < 18 || data[0] != 0x1f || data[1] != 0x8b {
		return nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	// A truncated stream still yields what stands before the cut.
	unzipped, _ := io.ReadAll(io.LimitReader(reader, maxUnzipped+1))
	if len(unzipped) > maxUnzipped || !s.budget.spend(len(unzipped)) {
		s.budget.spent = true
		return nil
	}
	return unzipped
}

// fromUTF16 decodes text whose every second byte is zero, as Windows writes it.
func fromUTF16(data []byte) []byte {
	if len(data) < 2*minStretch || len(data)%2 != 0 {
		return nil
	}
	units := make([]uint16, 0, len(data)/2)
	zeros := 0
	for i := 0; i+1 < len(data); i += 2 {
		if data[i+1] == 0 {
			zeros++
		}
		units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
	}
	if zeros < len(units)*9/10 {
		return nil
	}
	return []byte(string(utf16.Decode(units)))
}
