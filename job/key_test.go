package job_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
)

func TestTypeValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, typ, says string // says is empty when the type is allowed
	}{
		{"Plain", "email.send", ""},
		{"EveryAllowedCharacter", "a-z_0.9", ""},
		{"Longest", strings.Repeat("a", job.MaxTypeBytes), ""},
		{"StoreInside", "store.copy", ""},
		{"ControlInside", "control", ""},
		{"Empty", "", "the type is empty"},
		{"TooLong", strings.Repeat("a", job.MaxTypeBytes+1), "65 bytes, at most 64"},
		{"UpperCase", "Email", `'E' at byte 0`},
		{"Colon", "a:b", `':' at byte 1`},
		{"Slash", "a/b", `'/' at byte 1`},
		{"Space", "a b", `' ' at byte 1`},
		{"Umlaut", "mä", `'ä' at byte 1`},
		{"InvalidUTF8", "m\xff", `at byte 1`},
		{"NUL", "m\x00", `'\x00' at byte 1`},
		{"ReservedStore", "store", `"store"`},
		{"ReservedControl", "email.control", `".control"`},
		{"ReservedDotControl", ".control", `".control"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireRefusal(t, job.Type(c.typ).Validate(), job.ErrInvalidKey, c.says)
		})
	}
}

func TestKeyIDValidate(t *testing.T) {
	t.Parallel()
	fill := strings.Repeat("k", job.MaxKeyIDBytes-len("t"))
	for _, c := range []struct {
		name, key, says string
	}{
		{"Plain", "order-42", ""},
		{"Emoji", "party-🎉", ""},
		{"Quotes", "o'brien \"x\" `y`", ""},
		{"ColonsAndSemicolons", "a:b;c:d", ""},
		{"DollarAndBackslash", `$HOME\x`, ""},
		{"Longest", fill, ""},
		{"TooLong", fill + "k", "241 bytes together, at most 240"},
		{"TooLongInBytesOnly", strings.Repeat("é", 120), "241 bytes together"},
		{"Empty", "", "the key is empty"},
		{"Slash", "a/b", `'/' at byte 1`},
		{"QuestionMark", "a?b", `'?' at byte 1`},
		{"Hash", "ab#", `'#' at byte 2`},
		{"Percent", "%41", `'%' at byte 0`},
		{"NUL", "a\x00", "U+0000 at byte 1"},
		{"Newline", "a\nb", "U+000A at byte 1"},
		{"Delete", "a\x7f", "U+007F at byte 1"},
		{"NextLine", "a\u0085", "U+0085 at byte 1"},
		{"RightToLeftOverride", "a\u202eb", "U+202E at byte 1"},
		{"NoBreakSpace", "a\u00a0b", "U+00A0 at byte 1"},
		{"InvalidUTF8", "a\xc3", "not valid UTF-8"},
		{"Surrogate", "a\xed\xa0\x80", "not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireRefusal(t, job.KeyID{Type: "t", Key: job.Key(c.key)}.Validate(), job.ErrInvalidKey, c.says)
		})
	}
	t.Run("TypeIsCheckedToo", func(t *testing.T) {
		t.Parallel()
		requireRefusal(t, job.KeyID{Type: "T", Key: "k"}.Validate(), job.ErrInvalidKey, "'T'")
	})
}

// requireRefusal proves that err is nil when says is empty, else wraps kind and says it.
func requireRefusal(t *testing.T, err, kind error, says string) {
	t.Helper()
	if says == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, kind)
	require.ErrorContains(t, err, says)
}

func anyKeyID() *rapid.Generator[job.KeyID] {
	return rapid.Custom(func(t *rapid.T) job.KeyID {
		return job.KeyID{
			Type: job.Type(rapid.StringMatching(`[a-z0-9._-]{1,64}`).Draw(t, "type")),
			Key:  job.Key(rapid.StringN(1, 60, 170).Draw(t, "key")),
		}
	}).Filter(func(id job.KeyID) bool { return id.Validate() == nil })
}

func TestParseJobWorkflowID(t *testing.T) {
	t.Parallel()
	t.Run("IsTheInverse", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			id := anyKeyID().Draw(t, "id")
			parsed, err := job.ParseJobWorkflowID(id.JobWorkflowID())
			require.NoError(t, err)
			require.Equal(t, id, parsed)
		})
	})
	t.Run("NeverAcceptsWhatItWouldNotWrite", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			given := rapid.OneOf(rapid.String(), rapid.StringMatching(`job:[a-zA-Z.:/]*`)).Draw(t, "workflow ID")
			if id, err := job.ParseJobWorkflowID(given); err == nil {
				require.Equal(t, given, id.JobWorkflowID())
			}
		})
	})
	for name, given := range map[string]string{
		"Empty": "", "NoPrefix": "email.send:k", "OtherPrefix": "replay:email.send:k", "NoKey": "job:email.send",
		"EmptyKey": "job:email.send:", "EmptyType": "job::k", "Slash": "job:email.send:a/b",
	} {
		t.Run(name+"Refused", func(t *testing.T) {
			t.Parallel()
			_, err := job.ParseJobWorkflowID(given)
			require.ErrorIs(t, err, job.ErrInvalidKey)
		})
	}
	t.Run("KeyKeepsItsColons", func(t *testing.T) {
		t.Parallel()
		id, err := job.ParseJobWorkflowID("job:email.send:a:b:")
		require.NoError(t, err)
		require.Equal(t, job.KeyID{Type: "email.send", Key: "a:b:"}, id)
	})
}

func TestStrayIDIsValidAndItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).
			Draw(t, "workflow ID")
		stray := job.StrayID(given)
		require.NoError(t, stray.Validate())
		require.Equal(t, stray, job.StrayID(given))
		require.NotEqual(t, stray, job.StrayID(given+"x"))
	})
}

func TestWorkflowIDsFitTheVisibilityStore(t *testing.T) {
	t.Parallel()
	longest := job.KeyID{Type: job.Type(strings.Repeat("t", 64)), Key: job.Key(strings.Repeat("k", 176))}
	require.NoError(t, longest.Validate())
	require.LessOrEqual(t, len(longest.JobWorkflowID()), 255)
	require.LessOrEqual(t, len(longest.ReplayWorkflowID()), 255)
}

func TestQueuesOfTypesAreApart(t *testing.T) {
	t.Parallel()
	// Few parts, so that names of queues meet if they can.
	types := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "store", "control", "x"}), 1, 3),
		func(parts []string) job.Type { return job.Type(strings.Join(parts, ".")) }).
		Filter(func(typ job.Type) bool { return typ.Validate() == nil })
	rapid.Check(t, func(t *rapid.T) {
		owners := map[string]job.Type{job.QueueWorkflows: "", job.QueueStore: ""}
		for _, typ := range []job.Type{types.Draw(t, "one"), types.Draw(t, "other")} {
			for _, queue := range []string{typ.Lane(), typ.ControlQueue()} {
				owner, taken := owners[queue]
				require.True(t, !taken || owner == typ, "queue %s of %s is also that of %q", queue, typ, owner)
				owners[queue] = typ
			}
		}
	})
}

func TestDerivedNames(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "a"}
	letter := job.NewDeadLetterID("default", id)
	require.Regexp(t, `^dl_[a-z2-7]{26}$`, letter)
	require.Equal(t, letter, job.NewDeadLetterID("default", id))
	require.NotEqual(t, letter, job.NewDeadLetterID("other", id))
	require.NotEqual(t, letter, job.NewDeadLetterID("default", job.KeyID{Type: "email.send", Key: "b"}))
	require.Regexp(t, `^pl_[a-z2-7]{26}$`, job.NewPayloadRef("default", "run"))
}
