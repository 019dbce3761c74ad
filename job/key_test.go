package job_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
)

func TestTypeRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given job.Type
		says  string
	}{
		"Empty":         {"", "the type is empty"},
		"TooLong":       {job.Type(strings.Repeat("a", job.MaxTypeBytes+1)), "65 bytes, at most 64"},
		"UpperCase":     {"email.Send", `'S' at byte 6`},
		"Space":         {"email send", `' ' at byte 5`},
		"Colon":         {"email:send", `':' at byte 5`},
		"Slash":         {"email/send", `'/' at byte 5`},
		"NotASCII":      {"é.send", `'é' at byte 0`},
		"Newline":       {"send\n", `'\n' at byte 4`},
		"InvalidUTF8":   {"send\xff", `at byte 4`},
		"StoreQueue":    {"store", "reserved"},
		"ControlQueue":  {"email.send.control", "reserved"},
		"ControlOfOurs": {"store.control", "reserved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.given.Validate()
			require.ErrorIs(t, err, job.ErrInvalidKey)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestKeyRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given job.Key
		says  string
	}{
		"Empty":              {"", "the key is empty"},
		"Slash":              {"a/b", `'/' at byte 1`},
		"QuestionMark":       {"ab?", `'?' at byte 2`},
		"Hash":               {"#a", `'#' at byte 0`},
		"Percent":            {"a%2f", `'%' at byte 1`},
		"Newline":            {"a\nb", "U+000A at byte 1"},
		"NUL":                {"a\x00", "U+0000 at byte 1"},
		"Delete":             {"a\x7f", "U+007F at byte 1"},
		"NoBreakSpace":       {"a\u00a0b", "U+00A0 at byte 1"},
		"RightToLeft":        {"a\u202eb", "U+202E at byte 1"},
		"ZeroWidth":          {"é\u200bb", "U+200B at byte 2"},
		"InvalidUTF8":        {"a\xffb", "not valid UTF-8"},
		"TruncatedCharacter": {"a\xc3", "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.given.Validate()
			require.ErrorIs(t, err, job.ErrInvalidKey)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestIdentityLengths(t *testing.T) {
	t.Parallel()
	longest := job.KeyID{Type: job.Type(strings.Repeat("t", 64)), Key: job.Key(strings.Repeat("k", 176))}
	require.NoError(t, longest.Validate())
	require.LessOrEqual(t, len(longest.JobWorkflowID()), 255, "visibility's columns")
	require.LessOrEqual(t, len(longest.ReplayWorkflowID()), 255, "visibility's columns")
	longest.Key += "k"
	require.ErrorContains(t, longest.Validate(), "241 bytes together, at most 240")
	for _, ordinary := range []job.Type{"a", "email.send", "unknown", "stores", "store.x", "control", "x.control.y", "a_b-c.9"} {
		require.NoError(t, ordinary.Validate(), ordinary)
	}
	for _, ordinary := range []job.Key{"a", "order-1001.receipt", "a b", "a:b:c", "日本", `it's "$(x)"`} {
		require.NoError(t, ordinary.Validate(), ordinary)
	}
}

// No queue of a type that is allowed is one of redrive's own, or another type's.
func TestQueuesAreApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawType(rt, "a"), drawType(rt, "b")
		queues := map[string]string{job.QueueWorkflows: "workflows", job.QueueStore: "store"}
		for _, typ := range []job.Type{a, b} {
			for _, queue := range []string{typ.Lane(), typ.ControlQueue()} {
				owner, taken := queues[queue]
				require.True(rt, !taken || owner == string(typ), "queue %s of %s is also %s's", queue, typ, owner)
				queues[queue] = string(typ)
			}
		}
	})
}

func drawType(rt *rapid.T, label string) job.Type {
	parts := rapid.SampledFrom([]string{"a", "store", "control", "x", "9"})
	return job.Type(rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(parts, 1, 3).Draw(rt, "parts"), ".")
	}).Filter(func(s string) bool { return job.Type(s).Validate() == nil }).Draw(rt, label))
}

func TestWorkflowIDs(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "order-1001:receipt"}
	require.Equal(t, "job:email.send:order-1001:receipt", id.JobWorkflowID())
	require.Equal(t, "replay:email.send:order-1001:receipt", id.ReplayWorkflowID())

	t.Run("Inverse", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) {
			id := job.KeyID{
				Type: drawType(rt, "type"),
				Key: job.Key(rapid.StringN(1, 60, 150).Filter(func(s string) bool {
					return job.Key(s).Validate() == nil
				}).Draw(rt, "key")),
			}
			parsed, err := job.ParseJobWorkflowID(id.JobWorkflowID())
			require.NoError(rt, err)
			require.Equal(rt, id, parsed)
		})
	})
	for name, foreign := range map[string]string{
		"NoPrefix": "email.send:a", "AnotherPrefix": "replay:email.send:a", "NoKey": "job:email.send", "EmptyKey": "job:email.send:",
		"EmptyType": "job::a", "BadType": "job:Email:a", "BadKey": "job:email.send:a/b", "Empty": "", "PrefixOnly": "job:", "Reserved": "job:store:a",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := job.ParseJobWorkflowID(foreign)
			require.ErrorIs(t, err, job.ErrInvalidKey)
		})
	}
	t.Run("StrayIsValidAndStable", func(t *testing.T) {
		t.Parallel()
		stray := job.StrayID("payments\n/#?%" + strings.Repeat("x", 2000))
		require.NoError(t, stray.Validate())
		require.Equal(t, stray, job.StrayID("payments\n/#?%"+strings.Repeat("x", 2000)))
		require.NotEqual(t, stray, job.StrayID("payments"))
	})
}

func TestDeadLetterID(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "a"}
	letter := job.NewDeadLetterID("default", id)
	require.Regexp(t, `^dl_[a-z2-7]{26}$`, letter)
	require.Equal(t, letter, job.NewDeadLetterID("default", id))
	require.NotEqual(t, letter, job.NewDeadLetterID("other", id))
	require.NotEqual(t, letter, job.NewDeadLetterID("default", job.KeyID{Type: "email.send", Key: "b"}))
	require.Regexp(t, `^pl_[a-z2-7]{26}$`, job.NewPayloadRef("default", "run"))
}
