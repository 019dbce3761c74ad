package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/store/open"
)

// TestAdminStore: a list that cannot be made is the caller's fault under admin's name, too.
func TestAdminStore(t *testing.T) {
	t.Parallel()
	db, err := open.Unprepared("sqlite:" + filepath.Join(t.TempDir(), "new", "redrive.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.Migrate(t.Context()))
	page, err := adminStore{db}.DeadLetters(t.Context(), admin.Query{})
	require.NoError(t, err)
	require.Empty(t, page)
	for _, q := range []admin.Query{{Limit: -1}, {Limit: 100_000}, {Cursor: "frob"}} {
		_, err := adminStore{db}.DeadLetters(t.Context(), q)
		require.ErrorIs(t, err, admin.ErrInvalidQuery)
	}
}

func TestAdminToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	_, err := tokenOf("", "admin.token_file", file)
	require.ErrorContains(t, err, "admin.token_file")
	require.NoError(t, os.WriteFile(file, []byte(" \n"), 0o600))
	_, err = tokenOf("", "admin.token_file", file)
	require.ErrorContains(t, err, "is empty")
	require.NoError(t, os.WriteFile(file, []byte("from-file\n"), 0o600))
	for want, given := range map[string]config.Admin{
		"":              {},
		"from-file":     {TokenFile: file},
		"from-variable": {TokenFile: file, Token: "from-variable"},
	} {
		token, err := tokenOf(given.Token, "admin.token_file", given.TokenFile)
		require.NoError(t, err)
		require.Equal(t, want, token)
	}
}
