package redaction_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func ops(pairs ...string) redaction.Policy {
	p := redaction.Policy{Operators: map[string]redaction.Operator{}, HMACKeys: []redaction.HMACKey{{ID: "k1", Secret: []byte(strings.Repeat("s", 32))}}}
	for i := 0; i < len(pairs); i += 2 {
		p.Operators[pairs[i]] = redaction.Operator(pairs[i+1])
	}
	return p
}

func TestOperators(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy   redaction.Policy
		in, want string
	}{
		"const":                      {ops("email", "const"), `{"email":"a@b.example","n":"to a@b.example"}`, `{"email":"[redacted]","n":"to [redacted]"}`},
		"drop the only member":       {ops("password", "drop"), `{"password":"x"}`, `{}`},
		"drop the first":             {ops("password", "drop"), `{"password":"x", "a":1}`, `{"a":1}`},
		"drop the last":              {ops("password", "drop"), `{"a":1 , "password":{"x":[1]}}`, `{"a":1}`},
		"drop some":                  {ops("password", "drop"), `{"a":1,"password":"x","pwd":"y","b":2,"passwd":"z"}`, `{"a":1,"b":2}`},
		"drop all":                   {ops("password", "drop"), `{ "password":"x", "pwd":"y" }`, `{  }`},
		"drop an element":            {redaction.Policy{Paths: []string{"$[1]"}, Operators: map[string]redaction.Operator{"path": "drop"}}, `[1,2,3]`, `[1,null,3]`},
		"drop a part of a string":    {ops("email", "drop"), `["to a@b.example"]`, `["to [redacted:email]"]`},
		"partial card":               {ops("card-number", "partial"), `["4111 1111 1111 1111",4111111111111111]`, `["[redacted:card-number:411111-1111]","[redacted:card-number:411111-1111]"]`},
		"partial card, no card":      {ops("card", "partial"), `{"credit_card":"about 4111"}`, `{"credit_card":"[redacted:card]"}`},
		"partial address":            {ops("email", "partial"), `["Ann@Corp.Example"]`, `["[redacted:email:@corp.example]"]`},
		"partial token":              {ops("token", "partial"), `{"token":"q7ZkT3mW9xYb","access_token":"short1"}`, `{"token":"[redacted:token:~9xYb]","access_token":"[redacted:token]"}`},
		"year":                       {ops("birth-date", "year"), `{"dob":"1984-05-06","birth_date":"unknown"}`, `{"dob":"[redacted:birth-date:1984]","birth_date":"[redacted:birth-date]"}`},
		"ip prefix":                  {ops("ip", "ip-prefix"), `["from 203.0.113.77","2001:db8:1:2::7"]`, `["from [redacted:ip:203.0.113.0/24]","[redacted:ip:2001:db8:1::/48]"]`},
		"url origin":                 {redaction.Policy{Keys: []string{"callback"}, Operators: map[string]redaction.Operator{"key": "url-origin"}}, `{"callback":"https://u:p@Host.example:8443/x?y=z"}`, `{"callback":"[redacted:key:https://host.example]"}`},
		"a forged partial":           {ops("email", "partial"), `["[redacted:email:secret words]"]`, `["[redacted:email:[redacted:email] words]"]`},
		"a forged partial, detected": {ops("email", "partial"), `["[redacted:email:a@b.example]"]`, `["[redacted:email:[redacted:email:@b.example]]"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := payload(t, newRedactor(t, c.policy), c.in)
			require.Equalf(t, c.want, string(out.JSON), "Payload(%s), reason %q", c.in, out.Report.Reason)
		})
	}
}

// TestOperatorKeepsNothing compares outputs of values of different lengths: none may tell them apart.
func TestOperatorKeepsNothing(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, ops("token", "hmac", "secret", "const"))
	lengths := map[int]bool{}
	for size := 1; size < 200; size += 7 {
		out := payload(t, r, fmt.Sprintf(`{"token":%q,"secret":%q,"password":%q}`, strings.Repeat("x", size), strings.Repeat("y", size), strings.Repeat("z", size)))
		lengths[len(out.JSON)] = true
	}
	require.Len(t, lengths, 1)
}

func TestHMACKeyRotation(t *testing.T) {
	t.Parallel()
	first := ops("email", "hmac")
	out := payload(t, newRedactor(t, first), `{"email":"a@b.example"}`)
	rotated := first
	rotated.HMACKeys = []redaction.HMACKey{{ID: "k2", Secret: []byte(strings.Repeat("t", 32))}, first.HMACKeys[0]}
	require.Equal(t, string(out.JSON), string(newRedactor(t, rotated).Payload(out.JSON).JSON), "an older key's pseudonym is recognised")
	rotated.HMACKeys = rotated.HMACKeys[:1]
	require.NotEqual(t, string(out.JSON), string(newRedactor(t, rotated).Payload(out.JSON).JSON), "one of nobody's key is text like any other")
	forged := strings.Replace(string(out.JSON), ":k1:", ":k1:aaaa", 1)
	require.NotContains(t, string(newRedactor(t, first).Payload([]byte(forged)).JSON), "aaaa")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", first.HMACKeys[0], first.HMACKeys, first.HMACKeys[0]), "115")
}

func TestParseHMACKeys(t *testing.T) {
	t.Parallel()
	secret := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 32)))
	keys, err := redaction.ParseHMACKeys("k2:" + secret + ", k1:" + secret)
	require.NoError(t, err)
	require.Equal(t, "hmac key k2", keys[0].String())
	for name, text := range map[string]string{"NoID": secret, "NotBase64": "k1:%%%", "TooShort": "k1:c2hvcnQ=", "BadID": "K 1:" + secret, "Empty": ""} {
		_, err := redaction.ParseHMACKeys(text)
		require.Errorf(t, err, name)
		require.NotContainsf(t, err.Error(), secret, name)
	}
}

func TestOperatorsRefused(t *testing.T) {
	t.Parallel()
	unkeyed := ops("email", "hmac")
	unkeyed.HMACKeys = nil
	for name, c := range map[string]struct {
		policy redaction.Policy
		want   string
	}{
		"UnknownRule":     {ops("mail", "drop"), `operators: "mail": no such rule`},
		"UnknownOperator": {ops("email", "hide"), `operators: "email": "hide", allowed are`},
		"NoKey":           {unkeyed, `operators: "email": hmac needs a key`},
		"CVV":             {ops("cvv", "partial"), `keeps a trace of the value`},
		"TwoForms":        {ops("card", "hmac", "card-number", "partial"), `a hash and a part of one card number`},
		"ShortKey":        {redaction.Policy{HMACKeys: []redaction.HMACKey{{ID: "k", Secret: []byte("short")}}}, "has 5 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := redaction.Compile(c.policy)
			require.ErrorContains(t, err, c.want)
		})
	}
}
