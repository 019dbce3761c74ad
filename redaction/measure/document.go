package measure

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Benign returns a JSON document of about size bytes with nothing in it that may go: orders with ids, times, prices, notes,
// links and hashes. Equal sizes give equal documents.
func Benign(size int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	return document(size, func(i int) string { return benignLine(rng, i) })
}

// Sensitive is Benign with about twenty sensitive values in each 4 KiB, half of them under names that say so and half found
// by their shape.
func Sensitive(size int) []byte {
	rng := rand.New(rand.NewPCG(2, uint64(size)))
	return document(size, func(i int) string {
		if i%5 == 0 { // eight values in a line, a line in about 1.6 KiB
			return sensitiveLine(rng, i)
		}
		return benignLine(rng, i)
	})
}

func document(size int, line func(i int) string) []byte {
	var out strings.Builder
	out.WriteString(`{"id":"order-1001","created_at":"2026-12-01T08:00:00Z","total":1204.10,"lines":[`)
	for i := 0; out.Len() < size-100; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(line(i))
	}
	out.WriteString(`],"status":"open"}`)
	return []byte(out.String())
}

var notes = []string{
	"left at the door, second floor", "call ahead if nobody answers", "two parcels, one of them fragile", "the customer asked for a later date (see ticket 4711)",
	"Größe geändert, bitte prüfen", "retry after 30s: upstream was busy",
}

func benignLine(rng *rand.Rand, i int) string {
	return fmt.Sprintf(`{"sku":"A-%06d","quantity":%d,"price":%d.%02d,"created_at":"2026-12-%02dT%02d:%02d:00Z","note":%q,`+
		`"url":"https://api.shop.example/v1/orders/%d/lines/%d","trace_id":"%016x%016x","flags":{"gift":%t,"express":null},"tags":["new","eu-%d"]}`,
		rng.IntN(1e6), 1+rng.IntN(9), rng.IntN(900), rng.IntN(100), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), notes[rng.IntN(len(notes))],
		rng.IntN(1e6), i, rng.Uint64(), rng.Uint64(), rng.IntN(2) == 0, rng.IntN(9))
}

func sensitiveLine(rng *rand.Rand, i int) string {
	card := Card(rng)
	return fmt.Sprintf(`{"email":"user%d@corp.example","password":%q,"session_id":"%x","note":"paid with %s by ann%d@mail.example",`+
		`"header":"Authorization: Bearer %s","link":"https://u%d:%s@host.example/x","phone":"+1 202 555 0%03d"}`,
		rng.IntN(1e6), Password(rng), rng.Uint64(), card, i, Password(rng), i, Password(rng), rng.IntN(1000))
}

const letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// Password returns a random one of 16 characters.
func Password(rng *rand.Rand) string { return randomText(rng, letters, 16) }

func randomText(rng *rand.Rand, alphabet string, size int) string {
	text := make([]byte, size)
	for i := range text {
		text[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(text)
}

// Card returns a Visa number with a right check digit.
func Card(rng *rand.Rand) string {
	digits := "4" + randomText(rng, "0123456789", 14)
	return digits + luhnDigit(digits)
}

// luhnDigit returns the digit that makes a number pass the check.
func luhnDigit(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return string(rune('0' + (10-sum%10)%10))
}
