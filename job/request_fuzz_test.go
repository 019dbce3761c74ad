package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// Whatever somebody signals: no panic, nothing of it in the complaint, and what comes back can be recorded.
func FuzzParseRequest(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", "\xff", `"` + secret + `"`, `{"actor":"ada","reason":"fixed"}`,
		`{"actor":"` + secret + `","reason":"` + secret + `","force":"` + secret + `"}`, `{"` + secret + `":1}`,
		`{"actor":{"` + secret + `":1}}`, `{"actor":"a\ud800b","reason":"\u0000"}`, `{"actor":"ada","reason":"r"} ` + secret,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range job.AllRequestKinds() {
			r, err := job.ParseRequest(kind, raw)
			requireRecordable(t, r)
			if err != nil {
				require.NotContains(t, err.Error(), secret)
				require.LessOrEqual(t, len(err.Error()), 256)
				continue
			}
			require.NoError(t, r.Validate(kind))
		}
	})
}
