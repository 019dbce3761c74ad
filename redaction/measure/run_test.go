package measure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

// TestGate is what a change to the engine has to keep.
func TestGate(t *testing.T) {
	t.Parallel()
	r, err := redaction.Compile(redaction.Policy{})
	require.NoError(t, err)
	table := measure.Run(r, 1, 8)
	var text strings.Builder
	require.NoError(t, table.Write(&text))
	t.Logf("\n%s", text.String())
	for _, row := range table.Rows {
		for _, example := range row.Examples {
			t.Logf("%s: %s", row.Class, example)
		}
	}
	require.Zero(t, table.Invalid, "outputs that are no JSON")
	require.Zero(t, table.Unstable, "outputs that change when they are redacted again")
	require.Zero(t, table.Totals(measure.TierA).Missed, "values of tier A that can be read")
	require.GreaterOrEqual(t, table.Totals(measure.TierB).Recall(), 0.98)
	all := table.Totals("")
	require.LessOrEqual(t, float64(all.Changed), 0.005*float64(all.Benign), "benign values that changed")
	require.Zero(t, r.Misses(), "outputs that verification refused")
	require.Zero(t, all.Withheld)
}
