package measure

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Tier says what finding a class takes.
type Tier string

// The tiers.
const (
	TierA Tier = "A" // its shape is enough
	TierB Tier = "B" // its shape and a check
	TierC Tier = "C" // a word beside it, or its member's name
)

// Class is one kind of sensitive value.
type Class struct {
	Name string
	Tier Tier
	// Key is a member's name that says what the value is.
	Key string
	// Context is a sentence with %s for the value, which says what the value is.
	Context string
	// Make draws a value, Twin a benign one that looks like it.
	Make, Twin func(rng *rand.Rand) string
	// Digits is true when the value is digits and separators, which other spellings are known of.
	Digits bool
	// Whole is true when nothing may stand against the value: its edges are what says how long it is.
	Whole bool
}

const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	alnums   = lowers + uppers + digits
	hexes    = "0123456789abcdef"
	base64s  = alnums + "+/"
	upperNum = uppers + "234567"
)

// prefixed draws tokens: a prefix and a tail that has a digit.
func prefixed(prefix, alphabet string, size int) func(*rand.Rand) string {
	return func(rng *rand.Rand) string {
		return prefix + randomText(rng, alphabet, size-1) + randomText(rng, "23456789"[:6], 1)
	}
}

func hash(size int) func(*rand.Rand) string {
	return func(rng *rand.Rand) string { return randomText(rng, hexes, size) }
}

func uuid(rng *rand.Rand) string {
	h := randomText(rng, hexes, 32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// Classes returns what is measured, the prefixes in parts, so that no scanner takes this file for a leak.
func Classes() []Class {
	return append(append(tokens(), secrets()...), personal()...)
}

func tokens() []Class {
	of := func(name string, makes func(*rand.Rand) string, twin func(*rand.Rand) string) Class {
		return Class{Name: name, Tier: TierA, Key: "value", Context: "using %s now", Make: makes, Twin: twin}
	}
	words := func(rng *rand.Rand) string {
		return "risk-" + randomText(rng, lowers, 12) + "_" + randomText(rng, lowers, 6)
	}
	return []Class{
		of("aws-key", prefixed("AK"+"IA", upperNum, 16), func(rng *rand.Rand) string { return "SKU" + randomText(rng, digits, 9) }),
		of("github-token", prefixed("gh"+"p_", alnums, 36), words),
		of("github-fine-grained", prefixed("github"+"_pat_", alnums, 50), words),
		of("gitlab-token", prefixed("gl"+"pat-", alnums, 20), words),
		of("slack-token", prefixed("xo"+"xb-", digits+lowers, 30), words),
		of("stripe-key", prefixed("sk"+"_live_", alnums, 24), words),
		of("google-key", prefixed("AI"+"za", alnums, 35), hash(40)),
		of("vendor-key", prefixed("sk-"+"ant-", alnums, 40), uuid),
		of("npm-token", prefixed("npm"+"_", alnums, 36), hash(64)),
		of("jwt", func(rng *rand.Rand) string {
			part := func() string { return base64.RawURLEncoding.EncodeToString([]byte(randomText(rng, alnums, 40))) }
			return "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + part() + "." + part()
		}, hash(64)),
	}
}

func secrets() []Class {
	return []Class{
		{Name: "pem", Tier: TierA, Key: "value", Context: "loaded %s", Whole: true, Make: func(rng *rand.Rand) string {
			return "-----BEGIN " + "PRIVATE KEY-----\n" + randomText(rng, base64s, 64) + "\n" + randomText(rng, base64s, 64) + "\n-----END " + "PRIVATE KEY-----"
		}, Twin: func(*rand.Rand) string { return "-----BEGIN CERTIFICATE REQUEST----- is the header" }},
		{Name: "password", Tier: TierA, Key: "password", Context: "login with password=%s now", Whole: true, Make: Password, Twin: words(3)},
		{Name: "bearer", Tier: TierA, Key: "authorization", Context: "Authorization: Bearer %s", Whole: true, Make: Password, Twin: words(2)},
		{
			Name: "url-userinfo", Tier: TierA, Key: "dsn", Context: "dial postgres://app:%s@db.corp.example:5432/x failed", Whole: true, Make: Password,
			Twin: func(rng *rand.Rand) string {
				return fmt.Sprintf("https://host.example:%d/@user/x", 1000+rng.IntN(9000))
			},
		},
		{
			Name: "url-param", Tier: TierA, Key: "access_token", Context: "GET https://api.example/x?access_token=%s&page=2", Whole: true, Make: Password,
			Twin: func(rng *rand.Rand) string {
				return fmt.Sprintf("https://api.example/x?page=%d&sort=name", rng.IntN(99))
			},
		},
		{Name: "email", Tier: TierA, Key: "email", Context: "no mailbox %s here", Make: func(rng *rand.Rand) string {
			return randomText(rng, lowers, 7) + "." + randomText(rng, lowers, 6) + "@" + randomText(rng, lowers, 8) + ".example"
		}, Twin: func(rng *rand.Rand) string {
			return "pkg/" + randomText(rng, lowers, 8) + "@1.2." + randomText(rng, digits, 1)
		}},
		{
			Name: "db-detail", Tier: TierA, Key: "email", Context: "DETAIL: Key (ref)=(%s) already exists.", Whole: true, Make: words(2),
			Twin: func(rng *rand.Rand) string { return "constraint users_" + randomText(rng, lowers, 8) + "_key" },
		},
	}
}

// words draws a few words that mean nothing.
func words(count int) func(*rand.Rand) string {
	return func(rng *rand.Rand) string {
		parts := make([]string, count)
		for i := range parts {
			parts[i] = randomText(rng, "bdfgklmnprstvz", 1) + randomText(rng, "aeiou", 1) + randomText(rng, "bdfgklmnprstvz", 2) + randomText(rng, "aeiou", 1) + randomText(rng, "lnrst", 1)
		}
		return strings.Join(parts, " ")
	}
}
