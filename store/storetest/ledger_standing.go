package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// testStanding is what a dead letter shows of its job's effects.
func testStanding(t *testing.T, open func(*testing.T) *store.DB) {
	named := func(name string, downstream bool) job.ClaimRequest {
		r := newClaim(1, name)
		r.Effect.Name, r.Downstream = name, downstream
		return r
	}
	lineage := job.NewDeadLetterID("default", newClaim(1, "").Effect.Job)

	t.Run("UnsettledFirstAndWithoutResults", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		require.NoError(t, db.Complete(t.Context(), claim(t, db, named("a.done", false)), json.RawMessage(`"hunter2"`)))
		require.NoError(t, db.Release(t.Context(), claim(t, db, named("b.free", false)), job.EffectFree))
		claim(t, db, named("c.live", false))
		lapse(t, db, claim(t, db, named("d.lapsed.downstream", true)))
		lapse(t, db, claim(t, db, named("e.lapsed", false)))
		require.NoError(t, db.Release(t.Context(), claim(t, db, named("f.unknown", false)), job.EffectUnknown))
		other := newClaim(2, "x")
		claim(t, db, other)

		got, err := db.Standing(t.Context(), lineage)
		require.NoError(t, err)
		var names []string
		for _, e := range got {
			names = append(names, e.Name)
			one, err := db.Effect(t.Context(), named(e.Name, false).Effect)
			require.NoError(t, err)
			require.Equal(t, one.Standing(), e)
		}
		require.Equal(t, []string{"e.lapsed", "f.unknown", "a.done", "b.free", "c.live", "d.lapsed.downstream"}, names)
		require.Equal(t, []string{"e.lapsed", "f.unknown"}, job.UnsettledEffects(got))

		letter := newLetter(1, 0)
		letter.ID = lineage
		record(t, db, letter)
		shown, err := db.DeadLetter(t.Context(), lineage)
		require.NoError(t, err)
		require.Equal(t, got, shown.Effects)
		text, err := json.Marshal(shown)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hunter2")
	})
	t.Run("Bounded", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for i := range job.MaxListedEffects + 3 {
			require.NoError(t, db.Complete(t.Context(), claim(t, db, named(fmt.Sprintf("mail.%02d", i), false)), nil))
		}
		last := named("zz", false)
		last.Lease = time.Microsecond
		lapse(t, db, claim(t, db, last))
		got, err := db.Standing(t.Context(), lineage)
		require.NoError(t, err)
		require.Len(t, got, job.MaxListedEffects)
		require.Equal(t, "zz", got[0].Name, "what waits for a person is never cut off by what is done")
	})
	t.Run("None", func(t *testing.T) {
		t.Parallel()
		got, err := open(t).Standing(t.Context(), lineage)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}
