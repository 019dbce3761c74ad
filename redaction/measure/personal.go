package measure

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
)

func personal() []Class {
	return []Class{
		{
			Name: "card-number", Tier: TierB, Key: "value", Context: "paid with %s today", Make: Card, Digits: true,
			Twin: func(rng *rand.Rand) string { return "17" + randomText(rng, digits, 11) },
		},
		{Name: "card-number, grouped", Tier: TierB, Key: "value", Context: "paid with %s today", Digits: true, Make: func(rng *rand.Rand) string {
			c := Card(rng)
			return c[:4] + " " + c[4:8] + " " + c[8:12] + " " + c[12:]
		}, Twin: func(rng *rand.Rand) string { return badLuhn(rng) }},
		{
			Name: "iban", Tier: TierB, Key: "value", Context: "transfer to %s failed", Make: iban, Whole: true,
			Twin: func(rng *rand.Rand) string { return "DE00" + randomText(rng, digits, 18) },
		},
		{Name: "ssn", Tier: TierB, Key: "value", Context: "applicant %s found", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("%03d-%02d-%04d", 100+rng.IntN(500), 1+rng.IntN(99), 1+rng.IntN(9999))
		}, Twin: func(rng *rand.Rand) string {
			return fmt.Sprintf("%04d-%02d-%04d", rng.IntN(9999), rng.IntN(99), rng.IntN(9999))
		}},
		{Name: "phone, international", Tier: TierB, Key: "value", Context: "reach me at %s please", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("+1 %d%02d %d%02d %04d", 2+rng.IntN(8), rng.IntN(100), 2+rng.IntN(8), rng.IntN(100), rng.IntN(10000))
		}, Twin: func(rng *rand.Rand) string { return strconv.Itoa(1000000000 + rng.IntN(999999999)) }},
		{Name: "ipv4", Tier: TierB, Key: "value", Context: "refused by %s again", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("%d.%d.%d.%d", 81+rng.IntN(40), rng.IntN(256), rng.IntN(256), 1+rng.IntN(254))
		}, Twin: func(rng *rand.Rand) string {
			return fmt.Sprintf("v%d.%d.%d.%d", rng.IntN(9), rng.IntN(20), rng.IntN(9), rng.IntN(99))
		}},
		{Name: "ipv6", Tier: TierB, Key: "value", Context: "refused by %s again", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("2001:db8:%x:%x::%x", 1+rng.IntN(65535), 1+rng.IntN(65535), 1+rng.IntN(65535))
		}, Twin: func(rng *rand.Rand) string {
			return fmt.Sprintf("%02d:%02d:%02d", rng.IntN(24), rng.IntN(60), rng.IntN(60))
		}},
		{Name: "ssn, bare", Tier: TierC, Key: "ssn", Context: "the SSN is %s", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("%03d%02d%04d", 100+rng.IntN(500), 1+rng.IntN(99), 1+rng.IntN(9999))
		}, Twin: func(rng *rand.Rand) string { return randomText(rng, "123456789", 9) }},
		{Name: "phone, national", Tier: TierC, Key: "phone", Context: "call me: phone %s", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("0%d %07d", 100+rng.IntN(800), rng.IntN(10000000))
		}, Twin: func(rng *rand.Rand) string { return randomText(rng, "123456789", 10) }},
		{Name: "birth-date", Tier: TierC, Key: "date_of_birth", Context: "patient born %s in Bremen", Whole: true, Make: func(rng *rand.Rand) string {
			return fmt.Sprintf("%d-%02d-%02d", 1930+rng.IntN(80), 1+rng.IntN(12), 1+rng.IntN(28))
		}, Twin: func(rng *rand.Rand) string { return fmt.Sprintf("2026-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)) }},
		{
			Name: "cvv", Tier: TierC, Key: "cvv", Context: "CVV: %s", Whole: true, Make: func(rng *rand.Rand) string { return randomText(rng, digits, 4) },
			Twin: func(rng *rand.Rand) string { return randomText(rng, digits, 4) },
		},
		{Name: "person-name, keyed", Tier: TierC, Key: "last_name", Context: "last_name=%s", Whole: true, Make: words(1), Twin: words(1)},
		{Name: "address, keyed", Tier: TierC, Key: "street_address", Context: `{"street_address":"%s"}`, Whole: true, Make: words(2), Twin: words(2)},
	}
}

// badLuhn draws sixteen digits with a wrong check digit.
func badLuhn(rng *rand.Rand) string {
	c := Card(rng)
	wrong := (c[15]-'0'+1)%10 + '0'
	return c[:15] + string(rune(wrong))
}

// iban draws a German one.
func iban(rng *rand.Rand) string {
	account := randomText(rng, digits, 18)
	number, _ := new(big.Int).SetString(account+"131400", 10) // DE00 behind it
	check := 98 - new(big.Int).Mod(number, big.NewInt(97)).Int64()
	return fmt.Sprintf("DE%02d%s", check, account)
}
