package measure

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// benignKind is a kind of value that looks like something to remove and is not.
type benignKind struct {
	name string
	make func(rng *rand.Rand) string
}

func benignKinds() []benignKind {
	number := func(low, span int) func(*rand.Rand) string {
		return func(rng *rand.Rand) string { return strconv.Itoa(low + rng.IntN(span)) }
	}
	return []benignKind{
		{"UUID", uuid},
		{"SHA-1", hash(40)},
		{"SHA-256", hash(64)},
		{"MD5", hash(32)},
		{"epoch, seconds", number(1_600_000_000, 200_000_000)},
		{"epoch, milliseconds", number(1_600_000_000_000, 200_000_000_000)},
		{"epoch, nanoseconds", number(1_600_000_000_000_000_000, 200_000_000_000_000_000)},
		{"RFC 3339 time", func(rng *rand.Rand) string {
			return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02d.%03d+01:00", 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1000))
		}},
		{"version", func(rng *rand.Rand) string {
			return fmt.Sprintf("v%d.%d.%d-rc.%d", rng.IntN(30), rng.IntN(40), rng.IntN(90), rng.IntN(9))
		}},
		{"version of four parts", func(rng *rand.Rand) string {
			return fmt.Sprintf("version %d.%d.%d.%d", rng.IntN(200), rng.IntN(40), rng.IntN(90), rng.IntN(99))
		}},
		{"order id", func(rng *rand.Rand) string { return fmt.Sprintf("order-%d-%05d", 2020+rng.IntN(9), rng.IntN(99999)) }},
		{"id of 10 digits", number(1_000_000_000, 8_000_000_000)},
		{"id of 12 digits", number(100_000_000_000, 900_000_000_000)},
		{"id of 16 digits, no issuer", func(rng *rand.Rand) string { return "1" + randomText(rng, digits, 15) }},
		{"trace parent", func(rng *rand.Rand) string {
			return "00-" + randomText(rng, hexes, 32) + "-" + randomText(rng, hexes, 16) + "-01"
		}},
		{"ARN", func(rng *rand.Rand) string {
			return "arn:aws:sqs:eu-central-1:" + randomText(rng, "123456789", 12) + ":orders-" + randomText(rng, lowers, 6)
		}},
		{"image digest", func(rng *rand.Rand) string { return "registry.example/app@sha256:" + randomText(rng, hexes, 64) }},
		{"coordinates", func(rng *rand.Rand) string { return fmt.Sprintf("53.%06d, 8.%06d", rng.IntN(999999), rng.IntN(999999)) }},
		{"price", func(rng *rand.Rand) string { return fmt.Sprintf("EUR %d.%02d", rng.IntN(99999), rng.IntN(100)) }},
		{"SKU", func(rng *rand.Rand) string {
			return randomText(rng, uppers, 3) + "-" + randomText(rng, digits, 6) + "-" + randomText(rng, uppers, 2)
		}},
		{"SSH remote", func(rng *rand.Rand) string { return "git@github.com:org/" + randomText(rng, lowers, 8) + ".git" }},
		{"module", func(rng *rand.Rand) string { return "golang.org/x/" + randomText(rng, lowers, 5) + "@v0.4.1/unicode" }},
		{"retina image", func(rng *rand.Rand) string { return randomText(rng, lowers, 7) + "@2x.png" }},
		{"loopback", func(rng *rand.Rand) string {
			return fmt.Sprintf("dial tcp 127.0.0.1:%d: connect: connection refused", 1024+rng.IntN(60000))
		}},
		{"private address", func(rng *rand.Rand) string {
			return fmt.Sprintf("10.%d.%d.%d", rng.IntN(255), rng.IntN(255), rng.IntN(255))
		}},
		{"MAC address", func(rng *rand.Rand) string {
			h := randomText(rng, hexes, 12)
			return h[:2] + ":" + h[2:4] + ":" + h[4:6] + ":" + h[6:8] + ":" + h[8:10] + ":" + h[10:]
		}},
		{"path", func(rng *rand.Rand) string {
			return "/srv/app/releases/" + randomText(rng, digits, 14) + "/main.go:42 +0x1d"
		}},
		{"stack frame", func(rng *rand.Rand) string {
			return "main.(*Worker).run(0xc000" + randomText(rng, hexes, 6) + ", 0x2a)"
		}},
		{"prose", words(9)},
		{"counts of tokens", func(rng *rand.Rand) string {
			return fmt.Sprintf("max_tokens=%d prompt_tokens: %d", rng.IntN(8192), rng.IntN(8192))
		}},
		{"base64 of bytes", func(rng *rand.Rand) string { return randomText(rng, base64s, 48) }},
		{"slug", func(rng *rand.Rand) string {
			return "how-to-" + randomText(rng, lowers, 6) + "-a-" + randomText(rng, lowers, 9) + "-in-2026"
		}},
	}
}
