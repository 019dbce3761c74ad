package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestFingerprintGroups(t *testing.T) {
	t.Parallel()
	of := func(message string) string { return job.Fingerprint("email.send", job.ClassTransient, message) }
	for name, alike := range map[string][2]string{
		"Numbers":       {"row 17 of 20 is bad", "row 4 of 1999 is bad"},
		"DoubleQuoted":  {`no user "ada"`, `no user "bob smith"`},
		"SingleQuoted":  {"no user 'ada'", "no user 'bob'"},
		"BackQuoted":    {"no table `a`", "no table `b`"},
		"Apostrophe":    {"can't find user 'ada'", "can't find user 'bob'"},
		"Hex":           {"commit deadbeef is gone", "commit 0123456789abcdef is gone"},
		"UUIDs":         {"order 3f2b8c1a-9abc-4e1f-8abc-aabbccddeeff is gone", "order 0d9e7a55-12fe-41bb-b00c-0102030405ff is gone"},
		"LaterLines":    {"boom\ngoroutine a", "boom\ngoroutine b"},
		"Addresses":     {"dial tcp 10.0.0.1:5432: refused", "dial tcp 192.168.1.20:1: refused"},
		"QuotedNumbers": {`status "12 a"`, `status "x"`},
	} {
		t.Run(name+"Alike", func(t *testing.T) {
			t.Parallel()
			require.Equal(t, of(alike[0]), of(alike[1]), "%q and %q", alike[0], alike[1])
		})
	}
	t.Run("ClassesApart", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, of("boom"), job.Fingerprint("email.send", job.ClassRejected, "boom"))
	})
	t.Run("TypesApart", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, of("boom"), job.Fingerprint("sms.send", job.ClassTransient, "boom"))
	})
	t.Run("WordsApart", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, of("connection refused"), of("connection reset"))
		require.NotEqual(t, of("can't read 'a', don't know"), of("can't write 'a', don't know"))
	})
	t.Run("TwelveHexDigits", func(t *testing.T) {
		t.Parallel()
		for _, message := range []string{"", "\n", "\xff", "boom"} {
			require.Regexp(t, `^[0-9a-f]{12}$`, of(message))
		}
	})
}
