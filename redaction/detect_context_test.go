package redaction_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

// TestContext: a word makes the number personal, and the same number without it, or with a wrong check digit, stays.
func TestContext(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for name, c := range map[string]struct{ word, value, wrong string }{
		"NHS":             {"NHS", "943 476 5919", "943 476 5918"},
		"NIR":             {"NIR", "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"},
		"Steuer-ID":       {"Steuer-ID", "86095742719", "86095742718"},
		"BSN":             {"BSN", "111222333", "111222334"},
		"PESEL":           {"PESEL", "44051401359", "44051401358"},
		"codice fiscale":  {"codice fiscale", "RSSMRA85T10A562S", "RSSMRA85T10A5629"},
		"NIF":             {"NIF", "12345678Z", "12345678A"},
		"NIE":             {"NIE", "X1234567L", "X1234567A"},
		"CPF":             {"CPF", "529.982.247-25", "529.982.247-26"},
		"CNPJ":            {"CNPJ", "11.222.333/0001-81", "11.222.333/0001-82"},
		"TFN":             {"TFN", "123 456 782", "123 456 783"},
		"NRIC":            {"NRIC", "S1234567D", "S1234567A"},
		"SIN":             {"SIN", "046 454 286", "046 454 287"},
		"NINO":            {"NINO", "AB123456C", "AB123456X"},
		"ITIN":            {"ITIN", "912-70-1234", "912-00-1234"},
		"SSN":             {"SSN", "536904399", "000904399"},
		"passport":        {"passport no", "C01X00T47", "ABCDEFG"},
		"birth date":      {"born", "6 May 1984", "6 Mai"},
		"phone, national": {"phone", "030 1234567", "12"},
		"card, any sum":   {"credit card", "1234-5678-1234-5678", "1234"},
		"account":         {"account number", "00123456789", "12"},
		"wallet":          {"wallet", "0x" + strings.Repeat("a1B2", 10), "0x12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "the " + c.word + " is " + c.value + ", thanks"
			got := r.Text(text, redaction.Taint{})
			require.NotContains(t, got, c.value)
			require.Contains(t, got, "[redacted:")
			require.True(t, strings.HasSuffix(got, ", thanks"), got)
			wrong := "the " + c.word + " is " + c.wrong + ", thanks"
			require.Equal(t, wrong, r.Text(wrong, redaction.Taint{}))
			if name != "passport" && name != "codice fiscale" {
				plain := "order " + c.value + " shipped"
				require.Equal(t, plain, r.Text(plain, redaction.Taint{}), "without the word")
			}
		})
	}
}

func TestAadhaar(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	found := 0
	for _, last := range "0123456789" {
		if text := "Aadhaar 2341 2341 234" + string(last); r.Text(text, redaction.Taint{}) != text {
			found++
		}
	}
	require.Equal(t, 1, found, "one check digit in ten")
}

// TestContextByName: the name of the member is a word as well.
func TestContextByName(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{Allow: []string{"customer_phone"}})
	out := payload(t, r, `{"customer_phone":"030 1234567","order":"030 1234567"}`)
	require.NotContains(t, string(out.JSON), "030 1234567")
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"from 203.0.113.7:443":                "from [redacted:ip]:443",
		"from [2001:db8::7]:443":              "from [[redacted:ip]]:443",
		"dial tcp 127.0.0.1:5432 10.1.2.3":    "dial tcp 127.0.0.1:5432 10.1.2.3",
		"version 81.2.3.4 v81.2.3.4 a@81.2.3": "version 81.2.3.4 v81.2.3.4 a@81.2.3",
		"1.2.3.4.5 01.2.3.4 300.1.1.1":        "1.2.3.4.5 01.2.3.4 300.1.1.1",
		"08:00:00 aa:bb:cc:dd:ee:ff ::1":      "08:00:00 aa:bb:cc:dd:ee:ff ::1",
	} {
		require.Equal(t, want, newRedactor(t, redaction.Policy{}).Text(text, redaction.Taint{}))
	}
	private := newRedactor(t, redaction.Policy{PrivateIPs: true})
	require.Equal(t, "dial tcp [redacted:ip]:5432", private.Text("dial tcp 127.0.0.1:5432", redaction.Taint{}))
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	secret := "log: password=" + fakePhrase + " for ann@corp.example"
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	_, err := writer.Write([]byte(secret))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	wide := make([]byte, 0, 2*len(secret))
	for i := range len(secret) {
		wide = append(wide, secret[i], 0)
	}
	b64 := base64.StdEncoding.EncodeToString
	for name, encoded := range map[string]string{
		"base64":           b64([]byte(secret)),
		"base64, URL":      base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64, shifted":  "ab" + b64([]byte("x"+secret)),
		"base64, twice":    b64([]byte(b64([]byte(secret)))),
		"base64, thrice":   b64([]byte(b64([]byte(b64([]byte(secret)))))),
		"hex":              hex.EncodeToString([]byte(secret)),
		"hex of base64":    hex.EncodeToString([]byte(b64([]byte(secret)))),
		"gzip":             b64(zipped.Bytes()),
		"UTF-16":           b64(wide),
		"percent, twice":   "q=%2570assword%253D" + fakePhrase,
		"HTML entities":    "pass&#119;ord&#x3d;" + fakePhrase + " ann&commat;corp.example",
		"\\u escapes":      `\u0070assword=` + fakePhrase + ` ann\u0040corp.example`,
		"JSON, four times": quote(quote(quote(quote(`{"password":"` + fakePhrase + `"}`)))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := `{"n":1,"data":` + quote(encoded) + `}`
			out := string(payload(t, r, in).JSON)
			require.Emptyf(t, measure.Leak(out, fakePhrase), "%s", out)
			require.Emptyf(t, measure.Leak(out, "ann@corp.example"), "%s", out)
			require.Contains(t, out, `{"n":1,`)
			require.Empty(t, measure.Leak(r.Text("got "+encoded+" back", redaction.Taint{}), fakePhrase))
		})
	}
}

// TestDecodeBudget: what nobody has looked into is withheld.
func TestDecodeBudget(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{MaxDecode: 100})
	in := `{"data":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("nothing to see here ", 20))) + `"}`
	require.Equal(t, redaction.ReasonDecodeBudget, r.Payload([]byte(in)).Report.Reason)
	require.Equal(t, "[redacted:withheld]", r.Text(in, redaction.Taint{}))
	require.Equal(t, in, string(newRedactor(t, redaction.Policy{}).Payload([]byte(in)).JSON))
}

func TestTokenLimit(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{MaxTokens: 10})
	require.Equal(t, redaction.ReasonTooMany, r.Payload([]byte(`[1,2,3,4,5,6,7,8,9,10]`)).Report.Reason)
	require.False(t, r.Payload([]byte(`[1,2,3,4,5,6,7,8,9]`)).Report.Withheld)
	require.False(t, r.Payload([]byte(`["a@b.example",2,3,4,5,6,7,8,9]`)).Report.Withheld, "each pass counts anew")
}

func TestJoins(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for name, c := range map[string]struct{ in, want string }{
		"card of strings":  {`["4111","1111","1111","1111"]`, `["[redacted:card-number]","[redacted:card-number]","[redacted:card-number]","[redacted:card-number]"]`},
		"card of numbers":  {`[4111,1111,1111,1111]`, `["[redacted:card-number]","[redacted:card-number]","[redacted:card-number]","[redacted:card-number]"]`},
		"four-digit years": {`[2019,2020,2021,2022]`, `[2019,2020,2021,2022]`},
		"words":            {`["bug","help wanted","eu-1"]`, `["bug","help wanted","eu-1"]`},
		"lines of a key": {
			`["-----BEGIN ` + `PRIVATE KEY-----",` + quote(strings.Repeat("MIIEvQIBADANBgkq", 4)) + `,"-----END ` + `PRIVATE KEY-----","next"]`,
			`["[redacted:pem]","[redacted:pem]","[redacted:pem]","next"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, string(payload(t, r, c.in).JSON))
		})
	}
}

func TestHighEntropy(t *testing.T) {
	t.Parallel()
	random := "Zq8pL2vX9mT4kR7wN3bY6cF1hJ5dG0sA"
	in := `{"v":"` + random + `","sha":"9f86d081884c7d659a2feaa0c55ad015","id":"41111111-1111-4111-8111-411111111111"}`
	require.Equal(t, in, string(payload(t, newRedactor(t, redaction.Policy{}), in).JSON))
	out := string(payload(t, newRedactor(t, redaction.Policy{HighEntropy: true}), in).JSON)
	require.NotContains(t, out, random)
	require.Contains(t, out, `"9f86d081884c7d659a2feaa0c55ad015","id":"41111111-1111-4111-8111-411111111111"`)
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{Literals: []string{"Project Bluebird", "4711"}})
	out := payload(t, r, `{"a":"about project bluebird","n":14711,"project bluebird":1}`)
	require.Equal(t, `{"a":"about [redacted:literal]","n":"[redacted:literal]","[redacted:literal]":1}`, string(out.JSON))
}
