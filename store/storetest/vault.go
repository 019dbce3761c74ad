package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// testVault is about payloads that come before any dead letter does.
func testVault(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("SavedOnceAndRead", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first := *newPayload("pl_x")
		require.NoError(t, db.SavePayload(t.Context(), first))
		second := first
		second.Ciphertext, second.DataKey = []byte("another"), []byte("another")
		require.NoError(t, db.SavePayload(t.Context(), second))
		got, err := db.SealedPayload(t.Context(), "pl_x")
		require.NoError(t, err)
		require.Equal(t, first, got)
	})
	t.Run("OlderRowsHaveNoKeyOfTheirOwn", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		old := *newPayload("pl_x")
		old.DataKey = nil
		require.NoError(t, db.SavePayload(t.Context(), old))
		got, err := db.SealedPayload(t.Context(), "pl_x")
		require.NoError(t, err)
		require.Empty(t, got.DataKey)
	})
	t.Run("ErasedForGood", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		require.NoError(t, db.ErasePayload(t.Context(), "pl_nowhere", time.Now()))
		require.NoError(t, db.SavePayload(t.Context(), *newPayload("pl_x")))
		require.NoError(t, db.SavePayload(t.Context(), *newPayload("pl_y")))
		require.NoError(t, db.ErasePayload(t.Context(), "pl_x", time.Now()))
		require.NoError(t, db.ErasePayload(t.Context(), "pl_x", time.Now()))
		require.NoError(t, db.SavePayload(t.Context(), *newPayload("pl_x")))
		_, err := db.SealedPayload(t.Context(), "pl_x")
		require.ErrorIs(t, err, job.ErrPayloadGone, "a late writer brought an erased payload back")
		_, err = db.SealedPayload(t.Context(), "pl_y")
		require.NoError(t, err)
	})
}
