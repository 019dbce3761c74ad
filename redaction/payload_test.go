package redaction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func TestPayload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"a sensitive key":                {`{"id":7,"password":"hunter2!"}`, `{"id":7,"password":"[redacted:password]"}`},
		"white space stays":              {"{ \"a\" : [ 1 , 2 ],\n\t\"pwd\" : \"x\" }", "{ \"a\" : [ 1 , 2 ],\n\t\"pwd\" : \"[redacted:password]\" }"},
		"numbers keep their spelling":    {`{"z":9007199254740993,"a":1.10,"e":1E+2,"token":"q"}`, `{"z":9007199254740993,"a":1.10,"e":1E+2,"token":"[redacted:token]"}`},
		"escapes keep their spelling":    {`{"a":"\u00e9\/x","pin":1}`, `{"a":"\u00e9\/x","pin":"[redacted:pin]"}`},
		"a whole object goes":            {`{"session":{"id":"abc","n":[1,{"x":null}]},"n":1}`, `{"session":"[redacted:session]","n":1}`},
		"a whole array goes":             {`{"refreshTokens":["q7"],"max_tokens":8192}`, `{"refreshTokens":"[redacted:token]","max_tokens":8192}`},
		"nested arrays under a key":      {`{"token":[["a"],[{"b":"c"}]]}`, `{"token":"[redacted:token]"}`},
		"a number becomes a placeholder": {`{"ssn":78051120,"token":12345678,"n":1}`, `{"ssn":"[redacted:ssn]","token":"[redacted:token]","n":1}`},
		"null and booleans too":          {`{"secret":null,"cookie":true}`, `{"secret":"[redacted:secret]","cookie":"[redacted:cookie]"}`},
		"a scalar document":              {quote("mail bob@corp.example now"), `"mail [redacted:email] now"`},
		"a card as a number":             {`{"c":` + fakeCard + `}`, `{"c":"[redacted:card-number]"}`},
		"a card in exponent form":        {`{"c":4.111111111111111e15}`, `{"c":"[redacted:card-number]"}`},
		"a secret as a key":              {`{` + quote(fakeGitHub) + `:true}`, `{"[redacted:github-token]":true}`},
		"keys that become equal":         {`{"a@corp.example":1,"b@corp.example":2,"n":3}`, `{"[redacted:email]":1,"[redacted:email]#2":2,"n":3}`},
		"a key that looks structural":    {`{"id":"john@corp.example"}`, `{"id":"[redacted:email]"}`},
		"nested JSON":                    {`{"body":"{\"password\":\"p\",\"n\":1.10}"}`, `{"body":"{\"password\":\"[redacted:password]\",\"n\":1.10}"}`},
		"nested twice":                   {`{"b":` + quote(`{"c":`+quote(`{"token":"zq"}`)+`}`) + `}`, `{"b":` + quote(`{"c":`+quote(`{"token":"[redacted:token]"}`)+`}`) + `}`},
		"nested with duplicate keys":     {`{"b":"{\"password\":\"qq1\",\"password\":\"qq2\"}"}`, `{"b":"{\"password\":\"[redacted:password]\",\"password\":\"[redacted:password]\"}"}`},
		"a copy elsewhere":               {`{"phone":"0170 5550199","note":"call 0170 5550199"}`, `{"phone":"[redacted:phone]","note":"call [redacted:phone]"}`},
		"a copy as a key":                {`{"device_id":"unit-77-alpha","by":{"unit-77-alpha":1}}`, `{"device_id":"[redacted:device-id]","by":{"[redacted:device-id]":1}}`},
		"a copy in nested JSON":          {`{"secret":"a\"b<c d","b":"{\"x\":\"a\\\"b<c d\"}"}`, `{"secret":"[redacted:secret]","b":"{\"x\":\"[redacted:secret]\"}"}`},
		"a short value is no substring":  {`{"pin":1234,"order":912345,"year":1234}`, `{"pin":"[redacted:pin]","order":912345,"year":"[redacted:pin]"}`},
		"a value named like its rule":    {`{"password":"password","email":"email"}`, `{"password":"[redacted:password]","email":"[redacted:email]"}`},
		"a switch-off comment":           {`{"t":` + quote(fakeGitHub) + `,"n":"gitleaks:allow"}`, `{"t":"[redacted:github-token]","n":"gitleaks:allow"}`},
		"a described secret":             {`{"token_type":"bearer","token_count":3,"password_changed_at":"2026-01-02T03:04:05Z"}`, `{"token_type":"bearer","token_count":3,"password_changed_at":"2026-01-02T03:04:05Z"}`},
		"a secret under a described key": {`{"token_name":"q7Zk9-4411"}`, `{"token_name":"[redacted:token]"}`},
		"ids and times stay":             {`{"at":1755302400,"ms":1748503543012,"id":2015550123,"acct":123456789012}`, `{"at":1755302400,"ms":1748503543012,"id":2015550123,"acct":123456789012}`},
		"a UUID stays":                   {`{"id":"41111111-1111-4111-8111-411111111111"}`, `{"id":"41111111-1111-4111-8111-411111111111"}`},
		"a placeholder of nobody":        {`{"password":"[redacted:hunter2]"}`, `{"password":"[redacted:password]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := payload(t, newRedactor(t, redaction.Policy{}), c.in)
			require.Equalf(t, c.want, string(out.JSON), "Payload(%s)", c.in)
		})
	}
}

func TestPayloadWithheld(t *testing.T) {
	t.Parallel()
	limits := redaction.Policy{MaxDepth: 4, MaxBytes: 200}
	for name, c := range map[string]struct {
		policy redaction.Policy
		in     string
		want   redaction.Reason
	}{
		"Nothing":        {limits, ``, redaction.ReasonInvalidJSON},
		"SyntaxError":    {limits, `{"password":"x"`, redaction.ReasonInvalidJSON},
		"TwoValues":      {limits, `{"a":1} {"b":2}`, redaction.ReasonInvalidJSON},
		"LoneSurrogate":  {limits, `{"a":"\ud800"}`, redaction.ReasonInvalidJSON},
		"DuplicateKey":   {limits, `{"a":"ok","a":"hunter2!"}`, redaction.ReasonDuplicateKey},
		"SameKeyEscaped": {limits, `{"a":"ok","\u0061":"hunter2!"}`, redaction.ReasonDuplicateKey},
		"InvalidUTF8":    {limits, "{\"a\":\"\xff\"}", redaction.ReasonInvalidUTF8},
		"TooDeep":        {limits, `[[[[[1]]]]]`, redaction.ReasonTooDeep},
		"TooDeepNested":  {limits, `[[[` + quote(`[[1]]`) + `]]]`, redaction.ReasonTooDeep},
		"TooLarge":       {limits, `"` + strings.Repeat("a", 200) + `"`, redaction.ReasonTooLarge},
		"NoTime":         {redaction.Policy{Budget: time.Nanosecond}, `{"a":1}`, redaction.ReasonTimeBudget},
		"Policy":         {redaction.Policy{Mode: redaction.Withhold}, `{"a":1}`, redaction.ReasonPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := newRedactor(t, c.policy).Payload([]byte(c.in))
			require.JSONEqf(t, `{"redrive":"withheld","reason":"`+string(c.want)+`"}`, string(out.JSON), "Payload(%s)", c.in)
			require.True(t, out.Report.Withheld)
			require.Equal(t, c.want, out.Report.Reason)
			require.Empty(t, out.Report.Counts)
			again := newRedactor(t, redaction.Policy{}).Payload(out.JSON)
			require.Equal(t, out.JSON, again.JSON, "a marker that is redacted again keeps its reason")
		})
	}
}

func TestPayloadPaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, in, want string }{
		"three wildcards":       {`$.*.*.*.ref`, `{"a":{"b":{"c":{"ref":"x"}}}}`, `{"a":{"b":{"c":{"ref":"[redacted:path]"}}}}`},
		"descendant and array":  {`$..items[*].value`, `{"a":[{"items":[{"value":1},{"value":{"x":2}}]}]}`, `{"a":[{"items":[{"value":"[redacted:path]"},{"value":"[redacted:path]"}]}]}`},
		"an index":              {`$.a[1]`, `{"a":[1,2,3]}`, `{"a":[1,"[redacted:path]",3]}`},
		"a slice":               {`$.a[1:4:2]`, `{"a":[0,1,2,3,4]}`, `{"a":[0,"[redacted:path]",2,"[redacted:path]",4]}`},
		"a quoted name":         {`$["a b"]`, `{"a b":1,"ab":1}`, `{"a b":"[redacted:path]","ab":1}`},
		"two names":             {`$["a","c"]`, `{"a":1,"b":2,"c":3}`, `{"a":"[redacted:path]","b":2,"c":"[redacted:path]"}`},
		"descendants of a node": {`$.a..x`, `{"x":1,"a":{"x":2,"b":[{"x":3}]}}`, `{"x":1,"a":{"x":"[redacted:path]","b":[{"x":"[redacted:path]"}]}}`},
		"everything":            {`$`, `{"a":1}`, `"[redacted:path]"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := payload(t, newRedactor(t, redaction.Policy{Paths: []string{c.path}}), c.in)
			require.Equalf(t, c.want, string(out.JSON), "Payload(%s) with %s", c.in, c.path)
		})
	}
}

func TestPayloadAllow(t *testing.T) {
	t.Parallel()
	t.Run("ByName", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{Allow: []string{"session_id"}, Keys: []string{"customerRef"}})
		out := payload(t, r, `{"sessionId":"s-1","CUSTOMER.REF":"c-1","customer_ref_count":2}`)
		require.Equal(t, `{"sessionId":"s-1","CUSTOMER.REF":"[redacted:key]","customer_ref_count":2}`, string(out.JSON))
	})
	t.Run("LiftsNoDetector", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{Allow: []string{"token", "$.secret"}})
		out := payload(t, r, `{"token":`+quote(fakeGitHub)+`,"secret":"plain","x":{"secret":"y"}}`)
		require.Equal(t, `{"token":"[redacted:github-token]","secret":"plain","x":{"secret":"[redacted:secret]"}}`, string(out.JSON))
	})
	t.Run("AllowListMode", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{Mode: redaction.AllowList, Allow: []string{"$.order.id", "$.lines[*].sku", "$.meta"}})
		out := payload(t, r, `{"order":{"id":7,"by":"Ann"},"lines":[{"sku":"a","n":{"x":1}}],"meta":{"k":[1],"password":"zz"},"Ann":2}`)
		require.Equal(t, `{"order":{"id":7,"[redacted:unlisted]":"[redacted:unlisted]"},`+
			`"lines":[{"sku":"a","[redacted:unlisted]":"[redacted:unlisted]"}],`+
			`"meta":{"k":[1],"password":"[redacted:password]"},"[redacted:unlisted]":"[redacted:unlisted]"}`, string(out.JSON))
		require.Equal(t, 4, out.Report.Fields)
	})
}

func TestPayloadReport(t *testing.T) {
	t.Parallel()
	in := []byte(`{"password":"p","to":"a@corp.example, b@corp.example","n":1}`)
	out := newRedactor(t, redaction.Policy{}).Payload(in)
	require.Regexp(t, `^[0-9a-f]{64}$`, out.Report.Policy)
	require.Equal(t, redaction.Report{
		Fields: 1, Values: 2, ByRule: map[string]int{"password": 1, "email": 2}, Bytes: len(in), Policy: out.Report.Policy, Engine: redaction.EngineVersion,
		Counts: []redaction.Count{
			{Rule: "email", Surface: redaction.SurfaceString, Operator: redaction.OpClass, N: 2},
			{Rule: "password", Surface: redaction.SurfaceField, Operator: redaction.OpClass, N: 1},
		},
	}, out.Report)
}
